#ifndef EIPC_SIM_MESHING_MAKE_CAGE_H_
#define EIPC_SIM_MESHING_MAKE_CAGE_H_

#include "absl/status/statusor.h"
#include "sim/mesh/surface_mesh.h"
#include "sim/mesh/tet_mesh.h"

namespace eipc {

struct CageOptions {
  // Most vertices the cage may have; >= 4. 4 gives one tetrahedron around the surface.
  int max_vertices = 34;
};

// A coarse tetrahedral mesh that encloses a closed surface: every surface vertex lies strictly inside the union of its tets and no
// part of the surface leaves it (checked exactly). Deterministic. INVALID_ARGUMENT for an open surface, RESOURCE_EXHAUSTED when
// the budget cannot be met, with the smallest that can.
absl::StatusOr<TetMesh> MakeCage(const SurfaceMesh& surface, const CageOptions& options);

// One tetrahedron that encloses the points with margin (affine bodies).
TetMesh EnclosingTet(const std::vector<Vec3>& points);

}  // namespace eipc

#endif  // EIPC_SIM_MESHING_MAKE_CAGE_H_
