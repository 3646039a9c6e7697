#ifndef EIPC_SIM_MESHING_REPAIR_STEPS_H_
#define EIPC_SIM_MESHING_REPAIR_STEPS_H_

// The steps of which RepairSurface is made, over plain triangle soups. Each may fail on a mesh beyond help (a status), and none
// proves what it returns: that is RepairSurface's part. All but the first are CGAL's and UNIMPLEMENTED without the GPL parts.

#include <cstdint>

#include "absl/status/statusor.h"
#include "sim/mesh/mesh_data.h"

namespace eipc {

// Triangles only, vertices that are exactly equal made one, collapsed and repeated triangles and unused vertices dropped.
MeshData CleanSoup(const MeshData& mesh);

// The same after moving every vertex onto the first one within `distance_m` of it.
MeshData WeldSoup(const MeshData& mesh, double distance_m);

// Orients the triangles alike where that is possible, parts surfaces that touch in non-manifold edges or vertices, stitches borders
// that coincide, fills holes whose loop is at most `max_hole_m` long, and turns closed components so that they bound a volume.
struct SoupRepair {
  MeshData mesh;
  int holes_filled = 0;
  int holes_left = 0;
};
absl::StatusOr<SoupRepair> RepairSoup(const MeshData& mesh, double max_hole_m);

// Cuts out and refills neighbourhoods of self-intersections of a closed manifold mesh. What is left may still intersect.
absl::StatusOr<MeshData> RemoveSelfIntersections(const MeshData& mesh);

// A closed manifold surface around the soup that keeps a distance of about `offset_m` and does not enter gaps narrower than
// `alpha_m` (Portaneri et al. 2022).
absl::StatusOr<MeshData> WrapSoup(const MeshData& soup, double alpha_m, double offset_m);

// About `faces` triangles by edge collapse (Lindstrom and Turk 1998). Manifold meshes.
absl::StatusOr<MeshData> Decimate(const MeshData& mesh, int64_t faces);

}  // namespace eipc

#endif  // EIPC_SIM_MESHING_REPAIR_STEPS_H_
