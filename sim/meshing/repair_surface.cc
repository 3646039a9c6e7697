#include "sim/meshing/repair_surface.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "sim/audit/audit.h"
#include "sim/audit/nesting.h"
#include "sim/base/status_macros.h"
#include "sim/mesh/used_vertices.h"
#include "sim/meshing/repair_steps.h"

namespace eipc {
namespace {

// Alpha of the wraps that are tried, and their offset, as shares of the bounding box's diagonal. Fine ones first for a closed
// surface; an open one is sealed by a coarse one.
constexpr double kFineAlpha = 1.0 / 60;
constexpr double kCoarseAlpha = 1.0 / 20;
constexpr double kOffset = 1.0 / 600;
// A wrap that slipped through a hole lines the inside: its solid is a skin of about twice the offset.
constexpr double kSkin = 6;

double Area(const MeshData& mesh) {
  double area = 0;
  for (const Triangle& t : mesh.triangles) {
    area += 0.5 * (mesh.vertices[t[1]] - mesh.vertices[t[0]]).cross(mesh.vertices[t[2]] - mesh.vertices[t[0]]).norm();
  }
  return area;
}

double Volume(const MeshData& mesh) {
  double volume = 0;
  for (const Triangle& t : mesh.triangles) volume += mesh.vertices[t[0]].dot(mesh.vertices[t[1]].cross(mesh.vertices[t[2]])) / 6;
  return volume;
}

class Repairer {
 public:
  Repairer(const MeshData& input, const MeshFindings& findings, const RepairOptions& options, const MeshingProgress& progress)
      : input_(input),
        findings_(findings),
        options_(options),
        progress_(progress),
        diagonal_((findings.high - findings.low).norm()) {}

  absl::StatusOr<RepairedSurface> Run() {
    EIPC_ASSIGN_OR_RETURN(MeshData mesh, MakeSolid());
    if (static_cast<int64_t>(mesh.triangles.size()) > options_.max_faces) {
      EIPC_ASSIGN_OR_RETURN(mesh, DecimateSolid(mesh));
    }
    EIPC_RETURN_IF_ERROR(Report(progress_, "measuring the distance to the original", 0.9));
    out_.distance = DistanceBetween(mesh, input_);
    EIPC_ASSIGN_OR_RETURN(out_.surface, SurfaceMesh::Create(std::move(mesh.vertices), std::move(mesh.triangles)));
    return std::move(out_);
  }

 private:
  absl::StatusOr<MeshData> MakeSolid() {
    EIPC_RETURN_IF_ERROR(Report(progress_, "checking the surface", 0));
    if (WhyNotSolid(input_).empty()) {
      out_.method = "kept";
      return input_;
    }
    MeshData clean = CleanSoup(input_);
    if (clean.triangles.size() < 4) {
      return absl::InvalidArgumentError(
          absl::StrCat("only ", clean.triangles.size(), " usable triangles: nothing with a volume; is this the right file?"));
    }
    Note(findings_.duplicate_triangles, "repeated triangles dropped");
    Note(findings_.degenerate_triangles, "collapsed triangles dropped");
    if (WhyNotSolid(clean).empty()) {
      out_.method = "cleaned";
      return clean;
    }
    if (Volume(clean) < 0 && findings_.closed()) {
      for (Triangle& t : clean.triangles) std::swap(t[1], t[2]);
      if (WhyNotSolid(clean).empty()) {
        Note("all triangles turned outward");
        out_.method = "cleaned";
        return clean;
      }
    }
    EIPC_RETURN_IF_ERROR(Report(progress_, "stitching and filling holes", 0.1));
    for (const double share : {0.0, 1e-6, 1e-5, 1e-4, 1e-3}) {
      const MeshData welded = share == 0 ? clean : WeldSoup(clean, share * diagonal_);
      if (share > 0 && welded.vertices.size() == clean.vertices.size()) continue;
      std::optional<MeshData> repaired = Repair(welded);
      if (!repaired) continue;
      if (share > 0) Note(absl::StrFormat("vertices within %.2g m of each other made one", share * diagonal_));
      return *std::move(repaired);
    }
    return Wrap(clean);
  }

  void Note(std::string step) { out_.steps.push_back(std::move(step)); }
  void Note(int64_t count, const char* what) {
    if (count > 0) Note(absl::StrCat(count, " ", what));
  }

  std::optional<MeshData> Repair(const MeshData& clean) {
    const absl::StatusOr<SoupRepair> soup = RepairSoup(clean, options_.max_hole_share * diagonal_);
    if (!soup.ok() || soup->holes_left > 0) return std::nullopt;
    const std::string problem = WhyNotSolid(soup->mesh);
    std::optional<MeshData> done;
    if (problem.empty()) done = soup->mesh;
    if (!done && findings_.self_intersections > 0 && findings_.self_intersections < findings_.triangles / 20 + 5) {
      const absl::StatusOr<MeshData> cut = RemoveSelfIntersections(soup->mesh);
      if (cut.ok() && WhyNotSolid(*cut).empty()) done = *cut;
    }
    // What a local repair loses must be small: it may drop whole parts.
    if (done && DistanceBetween(*done, clean).max_from_second > 0.02 * diagonal_) done.reset();
    if (!done) return std::nullopt;
    Note(findings_.misoriented_edges + findings_.nonmanifold_edges, "edges with misoriented or too many triangles put in order");
    Note(soup->holes_filled, "holes filled");
    if (!problem.empty())
      Note(absl::StrCat(findings_.self_intersections, " self-intersecting pairs of triangles cut out and refilled"));
    out_.method = "repaired";
    return done;
  }

  absl::StatusOr<MeshData> Wrap(const MeshData& clean) {
    const double offset = kOffset * diagonal_;
    std::optional<MeshData> best;
    double best_alpha = 0;
    for (const double alpha : {kFineAlpha, kCoarseAlpha, 2 * kCoarseAlpha}) {
      EIPC_RETURN_IF_ERROR(Report(progress_, absl::StrFormat("wrapping, alpha %.3g m", alpha * diagonal_), 0.3));
      absl::StatusOr<MeshData> wrap = WrapSoup(clean, alpha * diagonal_, offset);
      if (!wrap.ok() || !WhyNotSolid(*wrap).empty()) continue;
      const bool skin = Volume(*wrap) < kSkin * offset * Area(*wrap) / 2;
      const bool was_best = best.has_value();
      // A skin is kept only where a coarser wrap finds no more to fill: then the input is a sheet.
      if (!best || Volume(*wrap) > 2 * Volume(*best)) {
        best = *std::move(wrap);
        best_alpha = alpha * diagonal_;
      }
      if (!skin && !was_best) break;
    }
    if (!best) {
      return absl::InvalidArgumentError(
          "no closed surface could be made of these triangles, not even by wrapping them; export a closed mesh");
    }
    Note(absl::StrFormat("wrapped: gaps below %.3g m closed, surface %.3g m outside the original", best_alpha, offset));
    out_.method = "wrapped";
    return *std::move(best);
  }

  absl::StatusOr<MeshData> DecimateSolid(const MeshData& mesh) {
    const double count = static_cast<double>(mesh.triangles.size());
    for (double target = static_cast<double>(options_.max_faces); target < count; target *= 1.5) {
      EIPC_RETURN_IF_ERROR(Report(progress_, "decimating", 0.6));
      absl::StatusOr<MeshData> fewer = Decimate(mesh, static_cast<int64_t>(target));
      if (!fewer.ok() || !WhyNotSolid(*fewer).empty()) continue;
      Note(absl::StrFormat("decimated from %d to %d triangles", mesh.triangles.size(), fewer->triangles.size()));
      out_.decimated = true;
      return fewer;
    }
    Note("not decimated: every try crossed itself");
    return mesh;
  }

  const MeshData& input_;
  const MeshFindings& findings_;
  const RepairOptions& options_;
  const MeshingProgress& progress_;
  double diagonal_;
  RepairedSurface out_;
};

}  // namespace

std::string WhyNotSolid(const MeshData& mesh) {
  if (mesh.triangles.empty()) return "no triangles";
  const auto surface = SurfaceMesh::Create(mesh.vertices, mesh.triangles);
  if (!surface.ok()) return std::string(surface.status().message());
  if (!surface->IsClosed()) return "not closed";
  if (!(surface->SignedVolume() > 0)) return "turned inside out";
  const std::vector<int32_t> body(mesh.triangles.size(), 0);
  const std::vector<uint8_t> enabled = {1};
  if (!AuditSurfaces({&mesh.vertices, &mesh.triangles, &body, 1, &enabled}, false, 1).clean()) return "crosses itself";
  return "";
}

absl::StatusOr<RepairedSurface> RepairSurface(const MeshData& mesh, const MeshFindings& findings, const RepairOptions& options,
                                              const MeshingProgress& progress) {
  const MeshData triangles = WithoutUnusedVertices(TrianglesOf(mesh));
  return Repairer(triangles, findings, options, progress).Run();
}

}  // namespace eipc
