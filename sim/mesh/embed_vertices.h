#ifndef EIPC_SIM_MESH_EMBED_VERTICES_H_
#define EIPC_SIM_MESH_EMBED_VERTICES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "sim/base/interrupt.h"
#include "sim/mesh/embedding.h"

namespace eipc {

// The rows of Embedding::Create: one a surface vertex, barycentric coordinates in the tet of the cage in which it lies deepest.
// INVALID_ARGUMENT names a vertex that lies outside the cage or is not finite. `interrupt`, which ends it with its status, may be
// null.
absl::StatusOr<std::vector<EmbeddingRow>> EmbedVertices(const TetMesh& cage, const std::vector<Vec3>& surface_vertices,
                                                        Interrupt* interrupt = nullptr);

// Of a vertex that is a node.
EmbeddingRow RowOfNode(int32_t node);

}  // namespace eipc

#endif  // EIPC_SIM_MESH_EMBED_VERTICES_H_
