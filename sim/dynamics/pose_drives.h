#ifndef EIPC_SIM_DYNAMICS_POSE_DRIVES_H_
#define EIPC_SIM_DYNAMICS_POSE_DRIVES_H_

#include <vector>

#include "sim/dynamics/model.h"
#include "sim/dynamics/sliders.h"
#include "sim/dynamics/state.h"
#include "sim/energy/pose_drive.h"

namespace eipc {

// A commanded frame in one stage: where it is at the end, and where velocities are counted from.
struct PoseStage {
  Pose commanded, before;
};
// As StageSliders does for sliders.
std::vector<PoseStage> StagePoses(const Model& model, const PartCommands& part, double end, double before);

// After a part of a step of this size: what the drives exerted (`loads`, one per Model::pose_drives), and how far the nodes of each
// body are from where the command places them.
void MeasurePoseDrives(const Model& model, const State& from, double dt_s, const std::vector<PoseDriveLoad>& loads, State* next);

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_POSE_DRIVES_H_
