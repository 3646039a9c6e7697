#ifndef EIPC_SIM_MESH_WRITE_MESH_H_
#define EIPC_SIM_MESH_WRITE_MESH_H_

#include <string>

#include "absl/status/status.h"
#include "sim/mesh/mesh_data.h"

namespace eipc {

// The content of a file in each format that is written, with 17 significant digits: every double reads back as itself.
// Wavefront OBJ: triangles only.
std::string ToObj(const MeshData& mesh);
// Legacy VTK 3.0, ASCII: tetrahedra where there are any, else triangles.
std::string ToVtk(const MeshData& mesh);

// Writes by extension (mesh_formats.h). INVALID_ARGUMENT when the format is not written or cannot hold the mesh.
absl::Status WriteMesh(const std::string& path, const MeshData& mesh);

}  // namespace eipc

#endif  // EIPC_SIM_MESH_WRITE_MESH_H_
