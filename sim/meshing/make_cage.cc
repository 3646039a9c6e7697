#include "sim/meshing/make_cage.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "absl/strings/str_cat.h"
#include "sim/base/status_macros.h"
#include "sim/mesh/cage_integrals.h"
#include "sim/mesh/embedding.h"
#include "sim/meshing/cage_gaps.h"
#include "sim/meshing/cage_shaper.h"
#include "sim/meshing/distance_grid.h"
#include "sim/meshing/enclosing_tet.h"
#include "sim/meshing/enclosure.h"
#include "sim/meshing/lattice.h"
#include "sim/meshing/mesh_implicit.h"
#include "sim/meshing/refine_cage.h"
#include "sim/meshing/solid_in_tets.h"
#include "sim/meshing/tet_tools.h"
#include "sim/meshing/triangle_tree.h"

namespace eipc {
namespace {

// How many of the best raw candidates are shaped, and how long.
constexpr size_t kShaped = 6;
constexpr int kShapingPasses = 10;
// Candidates with fewer vertices than this share of the budget are only kept while there is no better one.
constexpr double kUsedShare = 0.6;
// A tet into which the solid reaches less deep (barycentric) counts as empty; a vertex needs a tet into which it reaches deeper
// than the second. A tet with less than this share of solid is poor.
constexpr double kEmptyDepth = 1e-9;
constexpr double kMassDepth = 1e-3;
constexpr double kPoorShare = 0.02;
// What a cage is worth less when all of its tets are shared by both sides of a gap.
constexpr double kGapPenalty = 3;
// Gap that shaping leaves to the surface, as a share of its bounding box's diagonal.
constexpr double kClearance = 0.004;
// Resolution at which the surface's distance is sampled, and the least offset that is tried, as a share of the diagonal; the second
// of each where gaps are to be parted.
constexpr int kGridCells[] = {40, 60};
constexpr double kLeastOffset[] = {1.0 / 60, 1.0 / 150};
// Dihedral angle below which a cage counts as badly shaped.
constexpr double kPoorDeg = 8;
// A cage with fewer vertices than this share of the budget is refined, and how often what refining empties is refined elsewhere.
constexpr double kRefineShare = 0.9;
constexpr int kRefinements = 6;
constexpr double kLeastRefinedDeg = 12;
constexpr double kLeastUsedShare = 0.85;
// Budgets above this are met by a lattice, which needs no shaping.
constexpr int kMostShaped = 600;

struct Candidate {
  MeshData cage;
  double score = 0;  // less is better
};

double VolumeOf(const MeshData& cage) {
  double six_volumes = 0;
  const std::vector<Vec3>& x = cage.vertices;
  for (const Tet& t : cage.tets) six_volumes += (x[t[1]] - x[t[0]]).dot((x[t[2]] - x[t[0]]).cross(x[t[3]] - x[t[0]]));
  return six_volumes / 6;
}

// Collects candidates for one surface and budget, and shapes the best of them.
class CageMaker {
 public:
  CageMaker(const SurfaceMesh& surface, const CageOptions& options)
      : surface_(surface),
        budget_(options.max_vertices),
        part_gaps_(options.part_gaps),
        progress_(options.progress),
        interrupt_(options.interrupt),
        tree_(surface.vertices(), surface.triangles()),
        enclosure_(surface, tree_),
        solid_volume_(surface.SignedVolume()) {
    low_ = high_ = surface.vertices()[surface.triangles()[0][0]];
    for (const Triangle& t : surface.triangles()) {
      for (const int32_t v : t) {
        low_ = low_.cwiseMin(surface.vertices()[v]);
        high_ = high_.cwiseMax(surface.vertices()[v]);
      }
    }
  }

  absl::StatusOr<MeshData> Make() {
    const Vec3 margin = Vec3::Constant((high_ - low_).norm() / 6);
    grid_.emplace(tree_, low_ - margin, high_ + margin, kGridCells[part_gaps_], interrupt_);
    EIPC_RETURN_IF_ERROR(Poll(interrupt_));
    if (budget_ > kMostShaped) {
      EIPC_RETURN_IF_ERROR(Report(progress_, "laying a lattice", 0.1));
      const std::optional<MeshData> lattice = FinestLattice();
      EIPC_RETURN_IF_ERROR(Poll(interrupt_));
      if (lattice) return *lattice;
    }
    EIPC_RETURN_IF_ERROR(AddOffsetMeshes());
    if (candidates_.empty()) EIPC_RETURN_IF_ERROR(AddLattices());
    SortCandidates();
    std::optional<Candidate> best;
    for (size_t i = 0; i < std::min(kShaped, candidates_.size()); ++i) {
      EIPC_RETURN_IF_ERROR(Poll(interrupt_));
      EIPC_RETURN_IF_ERROR(Report(progress_, "shaping", 0.5 + 0.4 * static_cast<double>(i) / kShaped));
      // Shaping checks each move locally; the whole is checked here, and pruned again where it left tets empty.
      if (!TakeIfBetter(Shaped(candidates_[i].cage), &best)) TakeIfBetter(candidates_[i].cage, &best);
    }
    const TetMesh one = EnclosingTet(surface_.vertices());
    MeshData cage = best ? best->cage : MeshData{one.vertices(), one.tets(), {}};
    EIPC_RETURN_IF_ERROR(Report(progress_, "refining", 0.9));
    cage = Refined(std::move(cage));
    EIPC_RETURN_IF_ERROR(Poll(interrupt_));
    // A body-centred cubic lattice meets any budget that is not tiny, less tightly.
    if (static_cast<double>(cage.vertices.size()) < kLeastUsedShare * budget_) {
      const std::optional<MeshData> lattice = FinestLattice();
      EIPC_RETURN_IF_ERROR(Poll(interrupt_));
      if (lattice && static_cast<double>(lattice->vertices.size()) >= kLeastUsedShare * budget_ &&
          VolumeOf(*lattice) < 1.5 * VolumeOf(cage)) {
        return *lattice;
      }
    }
    return cage;
  }

 private:
  // Tight cages deform like the object, and so do cages with more vertices; fewer vertices must buy tightness.
  double Score(const MeshData& cage) const {
    const double tightness = VolumeOf(cage) / solid_volume_;
    const double refinement = std::sqrt(static_cast<double>(budget_) / static_cast<double>(cage.vertices.size()));
    const double worst = Dihedrals(cage.vertices, cage.tets).min_deg;
    return tightness * refinement * (worst < kPoorDeg ? 1 + (kPoorDeg - worst) : 1);
  }

  MeshData Shaped(const MeshData& cage) const {
    CageShaper shaper(cage, enclosure_, tree_, *grid_, kClearance * (high_ - low_).norm());
    shaper.Shape(kShapingPasses, interrupt_);
    return WithoutEmptyTets(shaper.cage());
  }

  // Best first. What counts beyond the score is too costly for all of them: tets that both sides of a gap share.
  void SortCandidates() {
    const auto better = [](const Candidate& a, const Candidate& b) { return a.score < b.score; };
    std::stable_sort(candidates_.begin(), candidates_.end(), better);
    const size_t count = part_gaps_ ? std::min(2 * kShaped, candidates_.size()) : 0;
    for (size_t i = 0; i < count; ++i) candidates_[i].score *= GapPenalty(candidates_[i].cage);
    std::stable_sort(candidates_.begin(), candidates_.begin() + static_cast<int64_t>(count), better);
  }

  double GapPenalty(const MeshData& cage) const {
    if (!part_gaps_) return 1;
    return 1 +
           kGapPenalty * static_cast<double>(SharedGapTets(cage, surface_, tree_).size()) / static_cast<double>(cage.tets.size());
  }

  // False when the cage does not serve.
  bool TakeIfBetter(const MeshData& cage, std::optional<Candidate>* best) const {
    if (!enclosure_.WhyNot(cage).empty() || !EveryVertexHoldsMass(cage)) return false;
    // A tet with next to no solid has next to no stiffness to keep it from inverting: only where nothing else is to be had.
    double score = Score(cage) * GapPenalty(cage);
    for (const double share : SolidShares(cage)) score *= 1 + std::max(0.0, kPoorShare - share) / kPoorShare;
    if (!*best || score < (*best)->score) *best = {cage, score};
    return true;
  }

  MeshData WithoutEmptyTets(const MeshData& cage) const {
    std::vector<bool> holds;
    for (const double depth : SolidDepths(cage, surface_, tree_, kEmptyDepth)) holds.push_back(depth >= kEmptyDepth);
    return CageShaper::WithoutEmptyTets(cage, holds, interrupt_);
  }

  // The share of each tet that the solid fills; empty when the cage does not enclose it.
  std::vector<double> SolidShares(const MeshData& cage) const {
    std::vector<double> shares;
    const auto mesh = TetMesh::Create(cage.vertices, cage.tets);
    if (!mesh.ok()) return shares;
    const auto integrals = IntegrateSolidOverCage(*mesh, surface_, interrupt_);
    if (!integrals.ok()) return shares;
    for (size_t t = 0; t < cage.tets.size(); ++t)
      shares.push_back(integrals->elastic_volume[t] / mesh->Volume(static_cast<int>(t)));
    return shares;
  }

  // A vertex whose tets hold no solid has neither mass nor stiffness.
  bool EveryVertexHoldsMass(const MeshData& cage) const {
    const std::vector<double> depths = SolidDepths(cage, surface_, tree_, kMassDepth);
    std::vector<bool> has_mass(cage.vertices.size(), false);
    for (size_t t = 0; t < depths.size(); ++t) {
      for (const int32_t v : cage.tets[t]) has_mass[v] = has_mass[v] || depths[t] >= kMassDepth;
    }
    return std::all_of(has_mass.begin(), has_mass.end(), [](bool mass) { return mass; });
  }

  // Splits edges up to the budget and shapes again, as long as that serves. Where all of it does not, half of it may.
  MeshData Refined(MeshData cage) const {
    int target = budget_;
    for (int round = 0; round < kRefinements && !Raised(interrupt_); ++round) {
      const int count = static_cast<int>(cage.vertices.size());
      if (count >= kRefineShare * budget_ || target <= count) break;
      MeshData finer = Shaped(WithoutEmptyTets(SplitLongestEdges(cage, target)));
      const double least = std::min(Dihedrals(cage.vertices, cage.tets).min_deg, kLeastRefinedDeg);
      const bool serves = static_cast<int>(finer.vertices.size()) > count && enclosure_.WhyNot(finer).empty() &&
                          EveryVertexHoldsMass(finer) && Dihedrals(finer.vertices, finer.tets).min_deg >= least;
      target = serves ? budget_ : (count + target) / 2;
      if (serves) cage = std::move(finer);
    }
    return cage;
  }

  // The lattice with the most vertices within the budget.
  std::optional<MeshData> FinestLattice() const {
    const double diagonal = (high_ - low_).norm();
    std::optional<MeshData> best;
    double fine = diagonal / (4 * std::cbrt(static_cast<double>(budget_))), coarse = diagonal;
    for (int step = 0; step < 9 && !Raised(interrupt_); ++step) {
      const double cell = std::sqrt(fine * coarse);
      MeshData lattice = WithoutEmptyTets(LatticeAround(tree_, low_, high_, (low_ + high_) / 2, cell, interrupt_));
      if (static_cast<int>(lattice.vertices.size()) > budget_) {
        fine = cell;
        continue;
      }
      coarse = cell;
      if (enclosure_.WhyNot(lattice).empty() && EveryVertexHoldsMass(lattice) &&
          (!best || lattice.vertices.size() > best->vertices.size())) {
        best = std::move(lattice);
      }
    }
    return best;
  }

  void Consider(MeshData cage) {
    if (cage.tets.empty() || !enclosure_.WhyNot(cage).empty()) return;
    cage = WithoutEmptyTets(cage);
    if (static_cast<int>(cage.vertices.size()) > budget_ || !EveryVertexHoldsMass(cage)) return;
    if (!enclosure_.WhyNot(cage).empty()) return;
    const double score = Score(cage);
    candidates_.push_back({std::move(cage), score});
  }

  // The solid grown by `offset`, meshed coarsely. Facets of a coarse mesh cut corners, so each mesh is only a try.
  absl::Status AddOffsetMeshes() {
    const double diagonal = (high_ - low_).norm();
    const Vec3 middle = (low_ + high_) / 2;
    Vec3 inside = surface_.vertices()[surface_.triangles()[0][0]];
    for (const Triangle& t : surface_.triangles()) {
      const Vec3& p = surface_.vertices()[t[0]];
      if ((p - middle).squaredNorm() < (inside - middle).squaredNorm()) inside = p;
    }
    for (double offset = diagonal / 8; offset > kLeastOffset[part_gaps_] * diagonal; offset *= 0.8) {
      EIPC_RETURN_IF_ERROR(Report(progress_, "meshing offset surfaces", 0.5 * (1 - offset * 8 / diagonal)));
      const bool found = AddOffsetMeshesOf(offset, inside);
      EIPC_RETURN_IF_ERROR(Poll(interrupt_));
      if (!found) break;
    }
    return absl::OkStatus();
  }

  // Of the sizes, coarse to fine, the finest whose mesh is not far above the budget is found by bisection, and from there on
  // coarser ones are considered. False when there is none.
  bool AddOffsetMeshesOf(double offset, const Vec3& inside) {
    const double diagonal = (high_ - low_).norm();
    std::vector<double> sizes;
    for (double size = diagonal / 1.5; size > diagonal / 12; size *= 0.87) sizes.push_back(size);
    std::vector<std::optional<MeshData>> meshes(sizes.size());  // empty where there are too many vertices
    std::vector<bool> tried(sizes.size(), false);
    const auto serves = [&](int i) {
      if (!tried[i] && !Raised(interrupt_)) {
        tried[i] = true;
        const auto mesh = OffsetMesh(offset, sizes[i], inside);
        if (mesh.ok() && static_cast<int>(mesh->vertices().size()) <= budget_ * 5 / 4) {
          meshes[i] = MeshData{mesh->vertices(), mesh->tets(), {}};
        }
      }
      return meshes[i].has_value();
    };
    if (!serves(0)) return false;
    int coarse = 0, fine = static_cast<int>(sizes.size());
    while (fine - coarse > 1) {
      const int middle = (coarse + fine) / 2;
      (serves(middle) ? coarse : fine) = middle;
    }
    size_t last = 0;
    for (int i = coarse; i >= 0; --i) {
      if (!serves(i)) continue;
      const size_t count = meshes[i]->vertices.size();
      if (static_cast<double>(count) < kUsedShare * budget_ && !candidates_.empty()) break;
      if (count != last) Consider(*meshes[i]);  // else the distance bound alone shaped it
      last = count;
    }
    return true;
  }

  absl::StatusOr<TetMesh> OffsetMesh(double offset, double size, const Vec3& inside) const {
    ImplicitCriteria criteria;
    criteria.facet_size_m = size;
    criteria.cell_size_m = size;
    criteria.facet_distance_m = 0.8 * offset;
    criteria.remove_slivers = false;
    criteria.relative_error = 1e-3;
    return MeshImplicit([&](const Vec3& p) { return grid_->At(p) - offset; }, inside, 2 * (high_ - low_).norm(), criteria);
  }

  absl::Status AddLattices() {
    const double diagonal = (high_ - low_).norm();
    for (int shift = 0; shift < 8; ++shift) {
      const Vec3 share(shift & 1 ? 0.5 : 0.0, shift & 2 ? 0.5 : 0.0, shift & 4 ? 0.5 : 0.0);
      for (double cell = diagonal; cell > diagonal / 40; cell *= 0.93) {
        MeshData lattice = LatticeAround(tree_, low_, high_, (low_ + high_) / 2 + cell * share, cell, interrupt_);
        EIPC_RETURN_IF_ERROR(Poll(interrupt_));
        if (static_cast<int>(lattice.vertices.size()) > budget_ * 5 / 4) break;
        Consider(std::move(lattice));
      }
      EIPC_RETURN_IF_ERROR(Report(progress_, "laying lattices", shift / 16.0));
    }
    return absl::OkStatus();
  }

  const SurfaceMesh& surface_;
  int budget_;
  bool part_gaps_;
  const MeshingProgress& progress_;
  Interrupt* interrupt_;
  TriangleTree tree_;
  Enclosure enclosure_;
  double solid_volume_;
  Vec3 low_, high_;
  std::optional<DistanceGrid> grid_;
  std::vector<Candidate> candidates_;
};

}  // namespace

absl::StatusOr<TetMesh> MakeCage(const SurfaceMesh& surface, const CageOptions& options) {
  if (!surface.IsClosed())
    return absl::InvalidArgumentError("a cage needs a closed surface; this one has open or misoriented edges");
  if (!(surface.SignedVolume() > 0)) return absl::InvalidArgumentError("a cage needs a surface oriented outward");
  if (options.max_vertices < 4) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no cage has ", options.max_vertices, " vertices; the smallest is one tetrahedron: 4"));
  }
  if (options.max_vertices > 4) {
    absl::StatusOr<MeshData> cage = CageMaker(surface, options).Make();
    if (!cage.ok()) return cage.status();
    if (WhyNotEnclosed(*cage, surface).empty()) return TetMesh::Create(std::move(cage->vertices), std::move(cage->tets));
  }
  TetMesh one = EnclosingTet(surface.vertices());
  const std::string problem = WhyNotEnclosed({one.vertices(), one.tets(), {}}, surface);
  if (!problem.empty()) return absl::InternalError(absl::StrCat("the single tetrahedron does not enclose the surface: ", problem));
  return one;
}

}  // namespace eipc
