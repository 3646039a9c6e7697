#ifndef EIPC_SIM_MESHING_MESH_IMPLICIT_H_
#define EIPC_SIM_MESHING_MESH_IMPLICIT_H_

#include <functional>

#include "absl/status/statusor.h"
#include "sim/base/types.h"
#include "sim/mesh/tet_mesh.h"

namespace eipc {

// Sizes in metres; 0 leaves a size free.
struct ImplicitCriteria {
  // Least angle of a boundary triangle, degrees (at most 30, or refinement may not end).
  double facet_angle_deg = 25;
  // Largest circumradius of a boundary triangle's surface ball, and its largest distance to the surface.
  double facet_size_m = 0;
  double facet_distance_m = 0;
  // Largest ratio of a tet's circumradius to its shortest edge (above 2), and largest circumradius.
  double cell_radius_edge_ratio = 3;
  double cell_size_m = 0;
  // How closely surface points are found, as a share of the ball's radius.
  double relative_error = 1e-6;
  // Move vertices until every dihedral angle is above 12 degrees, or none can be improved. May take seconds.
  bool remove_slivers = true;
};

// Tetrahedra that fill { x : value(x) < 0 }, whose surface lies inside the ball (center, radius) and whose center has a negative
// value (restricted Delaunay refinement and sliver removal: Boissonnat and Oudot 2005; Cheng et al. 2000; CGAL's Mesh_3).
// Deterministic: a function of its input only, vertices and tets in lexicographic order.
// INVALID_ARGUMENT when the center is not inside or the solid reaches beyond the ball; UNIMPLEMENTED in a build without the GPL
// parts.
absl::StatusOr<TetMesh> MeshImplicit(const std::function<double(const Vec3&)>& value, const Vec3& center, double radius,
                                     const ImplicitCriteria& criteria);

}  // namespace eipc

#endif  // EIPC_SIM_MESHING_MESH_IMPLICIT_H_
