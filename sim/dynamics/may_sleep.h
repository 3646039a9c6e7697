#ifndef EIPC_SIM_DYNAMICS_MAY_SLEEP_H_
#define EIPC_SIM_DYNAMICS_MAY_SLEEP_H_

#include <algorithm>

#include "sim/dynamics/model.h"

namespace eipc {

// Moved by forces alone, and by those of contact: no node of it is driven, and no joint holds it.
inline bool MovesFreely(const Model& model, int32_t body) {
  const auto drives = [body](const BoundarySet& set) { return set.body == body; };
  const auto holds = [body](const Joint& joint) { return joint.body_a == body || joint.body_b == body; };
  return model.bodies[body].traits.reacts && std::none_of(model.boundary_sets.begin(), model.boundary_sets.end(), drives) &&
         std::none_of(model.joints.begin(), model.joints.end(), holds);
}

// Kinematic bodies count as asleep while they stand still, and are not solved for in any case.
inline bool MaySleep(const Model& model, int32_t body) { return model.bodies[body].traits.IsDriven() || MovesFreely(model, body); }

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_MAY_SLEEP_H_
