#ifndef EIPC_SIM_DYNAMICS_TRAJECTORY_H_
#define EIPC_SIM_DYNAMICS_TRAJECTORY_H_

#include <vector>

#include "sim/base/types.h"
#include "sim/dynamics/interpolation.h"

namespace eipc {

// World poses of a frame over time: between keys positions on straight lines and rotations slerped, as fast as the interpolation
// says; held before the first and after the last key.
struct Trajectory {
  struct Key {
    double time_s = 0;
    Pose pose;
  };
  std::vector<Key> keys;  // strictly increasing times
  Interpolation interpolation = Interpolation::kLinear;

  bool empty() const { return keys.empty(); }
  // Precondition: not empty.
  Pose At(double time_s) const;
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_TRAJECTORY_H_
