#include "sim/meshing/split_solids.h"

#include <map>
#include <numeric>
#include <utility>

#include "sim/audit/nesting.h"

namespace eipc {
namespace {

SurfaceMesh Compact(const std::vector<Vec3>& x, std::vector<Triangle> triangles) {
  std::vector<int32_t> index(x.size(), -1);
  std::vector<Vec3> vertices;
  for (Triangle& t : triangles) {
    for (int32_t& v : t) {
      if (index[v] < 0) {
        index[v] = static_cast<int32_t>(vertices.size());
        vertices.push_back(x[v]);
      }
      v = index[v];
    }
  }
  auto mesh = SurfaceMesh::Create(std::move(vertices), std::move(triangles));
  return mesh.ok() ? *std::move(mesh) : SurfaceMesh();
}

double VolumeOf(const std::vector<Vec3>& x, const std::vector<Triangle>& triangles) {
  double volume = 0;
  for (const Triangle& t : triangles) {
    const Vec3& o = x[triangles[0][0]];
    volume += (x[t[0]] - o).dot((x[t[1]] - o).cross(x[t[2]] - o)) / 6;
  }
  return volume;
}

}  // namespace

std::vector<SurfaceMesh> SplitSolids(const SurfaceMesh& surface) {
  const std::vector<Vec3>& x = surface.vertices();
  std::vector<int32_t> parent(x.size());
  std::iota(parent.begin(), parent.end(), 0);
  const auto find = [&parent](int32_t v) {
    while (parent[v] != v) v = parent[v] = parent[parent[v]];
    return v;
  };
  const auto join = [&](int32_t a, int32_t b) {  // the smaller index stays the root
    a = find(a), b = find(b);
    parent[std::max(a, b)] = std::min(a, b);
  };
  for (const Triangle& t : surface.triangles()) {
    join(t[0], t[1]);
    join(t[0], t[2]);
  }
  std::map<int32_t, std::vector<Triangle>> pieces;
  for (const Triangle& t : surface.triangles()) pieces[find(t[0])].push_back(t);
  if (pieces.size() == 1) return {surface};
  std::vector<std::vector<Triangle>> solids, cavities;
  for (auto& [root, triangles] : pieces) (VolumeOf(x, triangles) > 0 ? solids : cavities).push_back(std::move(triangles));
  for (const std::vector<Triangle>& cavity : cavities) {
    // The smallest solid around it.
    int around = -1;
    double least = 0;
    for (size_t s = 0; s < solids.size(); ++s) {
      const double volume = VolumeOf(x, solids[s]);
      if (around >= 0 && volume >= least) continue;
      if (!IsInside(x, AuditBody{solids[s]}, x[cavity[0][0]])) continue;
      around = static_cast<int>(s);
      least = volume;
    }
    if (around < 0) return {surface};
    solids[around].insert(solids[around].end(), cavity.begin(), cavity.end());
  }
  std::vector<SurfaceMesh> out;
  for (std::vector<Triangle>& triangles : solids) out.push_back(Compact(x, std::move(triangles)));
  return out;
}

}  // namespace eipc
