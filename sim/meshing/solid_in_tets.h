#ifndef EIPC_SIM_MESHING_SOLID_IN_TETS_H_
#define EIPC_SIM_MESHING_SOLID_IN_TETS_H_

#include <vector>

#include "sim/mesh/mesh_data.h"
#include "sim/mesh/surface_mesh.h"
#include "sim/meshing/triangle_tree.h"

namespace eipc {

// How deep the solid inside the surface reaches into each tet: the largest distance of a sampled point of the surface from the
// tet's faces, in barycentric coordinates (at most 0.25), 0 where the surface does not enter and the tet lies outside, 0.25 where
// it lies inside. Counting stops at `enough`. Floating point; far cheaper than integrating. `tree` holds the surface's triangles.
std::vector<double> SolidDepths(const MeshData& cage, const SurfaceMesh& surface, const TriangleTree& tree, double enough);

}  // namespace eipc

#endif  // EIPC_SIM_MESHING_SOLID_IN_TETS_H_
