#include "sim/meshing/auto_cage.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "sim/base/status_macros.h"
#include "sim/mesh/used_vertices.h"
#include "sim/meshing/cage_gaps.h"
#include "sim/meshing/check_input.h"
#include "sim/meshing/enclosure.h"
#include "sim/meshing/make_cage.h"
#include "sim/meshing/split_solids.h"
#include "sim/meshing/triangle_tree.h"

namespace eipc {
namespace {

constexpr double kUsedShare = 0.85;
constexpr double kGoodDeg = 10;
// How much larger a cage may be that shares no tet between the sides of gaps than one that shares all.
constexpr double kGapWeight = 3;

// Most objects have no gaps to part, and the quick search serves them.
absl::StatusOr<TetMesh> CageWithFewGaps(const SurfaceMesh& surface, int budget, const MeshingProgress& progress) {
  EIPC_ASSIGN_OR_RETURN(TetMesh cage, MakeCage(surface, {.max_vertices = budget, .progress = progress}));
  if (cage.tets().size() == 1) return cage;  // it moves as one
  const TriangleTree tree(surface.vertices(), surface.triangles());
  const auto gaps = [&](const TetMesh& c) { return SharedGapTets({c.vertices(), c.tets(), {}}, surface, tree).size(); };
  const size_t shared = gaps(cage);
  if (shared == 0) return cage;
  EIPC_ASSIGN_OR_RETURN(TetMesh parted, MakeCage(surface, {.max_vertices = budget, .part_gaps = true, .progress = progress}));
  const auto worth = [](const TetMesh& c, size_t count) {
    return c.TotalVolume() * (1 + kGapWeight * static_cast<double>(count) / static_cast<double>(c.tets().size()));
  };
  return worth(parted, gaps(parted)) < worth(cage, shared) ? std::move(parted) : std::move(cage);
}

// One cage a solid, each with a share of the budget, when they stay clear of each other.
absl::StatusOr<TetMesh> SeparateCages(const std::vector<SurfaceMesh>& solids, const SurfaceMesh& all, int budget,
                                      const MeshingProgress& progress) {
  if (static_cast<int>(solids.size()) * 4 > budget) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%d separate solids need at least %d cage vertices", solids.size(), 4 * solids.size()));
  }
  MeshData merged;
  const int share = budget / static_cast<int>(solids.size());
  for (const SurfaceMesh& solid : solids) {
    EIPC_ASSIGN_OR_RETURN(const TetMesh cage, CageWithFewGaps(solid, share, progress));
    const int32_t shift = static_cast<int32_t>(merged.vertices.size());
    merged.vertices.insert(merged.vertices.end(), cage.vertices().begin(), cage.vertices().end());
    for (const Tet& t : cage.tets()) merged.tets.push_back({t[0] + shift, t[1] + shift, t[2] + shift, t[3] + shift});
  }
  if (!WhyNotEnclosed(merged, all).empty()) return absl::InvalidArgumentError("the cages of the separate solids would overlap");
  return TetMesh::Create(std::move(merged.vertices), std::move(merged.tets));
}

// The object's own tets, when they are sound and few enough.
bool TakeFullMesh(const MeshData& mesh, const AutoCageOptions& options, AutoCage* out) {
  if (mesh.tets.empty() || out->findings.inverted_tets > 0) return false;
  if (static_cast<int>(mesh.vertices.size()) > options.max_vertices || out->repaired.method != "kept") return false;
  absl::StatusOr<TetMesh> tets = TetMesh::Create(mesh.vertices, mesh.tets);
  if (!tets.ok()) return false;
  out->cage = *std::move(tets);
  out->full_mesh = true;
  return true;
}

std::string Shortcomings(const AutoCage& cage, int budget) {
  std::vector<std::string> notes;
  const CageQuality& q = cage.quality;
  const int vertices = static_cast<int>(cage.cage.vertices().size());
  if (vertices < kUsedShare * budget && !cage.full_mesh) {
    notes.push_back(absl::StrFormat("%d of %d vertices used: more would make badly shaped or empty tetrahedra", vertices, budget));
  }
  if (q.min_dihedral_deg < kGoodDeg) notes.push_back(absl::StrFormat("smallest dihedral angle %.1f degrees", q.min_dihedral_deg));
  if (q.components != q.solid_components) {
    notes.push_back(absl::StrFormat("%d separate solids share %d cage components: they lie too close together for so few vertices",
                                    q.solid_components, q.components));
  }
  if (q.shared_gap_tets > 0) {
    notes.push_back(absl::StrFormat(
        "%d tetrahedra span a gap of the object, whose sides cannot move apart there; more vertices part them", q.shared_gap_tets));
  }
  std::string text;
  for (const std::string& note : notes) absl::StrAppend(&text, text.empty() ? "" : "; ", note);
  return text;
}

}  // namespace

absl::StatusOr<AutoCage> MakeAutoCage(const MeshData& file, const AutoCageOptions& options, const MeshingProgress& progress) {
  AutoCage out;
  EIPC_RETURN_IF_ERROR(Report(progress, "checking the mesh", 0));
  EIPC_RETURN_IF_ERROR(CheckIndices(file));
  const MeshData mesh = WithoutUnusedVertices(file);
  EIPC_RETURN_IF_ERROR(CheckSize(mesh));
  out.findings = FindProblems(file);
  const auto part = [&progress](double begin, double end) -> MeshingProgress {
    if (!progress) return nullptr;
    return
        [&progress, begin, end](const std::string& stage, double share) { return progress(stage, begin + share * (end - begin)); };
  };
  EIPC_ASSIGN_OR_RETURN(out.repaired, RepairSurface(mesh, out.findings, options.repair, part(0.05, 0.3)));
  const SurfaceMesh& surface = out.repaired.surface;
  if (!TakeFullMesh(mesh, options, &out)) {
    const std::vector<SurfaceMesh> solids = SplitSolids(surface);
    bool separate = false;
    if (solids.size() > 1) {
      absl::StatusOr<TetMesh> cages = SeparateCages(solids, surface, options.max_vertices, part(0.3, 0.6));
      if (absl::IsCancelled(cages.status())) return cages.status();
      separate = cages.ok();
      if (separate) out.cage = *std::move(cages);
    }
    if (!separate) {
      EIPC_ASSIGN_OR_RETURN(out.cage, CageWithFewGaps(surface, options.max_vertices, part(0.3, 0.9)));
    }
  }
  EIPC_RETURN_IF_ERROR(Report(progress, "measuring the cage", 0.9));
  out.quality = MeasureCage(out.cage, surface);
  if (out.full_mesh) out.quality.enclosed = true;  // its boundary is the surface
  if (!out.quality.enclosed) return absl::InternalError("the cage does not enclose the surface");
  out.note = Shortcomings(out, options.max_vertices);
  return out;
}

namespace {

constexpr char kOneTet[] = "one tetrahedron: an affine body does not bend";

// The object's own tets, where the surface is their boundary as it was.
std::optional<TetMesh> OwnTets(const AutoCage& cage, const MeshData& file) {
  const bool own =
      !file.tets.empty() && cage.findings.inverted_tets == 0 && cage.repaired.method == "kept" && !cage.repaired.decimated;
  if (!own) return std::nullopt;
  absl::StatusOr<TetMesh> tets = TetMeshOfUsed(file);
  if (!tets.ok()) return std::nullopt;
  return *std::move(tets);
}

// Measures against the object's own tets where there are some and they serve, else against a lattice.
template <typename Result, typename Measure>
Result AgainstTheObject(const AutoCage& cage, const MeshData& file, double poissons_ratio, const Measure& measure) {
  Result out;
  const std::optional<TetMesh> own = OwnTets(cage, file);
  auto measured = measure(cage.cage, cage.repaired.surface, own ? &*own : nullptr, poissons_ratio);
  out.by_own_tets = own && measured.ok();
  if (own && !measured.ok()) measured = measure(cage.cage, cage.repaired.surface, nullptr, poissons_ratio);
  if (measured.ok()) {
    out.measured = *std::move(measured);
  } else {
    out.reason = std::string(measured.status().message());
  }
  return out;
}

}  // namespace

CageLocking LockingOf(const AutoCage& cage, const MeshData& file, double poissons_ratio) {
  if (cage.full_mesh) return {std::nullopt, true, "the object's own mesh: nothing to compare with"};
  if (cage.cage.tets().size() == 1) return {std::nullopt, false, kOneTet};
  if (cage.cage.vertices().size() > kMostCalibratedVertices) return {std::nullopt, false, "a cage this fine is taken as it is"};
  const auto measure = [](const TetMesh& of, const SurfaceMesh& surface, const TetMesh* reference, double ratio) {
    return MeasureLocking(of, surface, reference, ratio);
  };
  return AgainstTheObject<CageLocking>(cage, file, poissons_ratio, measure);
}

FoundCageError CageErrorOf(const AutoCage& cage, const MeshData& file, double poissons_ratio, const CageLocking& locking) {
  if (cage.full_mesh) return {CageError{{}, static_cast<int>(cage.cage.vertices().size())}, true, "the object's own mesh"};
  if (cage.cage.tets().size() == 1) return {std::nullopt, false, kOneTet};
  if (locking.measured && (locking.by_own_tets || !OwnTets(cage, file))) {
    std::optional<CageError> known = ErrorKnownFrom(*locking.measured, cage.cage, locking.by_own_tets);
    if (known) return {std::move(known), locking.by_own_tets, ""};
  }
  return AgainstTheObject<FoundCageError>(cage, file, poissons_ratio, MeasureCageError);
}

FoundCageError CondensedErrorOf(const AutoCage& cage, const MeshData& file, double poissons_ratio) {
  if (cage.full_mesh) return {CageError{{}, static_cast<int>(cage.cage.vertices().size())}, true, "the object's own mesh"};
  if (cage.cage.tets().size() == 1) return {std::nullopt, false, kOneTet};
  return AgainstTheObject<FoundCageError>(cage, file, poissons_ratio, MeasureCondensedError);
}

}  // namespace eipc
