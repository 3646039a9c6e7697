#ifndef EIPC_SIM_CONTACT_CONTACT_FORCES_H_
#define EIPC_SIM_CONTACT_CONTACT_FORCES_H_

#include <array>
#include <limits>
#include <vector>

#include "sim/base/types.h"
#include "sim/collision/contact_kind.h"

namespace eipc {

// One active stencil (d < dhat) of an accepted state with the forces it exerts on its four surface vertices, N, world frame.
// Point-triangle: vertices {p, t0, t1, t2}; edge-edge: {a0, a1, b0, b1}.
struct ContactForce {
  ContactKind kind = ContactKind::kPointTriangle;
  int32_t body_a = 0;  // of the first side (point, or first edge)
  int32_t body_b = 0;
  std::array<int32_t, 4> vertices = {0, 0, 0, 0};
  double distance_m = 0;
  std::array<Vec3, 4> normal_force = {Vec3::Zero(), Vec3::Zero(), Vec3::Zero(), Vec3::Zero()};
  std::array<Vec3, 4> friction_force = {Vec3::Zero(), Vec3::Zero(), Vec3::Zero(), Vec3::Zero()};
};

// All of them, in a deterministic order. Friction of a lagged stencil that is no longer active is kept with zero normal force.
struct ContactForces {
  std::vector<ContactForce> stencils;
  int32_t point_triangle_count = 0;  // active ones
  int32_t edge_edge_count = 0;
  double min_distance_m = std::numeric_limits<double>::infinity();
};

}  // namespace eipc

#endif  // EIPC_SIM_CONTACT_CONTACT_FORCES_H_
