#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/convert/scene_convert.h"
#include "server/rpc/calls.h"
#include "server/rpc/scene_info.h"
#include "sim/base/status_macros.h"
#include "sim/scene/compile_scene.h"

namespace eipc::rpc {
namespace {

// The problems of a scene, under a reason of their own.
absl::Status InvalidScene(const absl::Status& status) {
  if (!absl::IsInvalidArgument(status)) return status;
  return absl::InvalidArgumentError(absl::StrCat("SCENE_INVALID: the scene cannot be simulated:\n", status.message()));
}

}  // namespace

absl::Status CreateScene(Services& services, const StepBudget& budget, const v1::CreateSceneRequest& request,
                         v1::SceneInfo* response) {
  if (!request.has_scene()) return absl::InvalidArgumentError("INVALID_REQUEST: scene: missing");
  // Reading and compiling are work like a step's: they wait for a slot too.
  EIPC_ASSIGN_OR_RETURN(const FifoGate::Pass slot, services.slots.Take(budget));
  Problems problems;
  EIPC_ASSIGN_OR_RETURN(const SceneSpec spec, SceneFromProto(request.scene(), services.meshes, &problems));
  EIPC_RETURN_IF_ERROR(CheckSceneSize(spec, services.limits));
  const std::string name = absl::StrCat(kScenePrefix, SceneDigest(request.scene(), spec));
  if (const auto stored = services.scenes.Find(name); stored.ok() && problems.empty()) {
    FillSceneInfo(name, *(*stored)->model, false, response);
    return absl::OkStatus();
  }
  const int64_t bytes = static_cast<int64_t>(request.scene().ByteSizeLong());
  if (!request.validate_only()) EIPC_RETURN_IF_ERROR(services.scenes.CheckRoom(bytes));
  absl::StatusOr<std::shared_ptr<const Model>> model = CompileScene(spec, std::move(problems));
  if (!model.ok()) return InvalidScene(model.status());
  if (!request.validate_only()) {
    EIPC_RETURN_IF_ERROR(services.scenes.Add({name, *model, request.scene().SerializeAsString()}).status());
  }
  FillSceneInfo(name, **model, false, response);
  return absl::OkStatus();
}

}  // namespace eipc::rpc
