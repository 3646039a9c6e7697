#ifndef EIPC_SERVER_CONVERT_SCENE_MESHES_H_
#define EIPC_SERVER_CONVERT_SCENE_MESHES_H_

#include <functional>
#include <string>

#include "sim/mesh/mesh_data.h"

namespace eipc::v1 {
class Mesh;
class Scene;
}  // namespace eipc::v1

namespace eipc {

// Calls `visit` with every mesh of a scene and its path, e.g. "bodies[2].embedded.cage_mesh".
void ForEachMesh(v1::Scene* scene, const std::function<void(v1::Mesh*, const std::string& path)>& visit);

// Makes `mesh` hold these arrays, unscaled.
void MeshToProto(const MeshData& data, v1::Mesh* mesh);

}  // namespace eipc

#endif  // EIPC_SERVER_CONVERT_SCENE_MESHES_H_
