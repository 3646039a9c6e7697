#ifndef EIPC_SIM_DYNAMICS_MAY_SLEEP_H_
#define EIPC_SIM_DYNAMICS_MAY_SLEEP_H_

#include <algorithm>

#include "sim/dynamics/model.h"

namespace eipc {

// Moved by forces alone: no node of it is driven.
inline bool MovesFreely(const Model& model, int32_t body) {
  return model.bodies[body].traits.reacts && std::none_of(model.boundary_sets.begin(), model.boundary_sets.end(),
                                                          [body](const BoundarySet& set) { return set.body == body; });
}

// Kinematic bodies count as asleep while they stand still, and are not solved for in any case.
inline bool MaySleep(const Model& model, int32_t body) { return model.bodies[body].traits.IsDriven() || MovesFreely(model, body); }

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_MAY_SLEEP_H_
