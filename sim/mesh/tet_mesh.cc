#include "sim/mesh/tet_mesh.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "sim/mesh/index_errors.h"

namespace eipc {
namespace {

// Faces of a positively oriented tet, counter-clockwise seen from outside.
constexpr int kFaces[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

double SixVolumes(const std::vector<Vec3>& x, const Tet& t) {
  return (x[t[1]] - x[t[0]]).dot((x[t[2]] - x[t[0]]).cross(x[t[3]] - x[t[0]]));
}

bool HasRepeatedIndex(const Tet& t) {
  return t[0] == t[1] || t[0] == t[2] || t[0] == t[3] || t[1] == t[2] || t[1] == t[3] || t[2] == t[3];
}

}  // namespace

absl::StatusOr<TetMesh> TetMesh::Create(std::vector<Vec3> vertices, std::vector<Tet> tets) {
  if (vertices.empty() || tets.empty()) return absl::InvalidArgumentError("a tetrahedral mesh needs vertices and tetrahedra");
  IndexErrors non_finite, out_of_range, repeated, inverted, flat;
  for (size_t v = 0; v < vertices.size(); ++v) {
    if (!vertices[v].allFinite()) non_finite.Add(v);
  }
  EIPC_RETURN_IF_ERROR(non_finite.ToStatus("vertices", "have a coordinate that is not finite"));
  for (size_t t = 0; t < tets.size(); ++t) {
    if (!AllInRange(tets[t], vertices.size())) {
      out_of_range.Add(t);
    } else if (HasRepeatedIndex(tets[t])) {
      repeated.Add(t);
    } else {
      const double volume = SixVolumes(vertices, tets[t]);
      if (volume < 0) inverted.Add(t);
      if (!(volume > 0) && !(volume < 0)) flat.Add(t);
    }
  }
  EIPC_RETURN_IF_ERROR(out_of_range.ToStatus("tetrahedra", absl::StrCat("refer to vertices outside 0..", vertices.size() - 1)));
  EIPC_RETURN_IF_ERROR(repeated.ToStatus("tetrahedra", "repeat a vertex"));
  EIPC_RETURN_IF_ERROR(flat.ToStatus("tetrahedra", "have no volume"));
  EIPC_RETURN_IF_ERROR(
      inverted.ToStatus("tetrahedra", "are inverted (negative volume; swap two of their vertices if the whole mesh is wound so)"));
  TetMesh mesh;
  mesh.vertices_ = std::move(vertices);
  mesh.tets_ = std::move(tets);
  return mesh;
}

double TetMesh::Volume(int t) const { return SixVolumes(vertices_, tets_[t]) / 6.0; }

double TetMesh::TotalVolume() const {
  double sum = 0;
  for (size_t t = 0; t < tets_.size(); ++t) sum += Volume(static_cast<int>(t));
  return sum;
}

std::vector<Triangle> TetMesh::BoundaryTriangles() const {
  struct Face {
    Triangle key;
    Triangle oriented;
    size_t order;
  };
  std::vector<Face> faces;
  faces.reserve(4 * tets_.size());
  for (const Tet& tet : tets_) {
    for (const auto& f : kFaces) {
      const Triangle oriented = {tet[f[0]], tet[f[1]], tet[f[2]]};
      Triangle key = oriented;
      std::sort(key.begin(), key.end());
      faces.push_back({key, oriented, faces.size()});
    }
  }
  std::sort(faces.begin(), faces.end(),
            [](const Face& a, const Face& b) { return a.key != b.key ? a.key < b.key : a.order < b.order; });
  std::vector<Face> single;
  for (size_t i = 0; i < faces.size();) {
    size_t end = i + 1;
    while (end < faces.size() && faces[end].key == faces[i].key) ++end;
    if (end == i + 1) single.push_back(faces[i]);
    i = end;
  }
  std::sort(single.begin(), single.end(), [](const Face& a, const Face& b) { return a.order < b.order; });
  std::vector<Triangle> triangles;
  triangles.reserve(single.size());
  for (const Face& face : single) triangles.push_back(face.oriented);
  return triangles;
}

}  // namespace eipc
