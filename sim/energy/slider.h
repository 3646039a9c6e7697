#ifndef EIPC_SIM_ENERGY_SLIDER_H_
#define EIPC_SIM_ENERGY_SLIDER_H_

#include <utility>
#include <vector>

#include "sim/energy/drive_force.h"
#include "sim/energy/term.h"

namespace eipc {

// How far nodes are along a guide, m: the mean of n . d_a, with d_a the displacement of node a from its place in the guide's frame
// and n the direction of `axis`, a unit vector of that frame. Linear in q.
double SlideAlong(const Pose& guide, const Vec3& axis, const std::vector<int32_t>& nodes, const std::vector<Vec3>& places,
                  const VecX& q);

// Nodes that slide along a straight guide as one rigid part, and what holds them on it: with d_a the displacement of node a from
// its place in the guide's frame, n the guide's direction and s the mean of n . d_a,
//   E(q) = 1/2 (K / N) sum_a |d_a - s n|^2   (docs/concepts/theory.md, eq. 22).
// All motions of the N nodes but the slide are held: turns and changes of shape too. K is that of a stiff mechanism, N/m, and does
// not depend on the step. Quadratic; the slide itself costs nothing.
class GuideTerm : public EnergyTerm {
 public:
  // Nodes ascending, with their places in the guide's frame; `axis` is a unit vector of that frame. The references outlive this.
  GuideTerm(const std::vector<int32_t>* nodes, const std::vector<Vec3>* places, const Vec3& axis, double stiffness)
      : nodes_(nodes), places_(places), axis_(axis), stiffness_(stiffness), positions_(nodes->size()) {}

  // Where the guide is at the end of the stage; to be called before the stage begins.
  void Place(const Pose& guide);
  // s, m: of q on the guide as placed, or on one that has another pose.
  double Slide(const VecX& q) const;
  double Slide(const VecX& q, const Pose& guide) const { return SlideAlong(guide, axis_, *nodes_, *places_, q); }
  const Vec3& direction() const { return direction_; }
  const std::vector<int32_t>& nodes() const { return *nodes_; }

  void BeginStage(const StageContext&) override {}
  double Value(const Point& point) override;
  void AddGradient(const Point& point, VecX* gradient) override;
  void AddHessian(const Point& point, BlockMatrix* hessian) override;
  bool constant_hessian() const override { return true; }
  void AppendPattern(std::vector<std::pair<int32_t, int32_t>>* pairs) const override;

 private:
  Vec3 Held(const VecX& q, size_t k, double slide) const;

  const std::vector<int32_t>* nodes_;
  const std::vector<Vec3>* places_;
  Vec3 axis_;
  double stiffness_;
  Vec3 direction_ = Vec3::UnitX();
  std::vector<Vec3> positions_;  // of the nodes at s = 0
};

// The drive that pushes the nodes of a guide along it: the potential of DriveForce at the guide's coordinate s, which is linear in
// q.
class DriveTerm : public EnergyTerm {
 public:
  // `guide` outlives this.
  explicit DriveTerm(const GuideTerm* guide) : guide_(guide) {}

  // What it does in the next stage. `guide_before`: where the guide is where the stage's velocities are counted from (q_tilde).
  void Command(const DriveLaw& law, const Pose& guide_before);
  const DriveForce& force() const { return force_; }

  void BeginStage(const StageContext& stage) override;
  double Value(const Point& point) override { return force_.Energy(guide_->Slide(point.q)); }
  void AddGradient(const Point& point, VecX* gradient) override;
  void AddHessian(const Point& point, BlockMatrix* hessian) override;
  void AppendPattern(std::vector<std::pair<int32_t, int32_t>>* pairs) const override { guide_->AppendPattern(pairs); }

 private:
  const GuideTerm* guide_;
  DriveLaw law_;
  Pose guide_before_;
  DriveForce force_;
};

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_SLIDER_H_
