#ifndef EIPC_SIM_DYNAMICS_SUBSTEP_INPUT_H_
#define EIPC_SIM_DYNAMICS_SUBSTEP_INPUT_H_

#include <vector>

#include "sim/dynamics/step_input.h"
#include "sim/dynamics/trajectory.h"

namespace eipc {

// Poses of a boundary set's frame at times from the start of a request of several steps.
struct FrameTrajectory {
  int32_t boundary_set = 0;  // index in Model::boundary_sets
  Trajectory trajectory;     // not empty
};

// What a drive should do at times from the start of a request of several steps.
struct TimedDrive {
  int32_t drive = 0;   // see DriveCommand
  DriveMotion motion;  // not empty
};

// Everything that a request of several steps commands.
struct Commands {
  const std::vector<Target>& targets;
  const std::vector<FrameTrajectory>& trajectories;
  const std::vector<TimedDrive>& drives;
};

// The input of step `index` (from 0) of a request of steps of `dt_s`: its targets, and its trajectories and drives at the end of
// that step.
StepInput SubstepInput(double dt_s, const Commands& commands, int index);

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_SUBSTEP_INPUT_H_
