#ifndef EIPC_SIM_MESHING_STATIC_STIFFNESS_H_
#define EIPC_SIM_MESHING_STATIC_STIFFNESS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "sim/mesh/surface_mesh.h"
#include "sim/mesh/tet_mesh.h"

namespace eipc {

// Forces on the vertices of a surface, N. In sum without force and moment.
using SurfaceLoad = std::vector<Vec3>;

// Compliances f . u of static loads on an embedded body in linear elasticity with Young's modulus 1 and `poissons_ratio`; linear
// tets weighted by the solid inside them.
absl::StatusOr<std::vector<double>> Compliances(const TetMesh& cage, const SurfaceMesh& surface,
                                                const std::vector<SurfaceLoad>& loads, double poissons_ratio);

}  // namespace eipc

#endif  // EIPC_SIM_MESHING_STATIC_STIFFNESS_H_
