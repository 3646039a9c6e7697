#include "sim/dynamics/substep_input.h"

namespace eipc {

StepInput SubstepInput(double dt_s, const std::vector<Target>& targets, const std::vector<FrameTrajectory>& trajectories,
                       int index) {
  StepInput input;
  input.dt_s = dt_s;
  input.targets = targets;
  for (const FrameTrajectory& frame : trajectories) {
    input.targets.push_back({frame.boundary_set, frame.trajectory.At((index + 1) * dt_s)});
  }
  return input;
}

}  // namespace eipc
