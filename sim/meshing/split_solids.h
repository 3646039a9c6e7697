#ifndef EIPC_SIM_MESHING_SPLIT_SOLIDS_H_
#define EIPC_SIM_MESHING_SPLIT_SOLIDS_H_

#include <vector>

#include "sim/mesh/surface_mesh.h"

namespace eipc {

// The separate solids that a closed, oriented surface without self-intersections bounds, each with its cavities, in the order of
// their first vertices.
std::vector<SurfaceMesh> SplitSolids(const SurfaceMesh& surface);

}  // namespace eipc

#endif  // EIPC_SIM_MESHING_SPLIT_SOLIDS_H_
