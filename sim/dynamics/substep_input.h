#ifndef EIPC_SIM_DYNAMICS_SUBSTEP_INPUT_H_
#define EIPC_SIM_DYNAMICS_SUBSTEP_INPUT_H_

#include <vector>

#include "sim/dynamics/simulation.h"
#include "sim/dynamics/trajectory.h"

namespace eipc {

// Poses of a boundary set's frame at times from the start of a request of several steps.
struct FrameTrajectory {
  int32_t boundary_set = 0;  // index in Model::boundary_sets
  Trajectory trajectory;     // not empty
};

// The input of step `index` (from 0) of a request of steps of `dt_s`: its targets, and its trajectories at the end of that step.
StepInput SubstepInput(double dt_s, const std::vector<Target>& targets, const std::vector<FrameTrajectory>& trajectories,
                       int index);

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_SUBSTEP_INPUT_H_
