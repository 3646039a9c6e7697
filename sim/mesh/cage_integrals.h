#ifndef EIPC_SIM_MESH_CAGE_INTEGRALS_H_
#define EIPC_SIM_MESH_CAGE_INTEGRALS_H_

#include <array>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/base/interrupt.h"
#include "sim/mesh/surface_mesh.h"
#include "sim/mesh/tet_mesh.h"

namespace eipc {

// How the solid inside a closed surface distributes over the cage: all integrals are over T n solid, exact.
struct CageIntegrals {
  // Volume of the solid inside each cage tet, m^3.
  std::vector<double> elastic_volume;
  // Per tet, the 4x4 consistent matrix of integral N_a N_b dV (m^3), row-major; times density gives mass.
  std::vector<std::array<double, 16>> shape_product;
};

// Cage tets clipped by the solid inside `surface` (closed, oriented outward). INVALID_ARGUMENT when it is not, or leaves the cage.
// `interrupt`, which ends it with its status, may be null.
absl::StatusOr<CageIntegrals> IntegrateSolidOverCage(const TetMesh& cage, const SurfaceMesh& surface,
                                                     Interrupt* interrupt = nullptr);
// The cage is the solid itself (full-space bodies): closed forms.
CageIntegrals IntegrateFullTets(const TetMesh& mesh);

}  // namespace eipc

#endif  // EIPC_SIM_MESH_CAGE_INTEGRALS_H_
