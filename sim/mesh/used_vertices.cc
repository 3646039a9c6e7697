#include "sim/mesh/used_vertices.h"

#include <utility>

#include "sim/base/status_macros.h"

namespace eipc {
namespace {

constexpr int32_t kUnused = -1;

template <typename Cell>
void MarkUsed(const std::vector<Cell>& cells, std::vector<int32_t>* index) {
  for (const Cell& cell : cells) {
    for (const int32_t v : cell) (*index)[v] = 0;
  }
}

template <typename Cell>
void Renumber(const std::vector<int32_t>& index, std::vector<Cell>* cells) {
  for (Cell& cell : *cells) {
    for (int32_t& v : cell) v = index[v];
  }
}

}  // namespace

MeshData WithoutUnusedVertices(const MeshData& mesh, std::vector<int32_t>* new_index) {
  std::vector<int32_t> index(mesh.vertices.size(), kUnused);
  MeshData used;
  used.tets = mesh.tets;
  if (mesh.tets.empty()) used.triangles = mesh.triangles;
  MarkUsed(used.tets, &index);
  MarkUsed(used.triangles, &index);
  for (size_t v = 0; v < index.size(); ++v) {
    if (index[v] == kUnused) continue;
    index[v] = static_cast<int32_t>(used.vertices.size());
    used.vertices.push_back(mesh.vertices[v]);
  }
  Renumber(index, &used.tets);
  Renumber(index, &used.triangles);
  if (new_index != nullptr) *new_index = std::move(index);
  return used;
}

absl::StatusOr<TetMesh> TetMeshOfUsed(const MeshData& mesh, std::vector<int32_t>* new_index) {
  // Of all vertices first, for the numbers in its errors, and because it checks the ranges of indices.
  EIPC_ASSIGN_OR_RETURN(TetMesh whole, TetMesh::Create(mesh.vertices, mesh.tets));
  MeshData used = WithoutUnusedVertices({mesh.vertices, mesh.tets, {}}, new_index);
  if (used.vertices.size() == mesh.vertices.size()) return whole;
  return TetMesh::Create(std::move(used.vertices), std::move(used.tets));
}

absl::StatusOr<SurfaceMesh> SurfaceMeshOfUsed(const MeshData& mesh) {
  EIPC_ASSIGN_OR_RETURN(SurfaceMesh whole, SurfaceMesh::Create(mesh.vertices, mesh.triangles));
  MeshData used = WithoutUnusedVertices({mesh.vertices, {}, mesh.triangles});
  if (used.vertices.size() == mesh.vertices.size()) return whole;
  return SurfaceMesh::Create(std::move(used.vertices), std::move(used.triangles));
}

}  // namespace eipc
