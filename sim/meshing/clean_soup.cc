#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "sim/audit/exact_triangles.h"
#include "sim/meshing/repair_steps.h"
#include "sim/meshing/sheet_steps.h"

namespace eipc {

MeshData CleanSoup(const MeshData& mesh) {
  MeshData out;
  absl::flat_hash_map<std::tuple<double, double, double>, int32_t> at;
  std::vector<int32_t> index(mesh.vertices.size(), -1);
  const auto vertex = [&](int32_t v) {
    if (index[v] >= 0) return index[v];
    const Vec3& p = mesh.vertices[v];
    const auto key = std::make_tuple(p.x() + 0.0, p.y() + 0.0, p.z() + 0.0);  // + 0.0 makes -0 and 0 one
    const auto [entry, is_new] = at.try_emplace(key, static_cast<int32_t>(out.vertices.size()));
    if (is_new) out.vertices.push_back(p);
    return index[v] = entry->second;
  };
  absl::flat_hash_set<std::array<int32_t, 3>> seen;
  for (const Triangle& t : mesh.triangles) {
    const Vec3 &a = mesh.vertices[t[0]], &b = mesh.vertices[t[1]], &c = mesh.vertices[t[2]];
    if (ExactlyCollinear(a, b, c)) continue;
    const Triangle triangle = {vertex(t[0]), vertex(t[1]), vertex(t[2])};
    std::array<int32_t, 3> key = triangle;
    std::sort(key.begin(), key.end());
    if (seen.insert(key).second) out.triangles.push_back(triangle);
  }
  return out;
}

namespace {

// Moves every vertex, or every one of `only`, onto the first one within the distance.
MeshData Weld(const MeshData& mesh, double distance_m, const std::vector<bool>* only) {
  using Cell = std::array<int64_t, 3>;
  const auto cell_of = [&](const Vec3& p) {
    Cell cell;
    for (int k = 0; k < 3; ++k) cell[k] = static_cast<int64_t>(std::floor(p[k] / distance_m));
    return cell;
  };
  absl::flat_hash_map<Cell, std::vector<int32_t>> kept;
  MeshData moved = mesh;
  for (size_t v = 0; v < mesh.vertices.size(); ++v) {
    Vec3& p = moved.vertices[v];
    if (only != nullptr && !(*only)[v]) continue;
    if (!(p.cwiseAbs().maxCoeff() < 1e15 * distance_m)) continue;  // beyond the grid
    const Cell center = cell_of(p);
    int32_t onto = -1;
    for (int d = 0; d < 27; ++d) {
      const auto found = kept.find({center[0] + d % 3 - 1, center[1] + d / 3 % 3 - 1, center[2] + d / 9 - 1});
      if (found == kept.end()) continue;
      for (const int32_t w : found->second) {
        if ((moved.vertices[w] - p).norm() <= distance_m && (onto < 0 || w < onto)) onto = w;
      }
    }
    if (onto >= 0) {
      p = moved.vertices[onto];
    } else {
      kept[center].push_back(static_cast<int32_t>(v));
    }
  }
  return CleanSoup(moved);
}

}  // namespace

MeshData WeldSoup(const MeshData& mesh, double distance_m) { return Weld(mesh, distance_m, nullptr); }

MeshData WeldBorders(const MeshData& mesh, double distance_m) {
  const std::vector<bool> border = BorderVertices(mesh);
  return Weld(mesh, distance_m, &border);
}

}  // namespace eipc
