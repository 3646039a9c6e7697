#ifndef EIPC_SIM_MESHING_REPAIR_SURFACE_H_
#define EIPC_SIM_MESHING_REPAIR_SURFACE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/mesh/surface_mesh.h"
#include "sim/meshing/mesh_findings.h"
#include "sim/meshing/progress.h"
#include "sim/meshing/surface_distance.h"

namespace eipc {

struct RepairOptions {
  // Most triangles of the result; a surface that has more is decimated.
  int64_t max_faces = 20000;
  // Holes whose loop is longer than this share of the bounding box's diagonal are not filled but wrapped.
  double max_hole_share = 1.5;
};

// A surface fit for contact: closed, manifold, oriented outward, no two triangles meeting (exact).
struct RepairedSurface {
  SurfaceMesh surface;
  // What it took: "kept" (the user's surface to the last bit), "cleaned" (duplicates, collapsed triangles, orientation),
  // "repaired" (stitched, holes filled, self-intersections cut out), "wrapped".
  std::string method;
  std::vector<std::string> steps;  // in words, in order
  bool decimated = false;
  SurfaceDistance distance;  // first: the result; second: the input
};

// The least change that makes the triangles of `mesh` such a surface. INVALID_ARGUMENT when nothing with a volume can be made of
// it; CANCELLED.
absl::StatusOr<RepairedSurface> RepairSurface(const MeshData& mesh, const MeshFindings& findings, const RepairOptions& options,
                                              const MeshingProgress& progress);

// Exact: closed, oriented, of positive volume, no two triangles meet. Empty when so, else what is wrong.
std::string WhyNotSolid(const MeshData& mesh);

}  // namespace eipc

#endif  // EIPC_SIM_MESHING_REPAIR_SURFACE_H_
