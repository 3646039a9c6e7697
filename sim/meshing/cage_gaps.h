#ifndef EIPC_SIM_MESHING_CAGE_GAPS_H_
#define EIPC_SIM_MESHING_CAGE_GAPS_H_

#include <vector>

#include "sim/mesh/mesh_data.h"
#include "sim/mesh/surface_mesh.h"
#include "sim/meshing/triangle_tree.h"

namespace eipc {

// Tets in which both sides of a gap lie, so that they cannot move apart: the solid in the tet falls into parts that are not joined
// within the tet grown to twice its size about its centroid. (Parts joined that close by are one piece of material to a tet of this
// size: bumps of one wall that poke through the same face, or the two sides of a notch shallower than the tet.) Ascending.
// `tree` holds the surface's triangles. By sampling: two patches of the surface are joined where they share an edge, where the
// inward normal of one meets the other, or where a straight line between them stays in the solid, all within the grown tet.
std::vector<int32_t> SharedGapTets(const MeshData& cage, const SurfaceMesh& surface, const TriangleTree& tree);

}  // namespace eipc

#endif  // EIPC_SIM_MESHING_CAGE_GAPS_H_
