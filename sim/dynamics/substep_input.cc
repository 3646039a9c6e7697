#include "sim/dynamics/substep_input.h"

namespace eipc {

StepInput SubstepInput(double dt_s, const Commands& commands, int index) {
  StepInput input;
  input.dt_s = dt_s;
  input.targets = commands.targets;
  const double time_s = (index + 1) * dt_s;
  for (const FrameTrajectory& frame : commands.trajectories) {
    input.targets.push_back({frame.boundary_set, frame.trajectory.At(time_s)});
  }
  for (const TimedDrive& drive : commands.drives) {
    input.drives.push_back({drive.drive, drive.motion.mode, drive.motion.At(time_s), drive.motion.RateAt(time_s)});
  }
  return input;
}

}  // namespace eipc
