#ifndef EIPC_SIM_COLLISION_OBSTACLE_H_
#define EIPC_SIM_COLLISION_OBSTACLE_H_

#include <array>
#include <cstdint>

#include "sim/base/types.h"

namespace eipc {

// A pair of primitives that limits a motion.
struct Obstacle {
  double fraction = 1;                // of the motion that the pair leaves free; 1: there is none
  std::array<int32_t, 4> v = {};      // vertices, as in ContactForce
  std::array<Vec3, 4> gradient = {};  // of the pair's distance where it limits the motion, by vertex
  bool found() const { return fraction < 1; }
};

}  // namespace eipc

#endif  // EIPC_SIM_COLLISION_OBSTACLE_H_
