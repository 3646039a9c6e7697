#ifndef EIPC_SIM_MESHING_ENCLOSING_TET_H_
#define EIPC_SIM_MESHING_ENCLOSING_TET_H_

#include <vector>

#include "sim/base/types.h"
#include "sim/mesh/tet_mesh.h"

namespace eipc {

// One tetrahedron that encloses the points with margin (affine bodies).
TetMesh EnclosingTet(const std::vector<Vec3>& points);

}  // namespace eipc

#endif  // EIPC_SIM_MESHING_ENCLOSING_TET_H_
