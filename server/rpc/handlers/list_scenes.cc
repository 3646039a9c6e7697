#include <vector>

#include "server/rpc/handlers/calls.h"
#include "server/rpc/handlers/paging.h"
#include "server/rpc/handlers/scene_info.h"
#include "sim/base/status_macros.h"

namespace eipc::rpc {

absl::Status ListScenes(Services& services, const CallContext& context, const v1::ListScenesRequest& request,
                        v1::ListScenesResponse* response) {
  EIPC_RETURN_IF_ERROR(services.CheckOpen());
  EIPC_ASSIGN_OR_RETURN(const int size, PageSize(request.page_size()));
  std::vector<SceneRegistry::ScenePtr> scenes = services.scenes.List(request.page_token(), size + 1, context.tenant);
  const bool more = static_cast<int>(scenes.size()) > size;
  if (more) scenes.pop_back();
  int64_t bytes = 0;
  for (const SceneRegistry::ScenePtr& scene : scenes) bytes += SceneInfoBytes(*scene->model, false);
  EIPC_RETURN_IF_ERROR(context.ReserveAnswer(bytes));
  for (const SceneRegistry::ScenePtr& scene : scenes) FillSceneInfo(scene->name, *scene->model, false, response->add_scenes());
  if (more) response->set_next_page_token(scenes.back()->name);
  return absl::OkStatus();
}

}  // namespace eipc::rpc
