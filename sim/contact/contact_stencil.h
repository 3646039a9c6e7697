#ifndef EIPC_SIM_CONTACT_CONTACT_STENCIL_H_
#define EIPC_SIM_CONTACT_CONTACT_STENCIL_H_

#include <array>
#include <cstdint>

#include "sim/collision/contact_kind.h"
#include "sim/geometry/distance.h"

namespace eipc {

// An active pair: gap below its own dhat. Vertices as in ContactForce.
struct ContactStencil {
  std::array<int32_t, 4> v;
  ContactKind kind;
  int32_t body_a;
  int32_t body_b;
  double dhat;  // m; less than the scene's for neighbouring features of one body
  // 1 per pair; m^2 area weighted, and negative for what two walls of a crease have in common (nearest_features.h). Times the
  // barrier stiffness: N/m.
  double weight;
  double mollifier2;  // edge-edge: |ea x eb|^2 below which the barrier fades out, m^4; 0: never (point-triangle)
  double distance;    // m
  ClosestPoints closest;
  double offset = 0;  // m: what the thicknesses of sheets take from the distance
  // What the barrier sees, m.
  double gap() const { return distance - offset; }
};

}  // namespace eipc

#endif  // EIPC_SIM_CONTACT_CONTACT_STENCIL_H_
