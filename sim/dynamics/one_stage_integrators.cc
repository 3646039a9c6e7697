#include "sim/dynamics/one_stage_integrators.h"

namespace eipc {

void BackwardEuler::PrepareStage(int, const StageInputs& in, IntegratorStage* out) const {
  out->gamma = 1;
  out->end = 1;
  out->contact_share = 1;
  out->q_tilde = in.start.q;
  out->v_tilde = in.start.v;
}

void Trapezoidal::PrepareStage(int, const StageInputs& in, IntegratorStage* out) const {
  out->gamma = 0.5;
  out->end = 1;
  out->contact_share = 1;
  out->q_tilde = in.start.q + 0.5 * in.dt_s * in.start.v;
  out->v_tilde = in.start.v + 0.5 * in.dt_s * in.acceleration;
}

void TrapezoidalUnsplitContact::PrepareStage(int stage, const StageInputs& in, IntegratorStage* out) const {
  Trapezoidal::PrepareStage(stage, in, out);
  out->contact_share = 2;
}

void ImplicitMidpoint::PrepareStage(int, const StageInputs& in, IntegratorStage* out) const {
  out->gamma = 0.5;
  out->end = 0.5;
  out->contact_share = 1;
  out->q_tilde = in.start.q;
  out->v_tilde = in.start.v;
}

}  // namespace eipc
