#include "sim/meshing/enclosing_tet.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace eipc {

// The smallest regular tetrahedron with these face normals n_i that holds the points, grown by 5 %. The normals sum to zero and
// sum n_i n_i^T = 4/3 I, so for face offsets h_i its centre is 3/4 sum h_i n_i, its inradius r = sum h_i / 4, its corners c - 3 r
// n_i.
TetMesh EnclosingTet(const std::vector<Vec3>& points) {
  const double s = 1 / std::sqrt(3.0);
  const std::array<Vec3, 4> normals = {Vec3(s, s, s), Vec3(s, -s, -s), Vec3(-s, s, -s), Vec3(-s, -s, s)};
  if (points.empty()) return TetMesh();
  const Vec3 origin = points[0];
  Vec3 center = Vec3::Zero();
  double inradius = 0, size = 0;
  for (const Vec3& n : normals) {
    double offset = 0;
    for (const Vec3& p : points) {
      offset = std::max(offset, n.dot(p - origin));
      size = std::max(size, p.cwiseAbs().maxCoeff());
    }
    center += 0.75 * offset * n;
    inradius += offset / 4;
  }
  inradius = 1.05 * inradius + std::max(1e-9, 1e-12 * size);
  std::vector<Vec3> corners;
  for (const Vec3& n : normals) corners.push_back(origin + center - 3 * inradius * n);
  absl::StatusOr<TetMesh> tet = TetMesh::Create(corners, {{0, 1, 2, 3}});
  if (!tet.ok()) tet = TetMesh::Create(corners, {{0, 2, 1, 3}});
  return tet.ok() ? *std::move(tet) : TetMesh();
}

}  // namespace eipc
