#include "sim/mesh/surface_mesh.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/mesh/index_errors.h"

namespace eipc {
namespace {

bool HasRepeatedIndex(const Triangle& t) { return t[0] == t[1] || t[0] == t[2] || t[1] == t[2]; }

// Zero area up to the rounding of the cross product.
bool IsFlat(const Vec3& a, const Vec3& b, const Vec3& c) {
  const Vec3 u = b - a, v = c - a;
  const double longest = std::max({u.squaredNorm(), v.squaredNorm(), (c - b).squaredNorm()});
  return !(u.cross(v).norm() > 1e-15 * longest);
}

std::vector<Edge> UniqueEdges(const std::vector<Triangle>& triangles) {
  std::vector<Edge> edges;
  edges.reserve(3 * triangles.size());
  for (const Triangle& t : triangles) {
    for (int k = 0; k < 3; ++k) edges.push_back({std::min(t[k], t[(k + 1) % 3]), std::max(t[k], t[(k + 1) % 3])});
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

}  // namespace

absl::StatusOr<SurfaceMesh> SurfaceMesh::Create(std::vector<Vec3> vertices, std::vector<Triangle> triangles) {
  if (vertices.empty() || triangles.empty()) return absl::InvalidArgumentError("a surface mesh needs vertices and triangles");
  IndexErrors non_finite, out_of_range, repeated, flat;
  for (size_t v = 0; v < vertices.size(); ++v) {
    if (!vertices[v].allFinite()) non_finite.Add(v);
  }
  EIPC_RETURN_IF_ERROR(non_finite.ToStatus("vertices", "have a coordinate that is not finite"));
  for (size_t t = 0; t < triangles.size(); ++t) {
    const Triangle& tri = triangles[t];
    if (!AllInRange(tri, vertices.size())) {
      out_of_range.Add(t);
    } else if (HasRepeatedIndex(tri)) {
      repeated.Add(t);
    } else if (IsFlat(vertices[tri[0]], vertices[tri[1]], vertices[tri[2]])) {
      flat.Add(t);
    }
  }
  EIPC_RETURN_IF_ERROR(out_of_range.ToStatus("triangles", absl::StrCat("refer to vertices outside 0..", vertices.size() - 1)));
  EIPC_RETURN_IF_ERROR(repeated.ToStatus("triangles", "repeat a vertex"));
  EIPC_RETURN_IF_ERROR(flat.ToStatus("triangles", "have no area"));
  SurfaceMesh mesh;
  mesh.edges_ = UniqueEdges(triangles);
  mesh.vertices_ = std::move(vertices);
  mesh.triangles_ = std::move(triangles);
  return mesh;
}

bool SurfaceMesh::IsClosed() const {
  std::vector<Edge> half_edges;
  half_edges.reserve(3 * triangles_.size());
  for (const Triangle& t : triangles_) {
    for (int k = 0; k < 3; ++k) half_edges.push_back({t[k], t[(k + 1) % 3]});
  }
  std::sort(half_edges.begin(), half_edges.end());
  if (std::adjacent_find(half_edges.begin(), half_edges.end()) != half_edges.end()) return false;
  for (const Edge& e : half_edges) {
    if (!std::binary_search(half_edges.begin(), half_edges.end(), Edge{e[1], e[0]})) return false;
  }
  return !half_edges.empty();
}

double SurfaceMesh::SignedVolume() const {
  if (triangles_.empty()) return 0;
  const Vec3 origin = vertices_[triangles_[0][0]];  // near the surface: less cancellation than the world origin
  double six_volumes = 0;
  for (const Triangle& t : triangles_) {
    six_volumes += (vertices_[t[0]] - origin).dot((vertices_[t[1]] - origin).cross(vertices_[t[2]] - origin));
  }
  return six_volumes / 6.0;
}

}  // namespace eipc
