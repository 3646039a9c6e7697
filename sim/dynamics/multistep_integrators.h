#ifndef EIPC_SIM_DYNAMICS_MULTISTEP_INTEGRATORS_H_
#define EIPC_SIM_DYNAMICS_MULTISTEP_INTEGRATORS_H_

#include "sim/dynamics/time_integrator.h"

namespace eipc {

// Second-order backward differences: u_tilde = (4 u^n - u^{n-1}) / 3, gamma = 2/3 (Ascher et al. 2022, eq. 7). With w the ratio of
// this step to the last, u_tilde = ((1 + w)^2 u^n - w^2 u^{n-1}) / (1 + 2w), gamma = (1 + w) / (1 + 2w). The first step, and one
// that is more than twice the last (zero-stability ends at 1 + sqrt 2), is backward Euler's. L-stable.
class Bdf2 : public TimeIntegrator {
 public:
  int stage_count() const override { return 1; }
  void PrepareStage(int stage, const StageInputs& in, IntegratorStage* out) const override;
  bool keeps_history() const override { return true; }
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_MULTISTEP_INTEGRATORS_H_
