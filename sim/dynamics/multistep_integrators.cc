#include "sim/dynamics/multistep_integrators.h"

namespace eipc {

void Bdf2::PrepareStage(int, const StageInputs& in, IntegratorStage* out) const {
  out->end = 1;
  out->contact_share = 1;
  const bool first = in.start.memory.empty() || in.start.memory[0].dt_s <= 0;
  const double w = first ? 0 : in.dt_s / in.start.memory[0].dt_s;
  if (!(w > 0) || w > 2 * (1 + 1e-9)) {
    out->gamma = 1;
    out->q_tilde = in.start.q;
    out->v_tilde = in.start.v;
    return;
  }
  const State::Memory& past = in.start.memory[0];
  const double now = (1 + w) * (1 + w) / (1 + 2 * w), before = w * w / (1 + 2 * w);
  out->gamma = (1 + w) / (1 + 2 * w);
  out->q_tilde = now * in.start.q - before * past.q;
  out->v_tilde = now * in.start.v - before * past.v;
}

}  // namespace eipc
