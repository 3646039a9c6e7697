#ifndef EIPC_TESTS_SUPPORT_FORCE_BALANCE_H_
#define EIPC_TESTS_SUPPORT_FORCE_BALANCE_H_

#include <vector>

#include "sim/dynamics/world.h"

namespace eipc::testing {

// By body, after a step of backward Euler of `dt_s` from the velocities `v_before`: contact, weight and minus the rate of momentum,
// N.
inline std::vector<Vec3> LeftUnbalanced(const World& world, const VecX& v_before, double dt_s) {
  const Model& model = world.model();
  std::vector<Vec3> left(model.bodies.size(), Vec3::Zero());
  for (const ContactForce& contact : world.contact_forces().stencils) {
    for (int k = 0; k < 4; ++k) {
      left[model.surface.vertex_body[contact.vertices[k]]] += contact.normal_force[k] + contact.friction_force[k];
    }
  }
  for (size_t b = 0; b < model.bodies.size(); ++b) {
    const IndexRange& nodes = model.bodies[b].nodes;
    for (int32_t i = nodes.begin; i < nodes.end; ++i) {
      for (int32_t k = model.mass.row_start[i]; k < model.mass.row_start[i + 1]; ++k) {
        const int32_t j = model.mass.columns[k];
        const Vec3 acceleration = (world.state().v.segment<3>(3 * j) - v_before.segment<3>(3 * j)) / dt_s;
        left[b] += model.mass.values[k] * (model.gravity - acceleration);
      }
    }
  }
  return left;
}

}  // namespace eipc::testing

#endif  // EIPC_TESTS_SUPPORT_FORCE_BALANCE_H_
