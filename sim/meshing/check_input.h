#ifndef EIPC_SIM_MESHING_CHECK_INPUT_H_
#define EIPC_SIM_MESHING_CHECK_INPUT_H_

#include "absl/status/status.h"
#include "sim/mesh/mesh_data.h"

namespace eipc {

// What meshes that strangers give must hold before anything else is made of them. INVALID_ARGUMENT says what does not.

// That tetrahedra and triangles are of vertices that there are.
absl::Status CheckIndices(const MeshData& mesh);
// That the vertices, of which all count, are finite, within 1e6 m of the origin, and of an extent of 1e-6 m at least: beyond that
// products of a few coordinates leave what doubles can hold.
absl::Status CheckSize(const MeshData& mesh);

}  // namespace eipc

#endif  // EIPC_SIM_MESHING_CHECK_INPUT_H_
