#ifndef EIPC_SIM_MESHING_FINE_MODEL_H_
#define EIPC_SIM_MESHING_FINE_MODEL_H_

#include <Eigen/SparseCore>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/base/interrupt.h"
#include "sim/mesh/surface_mesh.h"
#include "sim/mesh/tet_mesh.h"

namespace eipc {

// An object in linear tetrahedra that are weighted by the solid inside them: what a cage is compared with and condensed from.
struct FineModel {
  TetMesh mesh;
  std::vector<double> volume;  // of the solid in each tetrahedron, m^3; at least a thousandth of the tetrahedron
  bool by_own_tets = false;
};

// A body-centred cubic lattice of about this many vertices around the surface. `interrupt`, which ends this and what is below with
// its status, may be null.
absl::StatusOr<TetMesh> ReferenceLattice(const SurfaceMesh& surface, int vertices, Interrupt* interrupt = nullptr);
// INVALID_ARGUMENT when the mesh does not enclose the surface.
absl::StatusOr<FineModel> WeighedBySolid(TetMesh mesh, const SurfaceMesh& surface, Interrupt* interrupt = nullptr);

// Vertices of the lattice that a cage is compared with: eight times the cage's, at least 800 and at most 8,000.
int LatticeFor(const TetMesh& cage);

// Of linear elasticity, 3 rows a vertex: sum over tetrahedra of V (lambda g_a g_b^T + mu (g_b g_a^T + (g_a . g_b) I)), N/m for
// moduli in Pa.
Eigen::SparseMatrix<double> LinearStiffness(const TetMesh& mesh, const std::vector<double>& volume, double lambda, double mu);

}  // namespace eipc

#endif  // EIPC_SIM_MESHING_FINE_MODEL_H_
