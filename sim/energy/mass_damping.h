#ifndef EIPC_SIM_ENERGY_MASS_DAMPING_H_
#define EIPC_SIM_ENERGY_MASS_DAMPING_H_

#include <vector>

#include "sim/energy/term.h"
#include "sim/linalg/scalar_sparse.h"

namespace eipc {

// The mass-proportional part of Rayleigh damping, force -alpha M v, as the potential (1 / 2 gamma h) |q - q_tilde|²_(alpha M).
class MassDampingTerm : public EnergyTerm {
 public:
  // `damped_mass`: alpha M, kg/s.
  explicit MassDampingTerm(ScalarSparse damped_mass) : damped_mass_(std::move(damped_mass)) {}

  void BeginStage(const StageContext& stage) override;
  double Value(const Point& point) override;
  void AddGradient(const Point& point, VecX* gradient) override;
  void AddHessian(const Point& point, BlockMatrix* hessian) override;
  bool constant_hessian() const override { return true; }

 private:
  ScalarSparse damped_mass_;
  double inverse_gh_ = 0;
  VecX q_tilde_;
  VecX difference_;
};

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_MASS_DAMPING_H_
