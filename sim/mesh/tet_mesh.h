#ifndef EIPC_SIM_MESH_TET_MESH_H_
#define EIPC_SIM_MESH_TET_MESH_H_

#include <vector>

#include "absl/status/statusor.h"
#include "sim/base/types.h"

namespace eipc {

// Immutable tetrahedral mesh: rest positions (m) and positively oriented tets (det[x1-x0, x2-x0, x3-x0] > 0).
class TetMesh {
 public:
  TetMesh() = default;

  // Checks finiteness, index ranges, repeated indices, and that every tet has positive volume; the error names the first bad
  // indices.
  static absl::StatusOr<TetMesh> Create(std::vector<Vec3> vertices, std::vector<Tet> tets);

  const std::vector<Vec3>& vertices() const { return vertices_; }
  const std::vector<Tet>& tets() const { return tets_; }

  // Volume of tet t, m^3.
  double Volume(int t) const;
  double TotalVolume() const;

  // Triangles that belong to exactly one tet, oriented outward, in a deterministic order.
  std::vector<Triangle> BoundaryTriangles() const;

 private:
  std::vector<Vec3> vertices_;
  std::vector<Tet> tets_;
};

}  // namespace eipc

#endif  // EIPC_SIM_MESH_TET_MESH_H_
