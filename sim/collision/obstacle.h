#ifndef EIPC_SIM_COLLISION_OBSTACLE_H_
#define EIPC_SIM_COLLISION_OBSTACLE_H_

#include <array>
#include <cstdint>

#include "sim/base/types.h"
#include "sim/geometry/distance.h"

namespace eipc {

// A pair of primitives that limits a motion.
struct Obstacle {
  double fraction = 1;                // of the motion that the pair leaves free; 1: there is none
  std::array<int32_t, 4> v = {};      // vertices, as in ContactForce
  std::array<Vec3, 4> gradient = {};  // of the pair's distance where it limits the motion, by vertex
  bool found() const { return fraction < 1; }
};

// grad d = n (x) w (sim/geometry/distance.h).
inline std::array<Vec3, 4> DistanceGradient(const ClosestPoints& closest) {
  const Vec3 n = closest.e.normalized();
  return {closest.w[0] * n, closest.w[1] * n, closest.w[2] * n, closest.w[3] * n};
}

}  // namespace eipc

#endif  // EIPC_SIM_COLLISION_OBSTACLE_H_
