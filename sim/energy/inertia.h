#ifndef EIPC_SIM_ENERGY_INERTIA_H_
#define EIPC_SIM_ENERGY_INERTIA_H_

#include <utility>
#include <vector>

#include "sim/energy/term.h"
#include "sim/linalg/scalar_sparse.h"

namespace eipc {

// ½ |q - q_hat|²_M / (gamma h)², q_hat = q_tilde + gamma h v_tilde + (gamma h)² a (both (gamma h)² times the stage's force_share):
// inertia with constant accelerations a (gravity, constant forces on bodies) folded in, so that the energy near the solution is
// small and keeps its digits (theory.md, eq. 5).
class InertiaTerm : public EnergyTerm {
 public:
  // `acceleration` by node, the same over nodes that share mass: it acts as the force M a.
  InertiaTerm(const ScalarSparse* mass, std::vector<Vec3> acceleration) : mass_(mass), acceleration_(std::move(acceleration)) {}

  void BeginStage(const StageContext& stage) override;
  double Value(const Point& point) override;
  void AddGradient(const Point& point, VecX* gradient) override;
  void AddHessian(const Point& point, BlockMatrix* hessian) override;
  bool constant_hessian() const override { return true; }
  void AppendPattern(std::vector<std::pair<int32_t, int32_t>>* pairs) const override;
  // The force M a of the accelerations that it folds in.
  void AddForce(VecX* force);

 private:
  const ScalarSparse* mass_;
  std::vector<Vec3> acceleration_;
  double inverse_gh2_ = 0;
  VecX q_hat_;
  VecX difference_;
};

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_INERTIA_H_
