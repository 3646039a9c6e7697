#include "sim/dynamics/two_stage_integrators.h"

#include <cmath>

namespace eipc {

TwoStageIntegrator TwoStageIntegrator::TrBdf2() { return {0.5, 2.0 / 3, 1.0 / 3}; }

TwoStageIntegrator TwoStageIntegrator::Sdirk2() {
  const double g = 2 - std::sqrt(2.0);
  return {g, std::sqrt(0.5), 0.5 * g};
}

void TwoStageIntegrator::PrepareStage(int stage, const StageInputs& in, IntegratorStage* out) const {
  out->contact_share = 1;
  if (stage == 0) {
    const double half = 0.5 * g_ * in.dt_s;
    out->gamma = 0.5 * g_;
    out->end = g_;
    out->q_tilde = in.start.q + half * in.start.v;
    out->v_tilde = in.start.v + half * in.acceleration;
    return;
  }
  out->gamma = c_;
  out->end = 1;
  out->q_tilde = in.start.q + (b_ / g_) * (in.q_stage - in.start.q);
  out->v_tilde = in.start.v + (b_ / g_) * (in.v_stage - in.start.v);
}

}  // namespace eipc
