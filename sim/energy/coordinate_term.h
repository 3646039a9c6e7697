#ifndef EIPC_SIM_ENERGY_COORDINATE_TERM_H_
#define EIPC_SIM_ENERGY_COORDINATE_TERM_H_

#include <utility>
#include <vector>

#include "sim/energy/drive_force.h"
#include "sim/energy/joint_coordinate.h"
#include "sim/energy/joint_law.h"
#include "sim/energy/term.h"

namespace eipc {

// What a joint does along its coordinate s(q), and what holds a travelling point on its axis:
//   E(q) = V(s) + 1/2 K |d - s a|^2,   a = e / |e|   (docs/concepts/theory.md, eqs. 25, 26; the second summand of a travel only).
// V is that of spring, damper and stops, and of a drive (DriveForce, eq. 23) where there is one.
// s does not change when both bodies move as one, so forces and moments on the two are equal and opposite. Its Hessian by the
// coordinate's vectors is exact and then projected.
class CoordinateTerm : public EnergyTerm {
 public:
  // `coordinate` outlives this. `guide_stiffness`: K, N/m; 0 where the coordinate is no travel.
  CoordinateTerm(const JointCoordinate* coordinate, const JointLaw& law, double guide_stiffness)
      : coordinate_(coordinate), law_(law), guide_stiffness_(guide_stiffness) {}

  // The coordinate where the step starts: angles count from there, over whole turns. Before BeginStage.
  void SetReference(double value) { reference_ = value; }
  // What its drive does in the next stage. Before BeginStage.
  void Command(const DriveLaw& law) {
    drive_law_ = law;
    driven_ = true;
  }
  double CoordinateAt(const VecX& q) const { return Counted(coordinate_->Value(q)); }
  // Of spring, damper, stops and drive; of the drive alone.
  double EffortAt(const VecX& q) const { return Effort(CoordinateAt(q)); }
  double DriveEffortAt(const VecX& q) const { return driven_ ? drive_.Force(CoordinateAt(q)) : 0; }

  void BeginStage(const StageContext& stage) override;
  double Value(const Point& point) override;
  double Rounding(const Point& point) override;
  void AddGradient(const Point& point, VecX* gradient) override;
  void AddHessian(const Point& point, BlockMatrix* hessian) override;
  void AppendPattern(std::vector<std::pair<int32_t, int32_t>>* pairs) const override { coordinate_->AppendPattern(pairs); }
  // What it exerts on nodes at q in this stage.
  void AppendForces(const VecX& q, std::vector<NodeForce>* forces) const;

 private:
  double Counted(double value) const;
  double Effort(double s) const { return effort_.Effort(s) + (driven_ ? drive_.Force(s) : 0); }
  double Stiffness(double s) const { return effort_.Stiffness(s) + (driven_ ? drive_.Stiffness(s) : 0); }
  // By the coordinate's vectors.
  CoordinateVectors GradientAt(const VecX& q) const;

  const JointCoordinate* coordinate_;
  JointLaw law_;
  double guide_stiffness_;
  double reference_ = 0;
  JointEffort effort_;
  bool driven_ = false;
  DriveLaw drive_law_;
  DriveForce drive_;
};

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_COORDINATE_TERM_H_
