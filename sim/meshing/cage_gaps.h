#ifndef EIPC_SIM_MESHING_CAGE_GAPS_H_
#define EIPC_SIM_MESHING_CAGE_GAPS_H_

#include "sim/mesh/surface_mesh.h"
#include "sim/mesh/tet_mesh.h"
#include "sim/meshing/triangle_tree.h"

namespace eipc {

// Tets in which the solid falls into parts that are not joined inside the tet, as when both sides of a gap share it: they can then
// not move apart. By sampling: patches of the surface inside a tet belong together when they share an edge there, or when a
// straight line between two of their points stays in the solid.
int CountSharedGapTets(const TetMesh& cage, const SurfaceMesh& surface, const TriangleTree& tree);

}  // namespace eipc

#endif  // EIPC_SIM_MESHING_CAGE_GAPS_H_
