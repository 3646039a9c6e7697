#ifndef EIPC_SIM_DYNAMICS_ACHIEVED_POSE_H_
#define EIPC_SIM_DYNAMICS_ACHIEVED_POSE_H_

#include "sim/dynamics/model.h"
#include "sim/dynamics/state.h"

namespace eipc {

// Where the frame of a boundary set (index in Model::boundary_sets) got to: the best rigid fit of its local positions to its nodes
// (Kabsch 1976), world. What the nodes do not determine (a single node, a straight line) is as commanded.
Pose AchievedPose(const Model& model, const State& state, int boundary_set);

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_ACHIEVED_POSE_H_
