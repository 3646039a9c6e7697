#ifndef EIPC_SIM_SCENE_VERTEX_SETS_H_
#define EIPC_SIM_SCENE_VERTEX_SETS_H_

#include <optional>
#include <string>
#include <vector>

#include "sim/base/types.h"
#include "sim/dynamics/model.h"
#include "sim/scene/problems.h"
#include "sim/scene/selection_box.h"

namespace eipc {

// The mesh, of tetrahedra or of a shell, whose vertices boundary sets and attachments of a body select.
struct SelectableMesh {
  int32_t body;
  Pose pose;
  std::vector<Vec3> nodes;              // mesh frame
  std::vector<int32_t> node_of_vertex;  // -1: no element uses the vertex
};

// The nodes of the model, ascending, of vertices listed by their indices in the mesh file and of those in the box. Empty: a problem
// was added under `path`.
std::vector<int32_t> SelectNodes(const std::vector<int32_t>& vertices, const std::optional<SelectionBox>& box,
                                 const SelectableMesh& mesh, const Model& model, const std::string& path, Problems* problems);

}  // namespace eipc

#endif  // EIPC_SIM_SCENE_VERTEX_SETS_H_
