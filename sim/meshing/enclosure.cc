#include "sim/meshing/enclosure.h"

#include "absl/strings/str_cat.h"
#include "sim/audit/audit.h"
#include "sim/audit/nesting.h"
#include "sim/mesh/tet_mesh.h"

namespace eipc {

std::string WhyNotEnclosed(const MeshData& cage, const SurfaceMesh& surface) {
  const absl::StatusOr<TetMesh> mesh = TetMesh::Create(cage.vertices, cage.tets);
  if (!mesh.ok()) return std::string(mesh.status().message());
  if (!InvertedTets(cage.vertices, cage.tets).empty()) return "a tet is inverted";
  const AuditBody boundary = {mesh->BoundaryTriangles()};
  if (!boundary.IsClosed()) return "the cage's boundary touches itself along an edge";

  // One body for the cage's boundary, one for the surface; the surface against itself is not our business.
  std::vector<Vec3> x = cage.vertices;
  const int32_t shift = static_cast<int32_t>(x.size());
  x.insert(x.end(), surface.vertices().begin(), surface.vertices().end());
  std::vector<Triangle> triangles = boundary.triangles;
  AuditBody inner;
  for (const Triangle& t : surface.triangles()) inner.triangles.push_back({t[0] + shift, t[1] + shift, t[2] + shift});
  triangles.insert(triangles.end(), inner.triangles.begin(), inner.triangles.end());
  std::vector<int32_t> body(triangles.size(), 1);
  std::fill(body.begin(), body.begin() + boundary.triangles.size(), 0);
  const std::vector<uint8_t> enabled = {1, 1, 1, 0};
  const AuditReport report = AuditSurfaces({&x, &triangles, &body, 2, &enabled}, false, 1);
  if (report.intersection_count > 0) {
    return body[report.intersections[0].second] == 0 ? "the cage's boundary crosses itself"
                                                     : "the surface crosses the cage's boundary";
  }
  for (const int32_t v : inner.ComponentVertices()) {
    if (!IsInside(x, boundary, x[v])) return absl::StrCat("surface vertex ", v - shift, " lies outside");
  }
  return "";
}

}  // namespace eipc
