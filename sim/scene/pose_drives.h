#ifndef EIPC_SIM_SCENE_POSE_DRIVES_H_
#define EIPC_SIM_SCENE_POSE_DRIVES_H_

#include <string>

#include "sim/scene/problems.h"
#include "sim/scene/scene_spec.h"

namespace eipc {

// Adds what is wrong with the pose drive of a body, if it has one. `path`: the body's.
void CheckPoseDrive(const BodySpec& body, const std::string& path, Problems* problems);

// Makes the last boundary set of the model, all nodes of an affine body, one that a pose drive draws.
void AddPoseDrive(const PoseDriveGains& gains, Model* model);

}  // namespace eipc

#endif  // EIPC_SIM_SCENE_POSE_DRIVES_H_
