#ifndef EIPC_SIM_MESH_MASS_PROPERTIES_H_
#define EIPC_SIM_MESH_MASS_PROPERTIES_H_

#include <vector>

#include "sim/base/types.h"

namespace eipc {

// Mass, centre of mass (m) and inertia tensor about it (kg m^2) of the homogeneous solid bounded by a closed surface
// (Mirtich-style exact polynomial integrals over signed tetrahedra).
struct MassProperties {
  double mass = 0;
  Vec3 center_of_mass = Vec3::Zero();
  Mat3 inertia = Mat3::Zero();
};
MassProperties SolidMassProperties(const std::vector<Vec3>& vertices, const std::vector<Triangle>& triangles, double density);

}  // namespace eipc

#endif  // EIPC_SIM_MESH_MASS_PROPERTIES_H_
