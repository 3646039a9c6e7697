#ifndef EIPC_SIM_MESHING_CONDENSE_H_
#define EIPC_SIM_MESHING_CONDENSE_H_

#include <cstddef>

#include "absl/status/statusor.h"
#include "sim/base/interrupt.h"
#include "sim/mesh/condensed_stiffness.h"
#include "sim/mesh/surface_mesh.h"
#include "sim/mesh/tet_mesh.h"

namespace eipc {

// Clusters of an object, and parts of all its clusters together but for rounding.
inline constexpr int kMostCondensedClusters = 8, kMostCondensedParts = 192;
// Every vertex of a condensed cage is coupled with every other: 3 MB a cluster and a dense factor with this many.
inline constexpr size_t kMostCondensedVertices = 200;
// Of an object's own tetrahedra; where they have more, a lattice stands for them.
inline constexpr size_t kMostOwnFineVertices = 4000;

struct ElasticModuli {
  double youngs_modulus_pa = 0;
  double poissons_ratio = 0;
};

// The stiffness of the object's fine model condensed onto the cage: the least energy 1/2 x^T K_f x of a fine displacement x whose
// projection is the cage's displacement q,
//
//   K* = (P K_f^+ P^T)^-1 = sum_c K_c,   K_c = sum over the fine tetrahedra t of cluster c of X_t^T K_t X_t,
//   X = K_f^+ P^T K*,   P = (sum_s w_s N_s N_s^T + L)^-1 sum_s w_s N_s n_s^T,
//
// s the sample points of the object, w their weights, N the cage's linear shape functions there and n the fine model's: P projects
// with least squares, and leaves affine motions as they are. L keeps the gradients of neighbouring cage tetrahedra alike where the
// object hardly reaches and does nothing elsewhere. Clusters, and the parts of them that have the law of the material, are grown
// around centres that lie as far from each other as they can.
//
// `own`: the object's own tetrahedra, whose boundary is the surface; null, or where they are many or of fewer than twice as many
// vertices as the cage without being it, a lattice (fine_model.h).
// Deterministic. INVALID_ARGUMENT when the cage does not enclose the surface, or the fine model is of several pieces, which would
// be held together by nothing; INTERNAL when a matrix cannot be factored. `interrupt`, which ends it with its status, may be null.
absl::StatusOr<CondensedStiffness> Condense(const TetMesh& cage, const SurfaceMesh& surface, const TetMesh* own,
                                            const ElasticModuli& moduli, Interrupt* interrupt = nullptr);

}  // namespace eipc

#endif  // EIPC_SIM_MESHING_CONDENSE_H_
