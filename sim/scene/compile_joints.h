#ifndef EIPC_SIM_SCENE_COMPILE_JOINTS_H_
#define EIPC_SIM_SCENE_COMPILE_JOINTS_H_

#include <vector>

#include "sim/base/interrupt.h"
#include "sim/dynamics/model.h"
#include "sim/scene/problems.h"
#include "sim/scene/scene_spec.h"
#include "sim/scene/vertex_sets.h"

namespace eipc {

// Makes the joints of a model that has its bodies, its surface and its pairs; disables pairs of bodies that joints connect where
// that is asked for, or where they overlap as placed. `meshes`: one a body. Precondition: CheckJoints found nothing.
// `interrupt` (may be null) ends it.
void AddJoints(const SceneSpec& spec, const std::vector<SelectableMesh>& meshes, Model* model, Problems* problems,
               Interrupt* interrupt);

}  // namespace eipc

#endif  // EIPC_SIM_SCENE_COMPILE_JOINTS_H_
