#include "sim/sensor/slip.h"

namespace eipc {
void SlipMeter::Add(const State& state, const ContactForces& contacts, double dt_s) {
  for (const PairSlip& slip : Slips(*model_, state.v, contacts)) {
    displacements_.try_emplace({slip.body, slip.other}, Vec3::Zero()).first->second += dt_s * slip.velocity;
  }
}

Vec3 SlipMeter::Displacement(int32_t body, int32_t other) const {
  const auto found = displacements_.find(std::minmax(body, other));
  if (found == displacements_.end()) return Vec3::Zero();
  return body < other ? found->second : Vec3(-found->second);
}

}  // namespace eipc
