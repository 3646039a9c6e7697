#ifndef EIPC_SIM_MESHING_SHEET_STEPS_H_
#define EIPC_SIM_MESHING_SHEET_STEPS_H_

// The steps of which PrepareSheet is made, over plain triangles.

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/mesh/mesh_data.h"

namespace eipc {

// Which vertices lie on an edge of one triangle.
std::vector<bool> BorderVertices(const MeshData& mesh);
// Moves each of them onto the first one within `distance_m` of it: the sides of a seam. Triangles that collapse are dropped.
MeshData WeldBorders(const MeshData& mesh, double distance_m);
// Closed loops of such edges.
int CountBorders(const MeshData& mesh);

// OK when every edge has at most two triangles and no vertex joins parts that share no edge there; else INVALID_ARGUMENT with the
// number and the first place.
absl::Status CheckManifold(const MeshData& mesh);

// Turns triangles so that neighbours wind alike, as most of each part do; the number that was turned. INVALID_ARGUMENT for a sheet
// of one side. CheckManifold must be OK.
absl::StatusOr<int> OrientSheet(MeshData* mesh);

// Nearly equilateral triangles with edges of this length by splits, collapses, flips and smoothing, projected onto the mesh
// (Botsch and Kobbelt 2004). Corners of borders, and edges at which the mesh turns by more than 40 degrees, stay. CGAL's;
// UNIMPLEMENTED without the GPL parts. INVALID_ARGUMENT for a mesh that is not an oriented manifold.
absl::StatusOr<MeshData> RemeshSheet(const MeshData& mesh, double edge_m);

}  // namespace eipc

#endif  // EIPC_SIM_MESHING_SHEET_STEPS_H_
