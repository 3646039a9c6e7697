#ifndef EIPC_SIM_MESHING_AUTO_CAGE_H_
#define EIPC_SIM_MESHING_AUTO_CAGE_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "sim/mesh/mesh_data.h"
#include "sim/meshing/cage_quality.h"
#include "sim/meshing/locking.h"
#include "sim/meshing/progress.h"
#include "sim/meshing/repair_surface.h"

namespace eipc {

// The material of an object of which nothing is said.
inline constexpr double kDefaultYoungsModulusPa = 5e4;
inline constexpr double kDefaultPoissonsRatio = 0.45;

struct AutoCageOptions {
  // Most vertices of the cage, >= 4: 4 gives one tetrahedron (an affine body). A tetrahedral mesh that has no more is kept whole:
  // it is its own cage (J = I).
  int max_vertices = 60;
  RepairOptions repair;
};

// A mesh of any kind made ready for simulation.
struct AutoCage {
  MeshFindings findings;
  RepairedSurface repaired;
  TetMesh cage;
  CageQuality quality;
  bool full_mesh = false;  // the cage is the object's own mesh; its boundary is the surface
  std::string note;        // what falls short, in words; empty when nothing does
};

// Findings, repair, cage and its quality, for a mesh file's content in metres. Vertices that no cell uses are counted in the
// findings and then left out. Deterministic. INVALID_ARGUMENT says why there is none, CANCELLED.
absl::StatusOr<AutoCage> MakeAutoCage(const MeshData& file, const AutoCageOptions& options, const MeshingProgress& progress);

// How much stiffer than the object the cage is, and what helps.
struct CageLocking {
  std::optional<Locking> measured;  // none: `reason` says why
  bool by_own_tets = false;         // against the object's own tets, else against a lattice
  std::string reason;
};
// `file`: what the cage was made of.
CageLocking LockingOf(const AutoCage& cage, const MeshData& file, double poissons_ratio);

// How far the cage's forces are off.
struct FoundCageError {
  std::optional<CageError> measured;  // without loads (error 0) where the cage is the object's own mesh; none: `reason` says why
  bool by_own_tets = false;           // against the object's own tets, else against a lattice
  std::string reason;
};
// In the condensed coarse space.
FoundCageError CondensedErrorOf(const AutoCage& cage, const MeshData& file, double poissons_ratio);
// In the plain one. `locking`: what LockingOf found for the same, where that is known; it is not measured again where both have the
// same reference.
FoundCageError CageErrorOf(const AutoCage& cage, const MeshData& file, double poissons_ratio, const CageLocking& locking = {});

}  // namespace eipc

#endif  // EIPC_SIM_MESHING_AUTO_CAGE_H_
