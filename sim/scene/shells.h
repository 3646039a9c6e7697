#ifndef EIPC_SIM_SCENE_SHELLS_H_
#define EIPC_SIM_SCENE_SHELLS_H_

#include <string>
#include <vector>

#include "sim/base/interrupt.h"
#include "sim/scene/compile_body.h"
#include "sim/scene/vertex_sets.h"

namespace eipc {

// The sheet of a body of the model, its triangles in the model's nodes, and what observations name of it.
void AddShell(const BodySpec& spec, const SelectableMesh& mesh, ShellBody shell, const std::string& path, Model* model,
              Problems* problems);
// Bending, once the model's boundary sets are known. `stress_free`: by node of each sheet.
void AddBending(const std::vector<BodySpec>& bodies, const std::vector<std::vector<Vec3>>& stress_free, Model* model);
// Thickness, sides and the shape without stress of the model's collision surface, and which features of a sheet are neighbours.
// Adds a problem for a sheet that has too many of them. `interrupt` (may be null) ends it.
void MarkThinSurfaces(const SceneSpec& spec, const std::vector<std::vector<Vec3>>& stress_free, Model* model, Problems* problems,
                      Interrupt* interrupt);
// Adds a problem for sheets that start closer to something than thicknesses allow. `meshes`: by body. `interrupt` (may be null)
// ends it.
void CheckSeparation(const Model& model, const std::vector<SelectableMesh>& meshes, Problems* problems, Interrupt* interrupt);

}  // namespace eipc

#endif  // EIPC_SIM_SCENE_SHELLS_H_
