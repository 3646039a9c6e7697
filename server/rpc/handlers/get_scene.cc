#include "server/convert/name_defaults.h"
#include "server/rpc/handlers/calls.h"
#include "server/rpc/handlers/scene_info.h"
#include "sim/base/status_macros.h"

namespace eipc::rpc {

absl::Status GetScene(Services& services, const CallContext& context, const v1::GetSceneRequest& request, v1::SceneInfo* response) {
  EIPC_RETURN_IF_ERROR(services.CheckOpen());
  EIPC_ASSIGN_OR_RETURN(const SceneRegistry::ScenePtr scene, services.scenes.Find(request.name(), context.tenant));
  // A message of many small parts takes more than its bytes.
  constexpr int64_t kParsed = 2;
  EIPC_RETURN_IF_ERROR(
      context.ReserveAnswer(SceneInfoBytes(*scene->model, request.include_topology()) +
                            (request.include_scene() ? kParsed * static_cast<int64_t>(scene->payload.size()) : 0)));
  FillSceneInfo(scene->name, *scene->model, request.include_topology(), response);
  if (request.include_scene() && !response->mutable_scene()->ParseFromString(scene->payload)) {
    return absl::InternalError("the stored scene cannot be read back");
  }
  if (request.include_scene()) {
    NameMaterials(FormerDefaultMaterial(), response->mutable_scene());
    NameFormerCoarseSpaces(response->mutable_scene());
  }
  return absl::OkStatus();
}

}  // namespace eipc::rpc
