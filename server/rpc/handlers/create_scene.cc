#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/convert/scene_convert.h"
#include "server/convert/scene_meshes.h"
#include "server/rpc/handlers/cage_worker.h"
#include "server/rpc/handlers/calls.h"
#include "server/rpc/handlers/scene_info.h"
#include "server/session/turns.h"
#include "sim/base/status_macros.h"
#include "sim/scene/compile_scene.h"

namespace eipc::rpc {
namespace {

// The problems of a scene, under a reason of their own.
absl::Status InvalidScene(const absl::Status& status) {
  if (!absl::IsInvalidArgument(status)) return status;
  return absl::InvalidArgumentError(absl::StrCat("SCENE_INVALID: the scene cannot be simulated:\n", status.message()));
}

// Puts uploaded meshes into the scene, which then needs nothing else: neither recordings nor journals ask for uploads again.
absl::Status TakeUploads(Services& services, const std::string& tenant, v1::Scene* scene) {
  absl::Status status;
  ForEachMesh(scene, [&](v1::Mesh* mesh, const std::string& path) {
    if (status.ok()) status = TakeUpload(services, tenant, path, mesh);
  });
  return status;
}

void Say(OperationRegistry::Progress* progress, double done, const char* stage) {
  if (progress != nullptr) progress->Set(done, stage);
}

}  // namespace

absl::Status TakeUpload(Services& services, const std::string& tenant, const std::string& path, v1::Mesh* mesh) {
  if (mesh->source_case() != v1::Mesh::kFile || !absl::StartsWith(mesh->file(), kUploadPrefix)) return absl::OkStatus();
  const auto upload = services.uploads.Find(tenant, mesh->file());
  if (!upload.ok()) return absl::Status(upload.status().code(), absl::StrCat(upload.status().message(), " (", path, ")"));
  mesh->mutable_contents()->set_file_name((*upload)->file_name);
  mesh->mutable_contents()->set_data((*upload)->data);
  return absl::OkStatus();
}

absl::Status MakeScene(Services& services, const CallContext& context, const v1::CreateSceneRequest& request,
                       OperationRegistry::Progress* progress, v1::SceneInfo* response) {
  if (!request.has_scene()) return absl::InvalidArgumentError("INVALID_REQUEST: scene: missing");
  Say(progress, 0, "waiting for a solve slot");
  // Reading and compiling are work like a step's: they wait for a slot too.
  const SolvingTurns turns;
  EIPC_ASSIGN_OR_RETURN(const SolveSlots::Slot slot, services.slots.Take(context.claim(), context.budget));
  Say(progress, 0.05, "reading meshes");
  v1::Scene scene = request.scene();
  EIPC_RETURN_IF_ERROR(TakeUploads(services, context.tenant, &scene));
  Problems problems;
  EIPC_ASSIGN_OR_RETURN(SceneSpec spec, SceneFromProto(scene, services.meshes, &problems));
  EIPC_RETURN_IF_ERROR(CheckSceneSize(spec, services.limits));
  const std::string name = absl::StrCat(kScenePrefix, SceneDigest(scene, spec));
  if (const auto stored = services.scenes.Find(name, context.tenant); stored.ok() && problems.empty()) {
    FillSceneInfo(name, *(*stored)->model, false, response);
    return absl::OkStatus();
  }
  const int64_t bytes = static_cast<int64_t>(scene.ByteSizeLong());
  if (!request.validate_only()) EIPC_RETURN_IF_ERROR(services.scenes.CheckRoom(bytes));
  if (!services.cage_program.empty() && problems.empty()) {
    Say(progress, 0.1, "making cages");
    EIPC_RETURN_IF_ERROR(InvalidScene(MakeCagesInChild(services.cage_program, scene, context.budget, &spec)));
  }
  Say(progress, 0.7, "compiling");
  absl::StatusOr<std::shared_ptr<const Model>> model = CompileScene(spec, std::move(problems), context.budget);
  if (!model.ok()) return InvalidScene(model.status());
  if (!request.validate_only()) {
    EIPC_RETURN_IF_ERROR(services.AddScene({name, *model, scene.SerializeAsString(), context.tenant}));
  }
  FillSceneInfo(name, **model, false, response);
  return absl::OkStatus();
}

absl::Status CreateScene(Services& services, const CallContext& context, const v1::CreateSceneRequest& request,
                         v1::SceneInfo* response) {
  return MakeScene(services, context, request, nullptr, response);
}

}  // namespace eipc::rpc
