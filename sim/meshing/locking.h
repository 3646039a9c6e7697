#ifndef EIPC_SIM_MESHING_LOCKING_H_
#define EIPC_SIM_MESHING_LOCKING_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/base/interrupt.h"
#include "sim/mesh/embedding.h"
#include "sim/mesh/surface_mesh.h"
#include "sim/mesh/tet_mesh.h"

namespace eipc {

// Finer cages are about as fine as the reference: nothing is to be done about them.
inline constexpr size_t kMostCalibratedVertices = 400;

// A coarse cage of linear tetrahedra has few degrees of freedom, so it resists more than the object does. How much, by static loads
// on the surface in linear elasticity: the ratio of the cage's stiffness to that of a reference mesh, under the same
// self-equilibrated forces f on the same surface points: (f . u_reference) / (f . u_cage), 1 when nothing locks.
struct LockingCase {
  std::string name;         // squeeze_x, bend_xy (along x, towards y), twist_z, ...; axes are the bounding box's
  bool calibrates = false;  // else held out
  double as_is = 0;
  double calibrated = 0;
};

// The remedy: the cage's material. Young's modulus scaled and Poisson's ratio chosen so that the stiffness ratios of the
// calibrating cases spread least about a geometric mean of 1. Mass and collision surface stay; the subspace stays.
struct Locking {
  std::vector<LockingCase> cases;
  int reference_vertices = 0;
  double youngs_scale = 1;
  double poissons_ratio = 0;
  // Geometric mean over the held-out cases of max(ratio, 1 / ratio).
  double held_out_as_is = 1;
  double held_out_calibrated = 1;
  // The remedy brings the held-out cases closer to the reference.
  bool helps() const { return held_out_calibrated < held_out_as_is; }
};

// `reference`: the object's own tetrahedral mesh; null: a body-centred cubic lattice of about 800 vertices around the surface, its
// tets weighted by the solid in them. Deterministic. INVALID_ARGUMENT when either does not enclose the surface. `interrupt`, which
// ends it with its status, may be null.
absl::StatusOr<Locking> MeasureLocking(const TetMesh& cage, const SurfaceMesh& surface, const TetMesh* reference,
                                       double poissons_ratio, Interrupt* interrupt = nullptr);

// How far a cage's forces are off at a given deflection, as it is: the stiffness ratio of a LockingCase minus 1.
struct CageError {
  struct Load {
    std::string name;
    double error = 0;
  };
  std::vector<Load> loads;
  int reference_vertices = 0;
  // Of the loads' absolute errors; 0 without loads.
  double median() const;
  const Load* worst() const;
};

// Under the loads of MeasureLocking. `reference` null: a lattice of eight times the cage's vertices, at least 800 and at most
// 8,000; a cage finer than that lattice compares with something as coarse as itself. INVALID_ARGUMENT as MeasureLocking.
absl::StatusOr<CageError> MeasureCageError(const TetMesh& cage, const SurfaceMesh& surface, const TetMesh* reference,
                                           double poissons_ratio);

// The same in the condensed coarse space: of the fine model's stiffness, condensed onto the cage (condense.h). INVALID_ARGUMENT for
// more than kMostCondensedVertices vertices too; INTERNAL as Condense.
absl::StatusOr<CageError> MeasureCondensedError(const TetMesh& cage, const SurfaceMesh& surface, const TetMesh* reference,
                                                double poissons_ratio);

// MeasureCageError's result from a measured Locking of that cage, where both compare with the same reference; else none.
// `by_own_tets`: it was measured against the object's own tetrahedra.
std::optional<CageError> ErrorKnownFrom(const Locking& locking, const TetMesh& cage, bool by_own_tets);

}  // namespace eipc

#endif  // EIPC_SIM_MESHING_LOCKING_H_
