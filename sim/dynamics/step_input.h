#ifndef EIPC_SIM_DYNAMICS_STEP_INPUT_H_
#define EIPC_SIM_DYNAMICS_STEP_INPUT_H_

#include <cstdint>
#include <vector>

#include "sim/dynamics/model.h"
#include "sim/solver/time_limit.h"

namespace eipc {

// A pose that a boundary set's frame should have at the end of the step.
struct Target {
  int32_t boundary_set = 0;  // index in Model::boundary_sets
  Pose pose;
};

// What a drive should do at the end of the step, and from then on; `rate`: how fast a commanded position moves.
struct DriveCommand {
  int32_t drive = 0;  // index in Model::sliders, or behind these in Model::joints
  DriveMode mode = DriveMode::kPosition;
  double value = 0;
  double rate = 0;
};

struct StepInput {
  double dt_s = 0;
  std::vector<Target> targets;
  std::vector<DriveCommand> drives = {};
  SolveLimit limit = {};
  bool measure_balance = false;  // StepReport::unbalanced_force_n
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_STEP_INPUT_H_
