#ifndef EIPC_SIM_DYNAMICS_TWO_STAGE_INTEGRATORS_H_
#define EIPC_SIM_DYNAMICS_TWO_STAGE_INTEGRATORS_H_

#include "sim/dynamics/time_integrator.h"

namespace eipc {

// The trapezoidal rule over a part g of the step, then a second stage at its end:
//   u_g = u^n + (g h / 2) (F(u^n) + F(u_g)),   u^{n+1} = u^n + (b / g) (u_g - u^n) + c h F(u^{n+1}).
// Second order and L-stable for both of:
class TwoStageIntegrator : public TimeIntegrator {
 public:
  // TR-BDF2: g = 1/2, b = 2/3, c = 1/3 (Ascher et al. 2022, eq. 8).
  static TwoStageIntegrator TrBdf2();
  // SDIRK2: g = 2 - sqrt 2, b = sqrt 2 / 2, c = g / 2: both stages have the same gamma (Ascher et al. 2022, eq. 9).
  static TwoStageIntegrator Sdirk2();

  int stage_count() const override { return 2; }
  void PrepareStage(int stage, const StageInputs& in, IntegratorStage* out) const override;
  bool starts_from_force() const override { return true; }

 private:
  TwoStageIntegrator(double g, double b, double c) : g_(g), b_(b), c_(c) {}

  double g_, b_, c_;
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_TWO_STAGE_INTEGRATORS_H_
