#include <chrono>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "server/convert/mesh_convert.h"
#include "server/convert/scene_meshes.h"
#include "server/os/thread_scheduling.h"
#include "server/rpc/handlers/calls.h"
#include "server/rpc/handlers/operation_info.h"
#include "server/rpc/handlers/prepare_worker.h"
#include "sim/base/status_macros.h"
#include "sim/scene/problems.h"

namespace eipc::rpc {
namespace {

constexpr double kDefaultTimeoutS = 300;
constexpr double kMostTimeoutS = 3600;
constexpr size_t kMostTriangles = 2000000;

absl::Status Refused(const char* field, const char* rule) {
  return absl::InvalidArgumentError(absl::StrCat("INVALID_REQUEST: ", field, ": must be ", rule));
}

bool Between(double value, double low, double high) { return value >= low && value <= high; }

absl::Status CheckShell(const v1::PrepareMeshRequest& r) {
  const v1::PrepareShell& shell = r.shell();
  if (r.cage_vertices() != 0) return Refused("cage_vertices", "0 with a shell, which has no cage; give shell.vertices");
  if (r.max_triangles() != 0) return Refused("max_triangles", "0 with a shell; give shell.vertices or shell.edge_m");
  if (!Between(shell.thickness_m(), 1e-7, 10)) return Refused("shell.thickness_m", "in [1e-7, 10]");
  if (!(shell.edge_m() >= 0 && std::isfinite(shell.edge_m())))
    return Refused("shell.edge_m", "> 0, or 0 for that of shell.vertices");
  if (shell.vertices() != 0 && !Between(shell.vertices(), 4, 200000)) {
    return Refused("shell.vertices", "in [4, 200000], or 0 for 1000");
  }
  if (shell.edge_m() > 0 && shell.vertices() > 0) return Refused("shell.vertices", "0 where shell.edge_m is given");
  return absl::OkStatus();
}

absl::Status CheckPrepareRequest(const v1::PrepareMeshRequest& r) {
  if (!r.has_mesh()) return absl::InvalidArgumentError("INVALID_REQUEST: mesh: missing");
  if (r.has_shell()) EIPC_RETURN_IF_ERROR(CheckShell(r));
  if (r.cage_vertices() != 0 && !Between(r.cage_vertices(), 4, 20000))
    return Refused("cage_vertices", "in [4, 20000], or 0 for 60");
  if (r.max_triangles() != 0 && !Between(r.max_triangles(), 100, 200000)) {
    return Refused("max_triangles", "in [100, 200000], or 0 for 20000");
  }
  if (!(r.youngs_modulus_pa() >= 0 && std::isfinite(r.youngs_modulus_pa())))
    return Refused("youngs_modulus_pa", "> 0, or 0 for 5e4");
  if (!Between(r.poissons_ratio(), 0, 0.499)) return Refused("poissons_ratio", "in [0, 0.499]");
  if (!Between(r.timeout_s(), 0, kMostTimeoutS)) return Refused("timeout_s", "in [0, 3600]");
  return absl::OkStatus();
}

// The mesh as arrays, in metres: the child needs no files.
absl::Status ReadIntoArrays(Services& services, const std::string& tenant, MemoryMeter* meter, v1::PrepareMeshRequest* request) {
  EIPC_RETURN_IF_ERROR(TakeUpload(services, tenant, "mesh", meter, request->mutable_mesh()));
  Problems problems;
  MeshReader reader(services.meshes, {meter, services.limits.max_scene_vertices});
  const MeshData mesh = reader.Read(request->mesh(), "mesh", &problems);
  EIPC_RETURN_IF_ERROR(reader.status());
  if (!problems.empty()) return absl::InvalidArgumentError(absl::StrCat("MESH_INVALID: ", problems.ToStatus().message()));
  const size_t triangles = mesh.triangles.size() + 4 * mesh.tets.size();
  if (triangles > kMostTriangles) {
    return absl::InvalidArgumentError(absl::StrCat("MESH_INVALID: mesh: ", triangles, " triangles are more than the ",
                                                   kMostTriangles, " that are taken; decimate it"));
  }
  // As a message, and serialized for the child.
  EIPC_RETURN_IF_ERROR(AddTo(meter, 2 * mesh.bytes()));
  MeshToProto(mesh, request->mutable_mesh());
  return absl::OkStatus();
}

absl::StatusOr<std::string> Prepare(Services& services, const CallContext& call, const v1::PrepareMeshRequest& held,
                                    OperationRegistry::Progress* progress) {
  progress->Set(0, "waiting for a job slot");
  const BatchScheduling turns;
  EIPC_ASSIGN_OR_RETURN(const SolveSlots::Slot slot, services.jobs.Take(call.claim(), call.budget));
  progress->Set(0, "reading the mesh");
  RequestMemory memory(&services.memory, "preparing the mesh");
  EIPC_RETURN_IF_ERROR(memory.Add(static_cast<int64_t>(held.SpaceUsedLong())));
  v1::PrepareMeshRequest request = held;
  EIPC_RETURN_IF_ERROR(ReadIntoArrays(services, call.tenant, &memory, &request));
  if (!services.cage_program.empty()) {
    EIPC_ASSIGN_OR_RETURN(const v1::PreparedMesh made, PrepareMeshInChild(services.cage_program, request, call.budget,
                                                                          services.LimitsOfChildren(&memory), progress));
    return made.SerializeAsString();
  }
  const auto report = [&](const std::string& stage, double share) {
    progress->Set(share, stage);
    return call.budget.Poll().ok();
  };
  const absl::StatusOr<v1::PreparedMesh> made = PrepareMesh(request, report);
  if (absl::IsCancelled(made.status())) EIPC_RETURN_IF_ERROR(call.budget.Poll());
  if (!made.ok()) return made.status();
  return made->SerializeAsString();
}

}  // namespace

absl::Status StartPrepareMesh(Services& services, const CallContext& context, const v1::PrepareMeshRequest& request,
                              v1::Operation* response) {
  EIPC_RETURN_IF_ERROR(CheckPrepareRequest(request));
  const double timeout = request.timeout_s() > 0 ? request.timeout_s() : kDefaultTimeoutS;
  EIPC_ASSIGN_OR_RETURN(const auto held, HoldRequest(services, context.tenant, request));
  const auto job = [&services, held, timeout](const CallContext& call,
                                              OperationRegistry::Progress* progress) -> absl::StatusOr<std::string> {
    using Clock = std::chrono::steady_clock;
    CallContext timed = call;
    timed.budget.deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(timeout));
    absl::StatusOr<std::string> made = Prepare(services, timed, held->request, progress);
    if (absl::IsDeadlineExceeded(made.status())) {
      return absl::DeadlineExceededError(
          absl::StrCat("not done within ", timeout, " s; simplify the mesh, ask for fewer vertices, or raise timeout_s"));
    }
    if (absl::IsCancelled(made.status())) return absl::CancelledError("cancelled; nothing is kept");
    return made;
  };
  return StartOperation(services, context, kPrepareMeshKind, JobEffect::kAudited, job, response);
}

}  // namespace eipc::rpc
