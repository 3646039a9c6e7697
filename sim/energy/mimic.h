#ifndef EIPC_SIM_ENERGY_MIMIC_H_
#define EIPC_SIM_ENERGY_MIMIC_H_

#include <array>
#include <utility>
#include <vector>

#include "sim/energy/joint_coordinate.h"
#include "sim/energy/term.h"

namespace eipc {

// Of two coordinates s (of the joint that follows) and t: s = multiplier * t + offset.
struct MimicLaw {
  double multiplier = 1;
  double offset = 0;     // rad or m
  double stiffness = 0;  // of what holds s there: N m/rad or N/m
};

// Holds the coordinate of a joint to that of another one, as a gear does that acts on both:
//   E(q) = 1/2 K r^2,   r = s(q) - m t(q) - o   (docs/concepts/theory.md, eq. 27).
// Its Hessian is K (grad r)(grad r)^T and the projections of K r hess s and -m K r hess t, which are small as r is.
class MimicTerm : public EnergyTerm {
 public:
  // The coordinates outlive this.
  MimicTerm(const JointCoordinate* follower, const JointCoordinate* leader, const MimicLaw& law);

  // The coordinates where the step starts, from which angles count. Before BeginStage.
  void SetReferences(double follower, double leader) { references_ = {follower, leader}; }
  // What it exerts along either coordinate at q: N m or N.
  double FollowerEffort(const VecX& q) const { return -law_.stiffness * Gap(q); }
  double LeaderEffort(const VecX& q) const { return law_.multiplier * law_.stiffness * Gap(q); }
  // What it exerts at q on nodes through either coordinate.
  void AppendFollowerForces(const VecX& q, std::vector<NodeForce>* forces) const;
  void AppendLeaderForces(const VecX& q, std::vector<NodeForce>* forces) const;

  void BeginStage(const StageContext&) override {}
  double Value(const Point& point) override;
  double Rounding(const Point& point) override;
  void AddGradient(const Point& point, VecX* gradient) override;
  void AddHessian(const Point& point, BlockMatrix* hessian) override;
  void AppendPattern(std::vector<std::pair<int32_t, int32_t>>* pairs) const override;

 private:
  double Gap(const VecX& q) const;

  const std::array<const JointCoordinate*, 2> coordinates_;  // follower, leader
  MimicLaw law_;
  std::array<double, 2> references_ = {0, 0};
  std::vector<int32_t> nodes_;                 // of both, ascending
  std::array<std::vector<size_t>, 2> places_;  // of the nodes of each in nodes_
  std::vector<Vec3> slopes_;                   // scratch: gradient of r by node
};

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_MIMIC_H_
