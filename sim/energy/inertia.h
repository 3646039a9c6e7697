#ifndef EIPC_SIM_ENERGY_INERTIA_H_
#define EIPC_SIM_ENERGY_INERTIA_H_

#include "sim/energy/term.h"
#include "sim/linalg/scalar_sparse.h"

namespace eipc {

// ½ |q - q_hat|²_M / (gamma h)², q_hat = q_tilde + gamma h v_tilde + (gamma h)² g: inertia with uniform gravity folded in, so that
// the energy near the solution is small and keeps its digits (`004` eq. 5).
class InertiaTerm : public EnergyTerm {
 public:
  InertiaTerm(const ScalarSparse* mass, const Vec3& gravity) : mass_(mass), gravity_(gravity) {}

  void BeginStage(const StageContext& stage) override;
  double Value(const Point& point) override;
  void AddGradient(const Point& point, VecX* gradient) override;
  void AddHessian(const Point& point, BlockMatrix* hessian) override;
  bool constant_hessian() const override { return true; }
  void AppendPattern(std::vector<std::pair<int32_t, int32_t>>* pairs) const override;

 private:
  const ScalarSparse* mass_;
  Vec3 gravity_;
  double inverse_gh2_ = 0;
  VecX q_hat_;
  VecX difference_;
};

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_INERTIA_H_
