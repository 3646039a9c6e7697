#ifndef EIPC_SIM_SCENE_JOINTS_H_
#define EIPC_SIM_SCENE_JOINTS_H_

#include "sim/scene/problems.h"
#include "sim/scene/scene_spec.h"

namespace eipc {

// Adds what is wrong with the joints of a scene, as far as that shows without its meshes.
void CheckJoints(const SceneSpec& spec, Problems* problems);

}  // namespace eipc

#endif  // EIPC_SIM_SCENE_JOINTS_H_
