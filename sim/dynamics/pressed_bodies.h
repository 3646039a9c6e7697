#ifndef EIPC_SIM_DYNAMICS_PRESSED_BODIES_H_
#define EIPC_SIM_DYNAMICS_PRESSED_BODIES_H_

#include <cstdint>
#include <vector>

#include "sim/base/types.h"
#include "sim/dynamics/barrier_stiffness.h"
#include "sim/dynamics/model.h"
#include "sim/dynamics/stage_problem.h"

namespace eipc {

// A part of a step: its end, where the problem's point is, the velocities before it, and its length.
struct PartEnd {
  const VecX& q;
  const VecX& v;
  const VecX& v_before;
  double dt_s;
  const std::vector<uint8_t>& fixed;  // by node
};
PressedBodies MeasurePressedBodies(const Model& model, StageProblem* problem, const PartEnd& end);

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_PRESSED_BODIES_H_
