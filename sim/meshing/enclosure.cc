#include "sim/meshing/enclosure.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "sim/audit/audit.h"
#include "sim/audit/exact_triangles.h"
#include "sim/audit/nesting.h"
#include "sim/mesh/tet_mesh.h"

namespace eipc {
namespace {

bool CrossesItself(const std::vector<Vec3>& x, const std::vector<Triangle>& triangles) {
  const std::vector<int32_t> body(triangles.size(), 0);
  const std::vector<uint8_t> enabled = {1};
  return AuditSurfaces({&x, &triangles, &body, 1, &enabled}, false, 0).intersection_count > 0;
}

}  // namespace

Enclosure::Enclosure(const SurfaceMesh& surface, const TriangleTree& tree)
    : surface_(surface), tree_(tree), component_vertices_(AuditBody{surface.triangles()}.ComponentVertices()) {
  const std::vector<Vec3>& x = surface.vertices();
  for (const Triangle& t : surface.triangles()) collapsed_.push_back(ExactlyCollinear(x[t[0]], x[t[1]], x[t[2]]));
}

bool Enclosure::Meets(const Vec3& a, const Vec3& b, const Vec3& c) const {
  std::vector<Vec3> x = {a, b, c, a, a, a};
  return tree_.AnyNearTriangle(a, b, c, [&](int32_t s) {
    if (collapsed_[s]) return false;
    for (int k = 0; k < 3; ++k) x[3 + k] = surface_.vertices()[surface_.triangles()[s][k]];
    return TrianglesMeet(x, {0, 1, 2}, {3, 4, 5});
  });
}

std::string Enclosure::WhyNot(const MeshData& cage) const {
  const absl::StatusOr<TetMesh> mesh = TetMesh::Create(cage.vertices, cage.tets);
  if (!mesh.ok()) return std::string(mesh.status().message());
  if (!InvertedTets(cage.vertices, cage.tets).empty()) return "a tet is inverted";
  const AuditBody boundary = {mesh->BoundaryTriangles()};
  if (!boundary.IsClosed()) return "the cage's boundary touches itself along an edge";
  if (CrossesItself(cage.vertices, boundary.triangles)) return "the cage's boundary crosses itself";
  const std::vector<Vec3>& x = cage.vertices;
  for (const Triangle& t : boundary.triangles) {
    if (Meets(x[t[0]], x[t[1]], x[t[2]])) return "the surface crosses the cage's boundary";
  }
  for (const int32_t v : component_vertices_) {
    if (!IsInside(x, boundary, surface_.vertices()[v])) return absl::StrCat("surface vertex ", v, " lies outside");
  }
  return "";
}

std::string WhyNotEnclosed(const MeshData& cage, const SurfaceMesh& surface) {
  return Enclosure(surface, TriangleTree(surface.vertices(), surface.triangles())).WhyNot(cage);
}

}  // namespace eipc
