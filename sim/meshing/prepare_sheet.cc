#include "sim/meshing/prepare_sheet.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "sim/audit/audit.h"
#include "sim/base/status_macros.h"
#include "sim/mesh/used_vertices.h"
#include "sim/meshing/cage_quality.h"
#include "sim/meshing/check_input.h"
#include "sim/meshing/repair_steps.h"
#include "sim/meshing/sheet_steps.h"

namespace eipc {
namespace {

// Vertices of borders within this share of the mean edge of each other are one: the sides of a seam.
constexpr double kSeam = 0.02;
constexpr double kMostVertices = 200000;
// Bending that is off by more than this, in the mean, is noted.
constexpr double kBendingNote = 0.1;
constexpr double kNeedle = 15;     // degrees
constexpr double kShorter = 0.94;  // mean edge of a remeshed sheet over what was asked for, as measured

double AngleAt(const Vec3& a, const Vec3& b, const Vec3& c) {
  const Vec3 u = b - a, v = c - a;
  return std::atan2(u.cross(v).norm(), u.dot(v)) * 180 / M_PI;
}

double AreaOf(const MeshData& mesh) {
  double area = 0;
  for (const Triangle& t : mesh.triangles) {
    area += 0.5 * (mesh.vertices[t[1]] - mesh.vertices[t[0]]).cross(mesh.vertices[t[2]] - mesh.vertices[t[0]]).norm();
  }
  return area;
}

double MeanEdge(const MeshData& mesh) {
  double sum = 0;
  for (const Triangle& t : mesh.triangles) {
    for (int k = 0; k < 3; ++k) sum += (mesh.vertices[t[k]] - mesh.vertices[t[(k + 1) % 3]]).norm();
  }
  return sum / (3.0 * static_cast<double>(mesh.triangles.size()));
}

absl::Status CheckApart(const SurfaceMesh& mesh) {
  const std::vector<int32_t> body(mesh.triangles().size(), 0);
  const std::vector<uint8_t> enabled = {1};
  const AuditReport audit = AuditSurfaces({&mesh.vertices(), &mesh.triangles(), &body, 1, &enabled}, false, 1);
  if (audit.clean()) return absl::OkStatus();
  const Vec3& p = mesh.vertices()[mesh.triangles()[audit.intersections[0].first][0]];
  return absl::InvalidArgumentError(absl::StrFormat(
      "the sheet passes through or touches itself in %d pairs of triangles, the first near (%.4g, %.4g, %.4g) m; part its layers",
      audit.intersection_count, p.x(), p.y(), p.z()));
}

class Preparer {
 public:
  Preparer(const MeshData& file, const SheetOptions& options, const MeshingProgress& progress)
      : file_(file), options_(options), progress_(progress) {}

  absl::StatusOr<PreparedSheet> Run() {
    EIPC_RETURN_IF_ERROR(Report(progress_, "checking the sheet", 0));
    if (!file_.tets.empty()) {
      return absl::InvalidArgumentError("a shell needs triangles; this file has tetrahedra (leave --shell out for a solid)");
    }
    EIPC_RETURN_IF_ERROR(CheckIndices(file_));
    EIPC_RETURN_IF_ERROR(CheckSize(WithoutUnusedVertices(file_)));
    out_.findings = FindProblems(file_);
    EIPC_ASSIGN_OR_RETURN(MeshData mesh, Weld());
    EIPC_RETURN_IF_ERROR(CheckManifold(mesh));
    EIPC_ASSIGN_OR_RETURN(const int turned, OrientSheet(&mesh));
    Note(turned, "triangles turned to wind as their neighbours do");
    const MeshData original = mesh;
    if (!options_.keep_triangles) {
      EIPC_ASSIGN_OR_RETURN(mesh, Remesh(mesh));
    }
    if (mesh.triangles.empty()) return TooCoarse();
    EIPC_ASSIGN_OR_RETURN(out_.surface, SurfaceMesh::Create(mesh.vertices, mesh.triangles));
    EIPC_RETURN_IF_ERROR(CheckApart(out_.surface));
    EIPC_RETURN_IF_ERROR(Measure(mesh));
    EIPC_RETURN_IF_ERROR(Report(progress_, "measuring the distance to the original", 0.9));
    out_.distance = DistanceBetween(mesh, original);
    SetNote();
    return std::move(out_);
  }

 private:
  void Note(int64_t count, const char* what) {
    if (count > 0) out_.steps.push_back(absl::StrCat(count, " ", what));
  }

  absl::StatusOr<MeshData> Weld() {
    MeshData clean = CleanSoup(file_);
    if (clean.triangles.empty()) {
      return absl::InvalidArgumentError(absl::StrCat("none of the file's ", file_.triangles.size(), " triangles has an area"));
    }
    Note(out_.findings.duplicate_triangles, "repeated triangles dropped");
    Note(out_.findings.degenerate_triangles, "collapsed triangles dropped");
    Note(out_.findings.vertices - out_.findings.unused_vertices - out_.findings.welded_vertices,
         "vertices at the place of another made one with it");
    MeshData welded = WeldBorders(clean, kSeam * MeanEdge(clean));
    Note(static_cast<int64_t>(clean.vertices.size() - welded.vertices.size()), "vertices of borders welded along seams");
    // Nothing was to be done: the file's order stays.
    if (welded.vertices.size() == file_.vertices.size() && welded.triangles.size() == file_.triangles.size()) return file_;
    return welded;
  }

  absl::StatusOr<MeshData> Remesh(const MeshData& mesh) {
    const double area = AreaOf(mesh);
    // A vertex has two triangles of sqrt(3) / 4 times the edge's square.
    out_.edge_m = options_.edge_m > 0 ? options_.edge_m : std::sqrt(2 * area / (std::sqrt(3.0) * options_.vertices)) / kShorter;
    const double vertices = 2 * area / (std::sqrt(3.0) * out_.edge_m * out_.edge_m);
    if (vertices > kMostVertices) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "edges of %.3g m would make %.3g vertices, more than %.3g; make them longer", out_.edge_m, vertices, kMostVertices));
    }
    if (options_.thickness_m > out_.edge_m) {
      return absl::InvalidArgumentError(
          absl::StrFormat("the thickness, %.3g m, is more than the edges, %.3g m; make the edges longer (--edge, or fewer "
                          "--vertices) or the sheet thinner",
                          options_.thickness_m, out_.edge_m));
    }
    EIPC_RETURN_IF_ERROR(Report(progress_, "remeshing", 0.1));
    EIPC_ASSIGN_OR_RETURN(MeshData made, RemeshSheet(mesh, out_.edge_m));
    if (std::abs(AreaOf(made) / area - 1) > kAreaLost) return TooCoarse();
    out_.remeshed = true;
    out_.steps.push_back(absl::StrFormat("remeshed from %d to %d triangles with edges of %.3g m", mesh.triangles.size(),
                                         made.triangles.size(), out_.edge_m));
    return made;
  }

  absl::Status TooCoarse() const {
    return absl::InvalidArgumentError(absl::StrFormat(
        "edges of %.3g m are too long for this sheet: more than a twentieth of its area is lost; make them shorter", out_.edge_m));
  }

  absl::Status Measure(const MeshData& mesh) {
    out_.area_m2 = AreaOf(mesh);
    out_.mean_edge_m = 0;
    out_.shortest_edge_m = INFINITY;
    for (const Edge& e : out_.surface.edges()) {
      const double length = (mesh.vertices[e[1]] - mesh.vertices[e[0]]).norm();
      out_.mean_edge_m += length / static_cast<double>(out_.surface.edges().size());
      out_.shortest_edge_m = std::min(out_.shortest_edge_m, length);
      out_.longest_edge_m = std::max(out_.longest_edge_m, length);
    }
    out_.least_angle_deg = 60;
    for (const Triangle& t : mesh.triangles) {
      const Vec3 &a = mesh.vertices[t[0]], &b = mesh.vertices[t[1]], &c = mesh.vertices[t[2]];
      const double least = std::min({AngleAt(a, b, c), AngleAt(b, c, a), AngleAt(c, a, b)});
      out_.least_angle_deg = std::min(out_.least_angle_deg, least);
      out_.mean_least_angle_deg += least / static_cast<double>(mesh.triangles.size());
    }
    out_.components = CountComponents(mesh.vertices.size(), mesh.triangles);
    out_.borders = CountBorders(mesh);
    out_.bending = MeasureBending(mesh.vertices, mesh.triangles);
    if (options_.thickness_m > out_.mean_edge_m) {
      return absl::InvalidArgumentError(
          absl::StrFormat("the thickness, %.3g m, is more than the mean edge, %.3g m; make the mesh coarser or the sheet thinner",
                          options_.thickness_m, out_.mean_edge_m));
    }
    return absl::OkStatus();
  }

  void SetNote() {
    std::vector<std::string> notes;
    if (std::abs(out_.bending.stiffness_ratio - 1) > kBendingNote) {
      notes.push_back(absl::StrFormat(
          "bending of this mesh is off by a factor of about %.2f, and refinement does not mend it; remesh it, or scale "
          "bending_stiffness_nm by its inverse",
          out_.bending.stiffness_ratio));
    }
    if (out_.least_angle_deg < kNeedle) {
      notes.push_back(absl::StrFormat("a triangle has an angle of %.1f degrees", out_.least_angle_deg));
    }
    if (out_.components > 1) {
      notes.push_back(absl::StrFormat("%d parts that are not joined", out_.components));
    }
    for (const std::string& note : notes) absl::StrAppend(&out_.note, out_.note.empty() ? "" : "; ", note);
  }

  static constexpr double kAreaLost = 0.05;
  const MeshData& file_;
  const SheetOptions& options_;
  const MeshingProgress& progress_;
  PreparedSheet out_;
};

}  // namespace

absl::StatusOr<PreparedSheet> PrepareSheet(const MeshData& file, const SheetOptions& options, const MeshingProgress& progress) {
  if (!(options.thickness_m > 0)) {
    return absl::InvalidArgumentError(absl::StrFormat("the thickness must be > 0, got %g", options.thickness_m));
  }
  return Preparer(file, options, progress).Run();
}

}  // namespace eipc
