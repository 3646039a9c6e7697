#ifndef EIPC_SIM_MESH_USED_VERTICES_H_
#define EIPC_SIM_MESH_USED_VERTICES_H_

// Mesh files may hold vertices that no cell uses: points of the geometry, mid-edge nodes of second-order cells. The readers keep
// them, because indices (of boundary sets, for example) count every vertex of the file. A body is made without them.

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/mesh/mesh_data.h"
#include "sim/mesh/surface_mesh.h"
#include "sim/mesh/tet_mesh.h"

namespace eipc {

// The tetrahedra of `mesh` or, where it has none, its triangles, and the vertices that they use in the order of `mesh`. The cells'
// indices must be in range. `new_index`, if not null, gets the index of each vertex of `mesh` in the result, -1 for one that no
// cell uses.
MeshData WithoutUnusedVertices(const MeshData& mesh, std::vector<int32_t>* new_index = nullptr);

// TetMesh::Create and SurfaceMesh::Create of the used vertices. Errors name vertices and cells as `mesh` numbers them.
absl::StatusOr<TetMesh> TetMeshOfUsed(const MeshData& mesh, std::vector<int32_t>* new_index = nullptr);
absl::StatusOr<SurfaceMesh> SurfaceMeshOfUsed(const MeshData& mesh);

}  // namespace eipc

#endif  // EIPC_SIM_MESH_USED_VERTICES_H_
