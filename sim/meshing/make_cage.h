#ifndef EIPC_SIM_MESHING_MAKE_CAGE_H_
#define EIPC_SIM_MESHING_MAKE_CAGE_H_

#include "absl/status/statusor.h"
#include "sim/base/interrupt.h"
#include "sim/mesh/surface_mesh.h"
#include "sim/mesh/tet_mesh.h"
#include "sim/meshing/progress.h"

namespace eipc {

struct CageOptions {
  // Most vertices the cage may have; >= 4. 4 gives one tetrahedron around the surface.
  int max_vertices = 34;
  // Searches for a cage in which the two sides of a gap share few tets: closer to the surface, and slower.
  bool part_gaps = false;
  // The cage is given up when this returns false,
  MeshingProgress progress = nullptr;
  // or when this is raised, with its status: it is polled within the stages too, though not within a mesh that CGAL makes (tens of
  // milliseconds). May be null.
  Interrupt* interrupt = nullptr;
};

// A coarse tetrahedral mesh that encloses a closed surface: every surface vertex lies strictly inside the union of its tets and no
// part of the surface leaves it (checked exactly). Uses the budget to 85 % where the quality of the tets allows. Deterministic.
// INVALID_ARGUMENT for an open surface, RESOURCE_EXHAUSTED for a budget below 4 vertices, CANCELLED.
absl::StatusOr<TetMesh> MakeCage(const SurfaceMesh& surface, const CageOptions& options);

}  // namespace eipc

#endif  // EIPC_SIM_MESHING_MAKE_CAGE_H_
