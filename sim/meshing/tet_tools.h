#ifndef EIPC_SIM_MESHING_TET_TOOLS_H_
#define EIPC_SIM_MESHING_TET_TOOLS_H_

#include <vector>

#include "sim/base/types.h"

namespace eipc {

// Orders vertices lexicographically and drops those no tet uses; turns each tet so that its smallest index comes first, then sorts
// the tets. Orientation is kept. Meshers that agree on the mesh then agree on every byte.
void SortMesh(std::vector<Vec3>* vertices, std::vector<Tet>* tets);

// Smallest and largest dihedral angle of a tet, degrees.
struct DihedralRange {
  double min_deg = 180;
  double max_deg = 0;
};
DihedralRange Dihedrals(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d);
DihedralRange Dihedrals(const std::vector<Vec3>& vertices, const std::vector<Tet>& tets);

}  // namespace eipc

#endif  // EIPC_SIM_MESHING_TET_TOOLS_H_
