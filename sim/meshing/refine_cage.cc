#include "sim/meshing/refine_cage.h"

#include <algorithm>
#include <utility>

namespace eipc {

MeshData SplitLongestEdges(const MeshData& cage, int vertices) {
  MeshData mesh = {cage.vertices, cage.tets, {}};
  while (static_cast<int>(mesh.vertices.size()) < vertices && !mesh.tets.empty()) {
    std::pair<int32_t, int32_t> longest = {-1, -1};
    double length = 0;
    for (const Tet& t : mesh.tets) {
      for (int i = 0; i < 4; ++i) {
        for (int j = i + 1; j < 4; ++j) {
          const std::pair<int32_t, int32_t> edge = {std::min(t[i], t[j]), std::max(t[i], t[j])};
          const double l = (mesh.vertices[edge.first] - mesh.vertices[edge.second]).squaredNorm();
          if (l > length || (l == length && edge < longest)) {
            length = l;
            longest = edge;
          }
        }
      }
    }
    const int32_t middle = static_cast<int32_t>(mesh.vertices.size());
    mesh.vertices.push_back((mesh.vertices[longest.first] + mesh.vertices[longest.second]) / 2);
    const size_t count = mesh.tets.size();
    for (size_t t = 0; t < count; ++t) {
      const auto first = std::find(mesh.tets[t].begin(), mesh.tets[t].end(), longest.first);
      const auto second = std::find(mesh.tets[t].begin(), mesh.tets[t].end(), longest.second);
      if (first == mesh.tets[t].end() || second == mesh.tets[t].end()) continue;
      Tet other = mesh.tets[t];
      other[static_cast<size_t>(first - mesh.tets[t].begin())] = middle;
      *second = middle;
      mesh.tets.push_back(other);
    }
  }
  return mesh;
}

}  // namespace eipc
