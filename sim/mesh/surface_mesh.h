#ifndef EIPC_SIM_MESH_SURFACE_MESH_H_
#define EIPC_SIM_MESH_SURFACE_MESH_H_

#include <vector>

#include "absl/status/statusor.h"
#include "sim/base/types.h"

namespace eipc {

// Immutable triangle mesh: rest positions (m), triangles (counter-clockwise from outside), and its unique edges (i < j, sorted).
class SurfaceMesh {
 public:
  SurfaceMesh() = default;

  // Checks finiteness, index ranges, degenerate (zero-area, repeated-index) triangles; the error names the first bad indices.
  // Open and non-manifold surfaces are allowed here; IsClosed says whether they enclose a volume.
  static absl::StatusOr<SurfaceMesh> Create(std::vector<Vec3> vertices, std::vector<Triangle> triangles);

  const std::vector<Vec3>& vertices() const { return vertices_; }
  const std::vector<Triangle>& triangles() const { return triangles_; }
  const std::vector<Edge>& edges() const { return edges_; }

  // Every edge has exactly two triangles, oppositely oriented.
  bool IsClosed() const;
  // Signed volume by the divergence theorem, m^3; positive for a closed outward-oriented surface.
  double SignedVolume() const;

 private:
  std::vector<Vec3> vertices_;
  std::vector<Triangle> triangles_;
  std::vector<Edge> edges_;
};

}  // namespace eipc

#endif  // EIPC_SIM_MESH_SURFACE_MESH_H_
