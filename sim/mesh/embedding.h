#ifndef EIPC_SIM_MESH_EMBEDDING_H_
#define EIPC_SIM_MESH_EMBEDDING_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/base/types.h"
#include "sim/mesh/tet_mesh.h"

namespace eipc {

// One row of J: surface vertex = sum of weights * cage nodes. A vertex that coincides with a node has count 1.
struct EmbeddingRow {
  std::array<int32_t, 4> nodes = {0, 0, 0, 0};
  std::array<double, 4> weights = {0, 0, 0, 0};
  int32_t count = 0;
};

// Constant sparse map x = J q from cage nodes to surface vertices (Du et al. 2025, eqs. 13, 14). One row per surface vertex.
class Embedding {
 public:
  Embedding() = default;

  // Locates every surface vertex in a cage tet (barycentric coordinates). Error when a vertex lies outside the cage, naming it.
  static absl::StatusOr<Embedding> Create(const TetMesh& cage, const std::vector<Vec3>& surface_vertices);
  // Surface vertex i is node nodes[i] (J = I on the boundary of a full-space mesh).
  static Embedding Identity(const std::vector<int32_t>& nodes);

  const std::vector<EmbeddingRow>& rows() const { return rows_; }

 private:
  std::vector<EmbeddingRow> rows_;
};

}  // namespace eipc

#endif  // EIPC_SIM_MESH_EMBEDDING_H_
