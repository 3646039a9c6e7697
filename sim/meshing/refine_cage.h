#ifndef EIPC_SIM_MESHING_REFINE_CAGE_H_
#define EIPC_SIM_MESHING_REFINE_CAGE_H_

#include "sim/mesh/mesh_data.h"

namespace eipc {

// Halves the longest edges, and with them every tet around them, until the mesh has `vertices` vertices: the space it fills stays
// the same. Of equally long edges the one with the smaller indices goes first.
MeshData SplitLongestEdges(const MeshData& cage, int vertices);

}  // namespace eipc

#endif  // EIPC_SIM_MESHING_REFINE_CAGE_H_
