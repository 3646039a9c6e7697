#include "sim/energy/volume.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace eipc {
namespace {

Mat3 Cross(const Vec3& a) {
  Mat3 m;
  m << 0, -a.z(), a.y(), a.z(), 0, -a.x(), -a.y(), a.x(), 0;
  return m;
}

// Sum over the triangles of the signed volume of the tetrahedron with a fixed point, of positions that `at` gives.
template <typename At>
double SignedVolume(const std::vector<Triangle>& triangles, const At& at) {
  if (triangles.empty()) return 0;
  const Vec3 apex = at(triangles[0][0]);  // near by: coordinates far from the origin would cost digits
  double six = 0;
  for (const Triangle& t : triangles) six += (at(t[0]) - apex).dot((at(t[1]) - apex).cross(at(t[2]) - apex));
  return six / 6;
}

}  // namespace

double Filling::Energy(double volume) const {
  const double strain = (volume - rest_volume_m3) / rest_volume_m3;
  if (law != VolumeLaw::kSecondOrder && !(volume > 0)) return std::numeric_limits<double>::infinity();
  switch (law) {
    case VolumeLaw::kIdealGas:
      return rest_volume_m3 * (ambient_pressure_pa * strain - (ambient_pressure_pa + overpressure_pa) * std::log1p(strain));
    case VolumeLaw::kNearlyIncompressible:
      return rest_volume_m3 * (((1 + strain) * std::log1p(strain) - strain) / compressibility_per_pa - overpressure_pa * strain);
    case VolumeLaw::kSecondOrder:
      return rest_volume_m3 * strain * (0.5 * strain / compressibility_per_pa - overpressure_pa);
  }
  return 0;
}

double Filling::Overpressure(double volume) const {
  const double strain = (volume - rest_volume_m3) / rest_volume_m3;
  switch (law) {
    case VolumeLaw::kIdealGas:
      return (overpressure_pa - ambient_pressure_pa * strain) / (1 + strain);
    case VolumeLaw::kNearlyIncompressible:
      return overpressure_pa - std::log1p(strain) / compressibility_per_pa;
    case VolumeLaw::kSecondOrder:
      return overpressure_pa - strain / compressibility_per_pa;
  }
  return 0;
}

double Filling::Stiffness(double volume) const {
  switch (law) {
    case VolumeLaw::kIdealGas:
      return (ambient_pressure_pa + overpressure_pa) * rest_volume_m3 / (volume * volume);
    case VolumeLaw::kNearlyIncompressible:
      return 1 / (compressibility_per_pa * volume);
    case VolumeLaw::kSecondOrder:
      return 1 / (compressibility_per_pa * rest_volume_m3);
  }
  return 0;
}

double RegionVolume(const FilledRegion& region, const std::vector<Vec3>& x) {
  return SignedVolume(region.triangles, [&](int32_t v) { return x[v]; });
}

VolumeTerm::VolumeTerm(const FilledRegion* region, const SurfaceMap* map) : region_(region), map_(map) {
  std::map<std::pair<int32_t, int32_t>, int32_t> third;  // by directed edge
  for (const Triangle& t : region_->triangles) {
    for (int k = 0; k < 3; ++k) third[{t[k], t[(k + 1) % 3]}] = t[(k + 2) % 3];
  }
  for (const auto& [edge, left] : third) {
    const auto& [i, j] = edge;
    if (i < j) hinges_.push_back({i, j, left, third.at({j, i})});
  }
}

double VolumeTerm::Value(const Point& point) { return region_->filling.Energy(RegionVolume(*region_, point.x)); }

// dV/dx is a third of the area vector of each triangle at its corners: translation cannot change a bit of it, and the sum of all is
// zero for a closed surface.
void VolumeTerm::AddVolumeGradient(const std::vector<Vec3>& x, double factor, VecX* gradient) const {
  for (const Triangle& t : region_->triangles) {
    const Vec3 share = (factor / 6) * (x[t[1]] - x[t[0]]).cross(x[t[2]] - x[t[0]]);
    for (const int32_t v : t) map_->AddVertexGradient(v, share, gradient);
  }
}

void VolumeTerm::AddGradient(const Point& point, VecX* gradient) {
  AddVolumeGradient(point.x, -region_->filling.Overpressure(RegionVolume(*region_, point.x)), gradient);
}

void VolumeTerm::AppendRankOneUpdate(const Point& point, LowRank* updates) {
  const double volume = RegionVolume(*region_, point.x);
  AddVolumeGradient(point.x, 1, &updates->Add(region_->filling.Stiffness(volume), point.q.size()));
}

void VolumeTerm::AddExact(int32_t i, int32_t j, const Mat3& block, BlockMatrix* hessian) const {
  const EmbeddingRow &row = map_->Row(i), &column = map_->Row(j);
  for (int a = 0; a < row.count; ++a) {
    for (int b = 0; b < column.count; ++b) {
      // On the diagonal a skew block and its transpose cancel.
      if (row.nodes[a] == column.nodes[b]) continue;
      hessian->Add(row.nodes[a], column.nodes[b], row.weights[a] * column.weights[b] * block);
    }
  }
}

// The blocks B, -B of an edge, B = c [d x], have eigenvalues +-c |d|, each twice, and 0 twice; with u1, u2 and d a right-handed
// orthogonal frame, those of c |d| belong to (u2, u1) and (-u1, u2), over sqrt 2.
void VolumeTerm::AddHessian(const Point& point, BlockMatrix* hessian) {
  const double sixth = region_->filling.Overpressure(RegionVolume(*region_, point.x)) / 6;
  if (sixth == 0) return;
  for (const Hinge& h : hinges_) {
    const Vec3 d = sixth * (point.x[h.left] - point.x[h.right]);
    if (!projected_) {
      AddExact(h.i, h.j, Cross(d), hessian);
      continue;
    }
    const double length = d.norm();
    if (!(length > 0)) continue;
    const Vec3 u1 = std::sqrt(0.5 * length) * d.unitOrthogonal();
    const Vec3 u2 = (d / length).cross(u1);
    StencilFactor factor;
    factor.rank = 2;
    factor.columns.leftCols<2>().setZero();
    factor.columns.block<6, 1>(0, 0) << u2, u1;
    factor.columns.block<6, 1>(0, 1) << -u1, u2;
    // The other two vertices of the stencil have no part in it.
    map_->AddHessian({h.i, h.j, h.i, h.i}, factor, hessian);
  }
}

void VolumeTerm::AppendPattern(std::vector<std::pair<int32_t, int32_t>>* pairs) const {
  for (const Hinge& h : hinges_) map_->AppendNodePairs({h.i, h.j, h.i, h.j}, pairs);
}

bool VolumeTerm::Project() {
  const bool exact = !projected_;
  projected_ = true;
  return exact;
}

double VolumeTerm::MaxStep(const std::vector<Vec3>& x, const std::vector<Vec3>& end) const {
  constexpr double kLeft = 0.1;
  constexpr int kHalvings = 40;
  if (region_->filling.law == VolumeLaw::kSecondOrder) return 1;
  const double least = kLeft * RegionVolume(*region_, x);
  double step = 1;
  for (int k = 0; k < kHalvings; ++k, step *= 0.5) {
    const auto at = [&](int32_t v) { return Vec3(x[v] + step * (end[v] - x[v])); };
    if (SignedVolume(region_->triangles, at) >= least) return step;
  }
  return 0;
}

}  // namespace eipc
