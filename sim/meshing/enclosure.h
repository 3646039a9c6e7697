#ifndef EIPC_SIM_MESHING_ENCLOSURE_H_
#define EIPC_SIM_MESHING_ENCLOSURE_H_

#include <string>

#include "sim/mesh/mesh_data.h"
#include "sim/mesh/surface_mesh.h"

namespace eipc {

// Decides exactly whether the tets form an embedded mesh (no tet inverted, boundary closed and free of self-intersections: then no
// two tets overlap) whose interior holds the whole surface: no surface triangle meets the boundary, and every component lies inside
// it. Empty when so, else what is wrong.
std::string WhyNotEnclosed(const MeshData& cage, const SurfaceMesh& surface);

}  // namespace eipc

#endif  // EIPC_SIM_MESHING_ENCLOSURE_H_
