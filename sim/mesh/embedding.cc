#include "sim/mesh/embedding.h"

#include "sim/base/status_macros.h"
#include "sim/mesh/embed_vertices.h"

namespace eipc {

absl::StatusOr<Embedding> Embedding::Create(const TetMesh& cage, const std::vector<Vec3>& surface_vertices) {
  Embedding embedding;
  EIPC_ASSIGN_OR_RETURN(embedding.rows_, EmbedVertices(cage, surface_vertices));
  return embedding;
}

Embedding Embedding::Identity(const std::vector<int32_t>& nodes) {
  Embedding embedding;
  embedding.rows_.reserve(nodes.size());
  for (const int32_t node : nodes) embedding.rows_.push_back(RowOfNode(node));
  return embedding;
}

}  // namespace eipc
