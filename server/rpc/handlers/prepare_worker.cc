#include "server/rpc/handlers/prepare_worker.h"

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <new>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "server/convert/mesh_convert.h"
#include "server/convert/scene_meshes.h"
#include "server/os/child_process.h"
#include "sim/base/status_macros.h"
#include "sim/meshing/affine_suggestion.h"
#include "sim/meshing/auto_cage.h"
#include "sim/meshing/prepare_sheet.h"
#include "sim/scene/coarse_space.h"
#include "sim/scene/problems.h"
#include "sim/scene/sheet_start.h"

namespace eipc::rpc {
namespace {

// The child's words: how far it is (a line of standard error), and what it made or why not (standard output).
constexpr char kShare[] = "P ";
constexpr char kMade[] = "M";
constexpr char kFailed[] = "F";

void FillPrepared(const AutoCage& made, v1::PreparedMesh* out) {
  const SurfaceMesh& surface = made.repaired.surface;
  MeshData cage;
  cage.vertices = made.cage.vertices();
  cage.tets = made.cage.tets();
  MeshToProto({surface.vertices(), {}, surface.triangles()}, out->mutable_body()->mutable_surface());
  MeshToProto(cage, out->mutable_body()->mutable_cage_mesh());
  out->set_repair(made.repaired.method);
  for (const std::string& step : made.repaired.steps) out->add_repair_steps(step);
  out->set_mean_distance_m(made.repaired.distance.mean);
  out->set_max_distance_m(made.repaired.distance.max);
  out->set_min_dihedral_deg(made.quality.min_dihedral_deg);
  out->set_volume_ratio(made.quality.volume_ratio);
  out->set_shared_gap_tets(made.quality.shared_gap_tets);
  out->set_note(made.note);
}

void FillPrepared(const PreparedSheet& made, double thickness_m, v1::PreparedMesh* out) {
  v1::PreparedShell& shell = *out->mutable_shell();
  MeshToProto({made.surface.vertices(), {}, made.surface.triangles()}, shell.mutable_body()->mutable_mesh());
  shell.mutable_body()->set_thickness_m(thickness_m);
  shell.set_shortest_edge_m(made.shortest_edge_m);
  shell.set_mean_edge_m(made.mean_edge_m);
  shell.set_longest_edge_m(made.longest_edge_m);
  shell.set_least_angle_deg(made.least_angle_deg);
  shell.set_mean_least_angle_deg(made.mean_least_angle_deg);
  shell.set_area_m2(made.area_m2);
  shell.set_components(made.components);
  shell.set_borders(made.borders);
  shell.set_bending_stiffness_ratio(made.bending.stiffness_ratio);
  shell.set_bending_wrong_share(made.bending.wrong_share);
  out->set_repair(made.method());
  for (const std::string& step : made.steps) out->add_repair_steps(step);
  out->set_mean_distance_m(made.distance.mean);
  out->set_max_distance_m(made.distance.max);
  out->set_note(made.note);
}

// The status as the child sends it.
std::string Pack(const absl::StatusOr<v1::PreparedMesh>& made) {
  if (made.ok()) return absl::StrCat(kMade, made->SerializeAsString());
  return absl::StrCat(kFailed, static_cast<int>(made.status().code()), " ", made.status().message());
}

absl::StatusOr<v1::PreparedMesh> Unpack(const std::string& output) {
  v1::PreparedMesh made;
  if (output.rfind(kMade, 0) == 0 && made.ParseFromString(output.substr(1))) return made;
  const size_t space = output.find(' ');
  int code = 0;
  if (output.rfind(kFailed, 0) == 0 && space != std::string::npos && absl::SimpleAtoi(output.substr(1, space - 1), &code) &&
      code > 0) {
    return absl::Status(static_cast<absl::StatusCode>(code), output.substr(space + 1));
  }
  return absl::InternalError("the meshing process's answer cannot be read");
}

absl::Status OutOfMemory() {
  return absl::ResourceExhaustedError("MESH_TOO_LARGE: more memory needed than a mesh may take; simplify it first");
}

// What a mesh that cannot be used is answered with.
absl::Status MeshInvalid(const absl::Status& status) {
  return absl::IsInvalidArgument(status) ? absl::InvalidArgumentError(absl::StrCat("MESH_INVALID: ", status.message())) : status;
}

absl::StatusOr<v1::PreparedMesh> PrepareShell(const v1::PrepareShell& asked, const MeshData& mesh,
                                              const MeshingProgress& progress) {
  SheetOptions options;
  options.thickness_m = asked.thickness_m();
  options.edge_m = asked.edge_m();
  if (asked.vertices() > 0) options.vertices = asked.vertices();
  options.keep_triangles = asked.keep_triangles();
  const absl::StatusOr<PreparedSheet> made = PrepareSheet(mesh, options, progress);
  if (!made.ok()) return MeshInvalid(made.status());
  EIPC_RETURN_IF_ERROR(MeshInvalid(CheckSheetStart(made->surface, asked.thickness_m())));
  v1::PreparedMesh out;
  FillPrepared(*made, asked.thickness_m(), &out);
  return out;
}

}  // namespace

absl::StatusOr<v1::PreparedMesh> PrepareMesh(const v1::PrepareMeshRequest& request, const MeshingProgress& progress) {
  Problems problems;
  const MeshResolver no_files({"", "", true});
  const MeshData mesh = MeshReader(no_files).Read(request.mesh(), "mesh", &problems);
  if (!problems.empty()) return absl::InvalidArgumentError(absl::StrCat("MESH_INVALID: ", problems.ToStatus().message()));
  if (request.has_shell()) return PrepareShell(request.shell(), mesh, progress);
  AutoCageOptions options;
  if (request.cage_vertices() > 0) options.max_vertices = request.cage_vertices();
  if (request.max_triangles() > 0) options.repair.max_faces = request.max_triangles();
  const absl::StatusOr<AutoCage> made = MakeAutoCage(mesh, options, progress);
  if (!made.ok()) return MeshInvalid(made.status());
  v1::PreparedMesh out;
  FillPrepared(*made, &out);
  // Others are condensed.
  if (made->cage.vertices().size() > kMostVerticesCondensedByDefault || made->quality.solid_components > 1) {
    EIPC_RETURN_IF_ERROR(Report(progress, "measuring locking", 0.95));
    const double poissons_ratio = request.has_poissons_ratio() ? request.poissons_ratio() : kDefaultPoissonsRatio;
    const CageLocking locking = LockingOf(*made, mesh, poissons_ratio);
    if (locking.measured && locking.measured->helps()) {
      out.mutable_body()->mutable_calibration()->set_youngs_scale(locking.measured->youngs_scale);
      out.mutable_body()->mutable_calibration()->set_poissons_ratio(locking.measured->poissons_ratio);
    }
  }
  const AffineSuggestion affine =
      SuggestAffine(made->findings.high - made->findings.low,
                    request.youngs_modulus_pa() > 0 ? request.youngs_modulus_pa() : kDefaultYoungsModulusPa);
  out.set_affine_suggested(affine.affine);
  out.set_affine_reason(affine.reason);
  return out;
}

absl::StatusOr<v1::PreparedMesh> PrepareMeshInChild(const std::string& program, const v1::PrepareMeshRequest& request,
                                                    const StepBudget& budget, const ChildLimits& limits,
                                                    OperationRegistry::Progress* progress) {
  const auto heard = [progress](const std::string& line) {
    if (line.rfind(kShare, 0) != 0) return false;
    const size_t space = line.find(' ', sizeof(kShare) - 1);
    double share = 0;
    if (space != std::string::npos && absl::SimpleAtod(line.substr(2, space - 2), &share))
      progress->Set(share, line.substr(space + 1));
    return true;
  };
  EIPC_ASSIGN_OR_RETURN(const std::string output,
                        RunChild({program, "--prepare-worker"}, request.SerializeAsString(), limits, budget, heard));
  EIPC_RETURN_IF_ERROR(AddTo(limits.meter, 2 * static_cast<int64_t>(output.size())));
  return Unpack(output);
}

int RunPrepareWorker() {
  const std::string input((std::istreambuf_iterator<char>(std::cin)), std::istreambuf_iterator<char>());
  const MeshingProgress progress = [](const std::string& stage, double share) {
    std::fprintf(stderr, "%s%.4f %s\n", kShare, share, stage.c_str());
    return true;
  };
  std::string output;
  try {
    v1::PrepareMeshRequest request;
    if (!request.ParseFromString(input)) return 1;
    output = Pack(PrepareMesh(request, progress));
  } catch (const std::bad_alloc&) {
    output = Pack(OutOfMemory());
  }
  return std::fwrite(output.data(), 1, output.size(), stdout) == output.size() && std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace eipc::rpc
