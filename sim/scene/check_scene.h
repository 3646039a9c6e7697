#ifndef EIPC_SIM_SCENE_CHECK_SCENE_H_
#define EIPC_SIM_SCENE_CHECK_SCENE_H_

#include "sim/scene/problems.h"
#include "sim/scene/scene_spec.h"

namespace eipc {

// Values and references that need no mesh: ranges, names, times. Paths as in eipc.v1.Scene.
void CheckScene(const SceneSpec& spec, Problems* problems);

}  // namespace eipc

#endif  // EIPC_SIM_SCENE_CHECK_SCENE_H_
