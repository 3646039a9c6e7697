#ifndef EIPC_SIM_ENERGY_VOLUME_H_
#define EIPC_SIM_ENERGY_VOLUME_H_

#include <vector>

#include "sim/energy/surface_map.h"
#include "sim/energy/term.h"
#include "sim/linalg/low_rank.h"

namespace eipc {

// How what fills a closed surface resists a change of its volume (Larionov et al. 2023, III-D).
enum class VolumeLaw { kIdealGas, kNearlyIncompressible, kSecondOrder };

// Energy, J, and pressure over that outside, Pa, of a filling as functions of its volume V, m^3; p = -dW/dV. With V0 the volume at
// rest, p0 the overpressure there, P0 = ambient + p0 and kv the isothermal compressibility:
//   ideal gas              W = P_ambient (V - V0) - P0 V0 ln(V / V0),              p = P0 V0 / V - P_ambient      (eq. 17)
//   nearly incompressible  W = (V0 - V (1 - ln(V / V0))) / kv - p0 (V - V0),       p = p0 - ln(V / V0) / kv       (eq. 18)
//   second order           W = (V - V0)^2 / (2 V0 kv) - p0 (V - V0),               p = p0 - (V - V0) / (V0 kv)    (eq. 19)
struct Filling {
  VolumeLaw law = VolumeLaw::kIdealGas;
  double rest_volume_m3 = 1;
  double overpressure_pa = 0;
  double ambient_pressure_pa = 101325;  // ideal gas only
  double compressibility_per_pa = 0;    // the other two

  double Energy(double volume) const;  // infinite where an ideal gas or a nearly incompressible filling has no volume left
  double Overpressure(double volume) const;
  double Stiffness(double volume) const;  // d2W/dV2 = -dp/dV > 0, Pa/m^3
};

// Closed triangles of the collision surface that hold one filling: normals point out of it.
struct FilledRegion {
  int32_t body = 0;
  std::vector<Triangle> triangles;
  Filling filling;
};

// Volume inside, m^3: sum of signed tetrahedra over a point of the surface.
double RegionVolume(const FilledRegion& region, const std::vector<Vec3>& x);

// W(V(J q)). The gradient is minus overpressure times area vectors. The Hessian W'' g g^T - p d2V/dx2 couples all nodes of the
// surface: its rank-one update g g^T is given apart (AppendRankOneUpdate), g = J^T dV/dx, so that no dense matrix is stored. The
// second part is sparse, one 3x3 block an edge, and indefinite: it is given as it is, which makes Newton exact and is what a
// membrane under tension is stabilized by, or edge by edge projected to positive semidefinite (Project), where the sum is not
// positive definite.
class VolumeTerm : public EnergyTerm {
 public:
  VolumeTerm(const FilledRegion* region, const SurfaceMap* map);

  void BeginStage(const StageContext&) override { projected_ = false; }
  double Value(const Point& point) override;
  void AddGradient(const Point& point, VecX* gradient) override;
  void AddHessian(const Point& point, BlockMatrix* hessian) override;
  void AppendPattern(std::vector<std::pair<int32_t, int32_t>>* pairs) const override;

  void AppendRankOneUpdate(const Point& point, LowRank* updates);
  // Whether that made a difference.
  bool Project() override;
  // Largest power of 1/2, at most 1, of the path from x to `end` that leaves at least a tenth of the volume.
  double MaxStep(const std::vector<Vec3>& x, const std::vector<Vec3>& end) const;

 private:
  // An edge of the surface and the third vertices of its two triangles: d2V/dx_i dx_j = [(x_left - x_right) x] / 6, where
  // (i, j, left) runs as its triangle does.
  struct Hinge {
    int32_t i, j, left, right;
  };
  void AddVolumeGradient(const std::vector<Vec3>& x, double factor, VecX* gradient) const;
  void AddExact(int32_t i, int32_t j, const Mat3& block, BlockMatrix* hessian) const;

  const FilledRegion* region_;
  const SurfaceMap* map_;
  std::vector<Hinge> hinges_;
  bool projected_ = false;
};

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_VOLUME_H_
