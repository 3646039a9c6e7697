#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/rpc/calls.h"
#include "server/rpc/scene_info.h"

namespace eipc::rpc {

// Pages are in order of names; the token is the last name of the page before.
absl::Status ListScenes(Services& services, const StepBudget&, const v1::ListScenesRequest& request,
                        v1::ListScenesResponse* response) {
  constexpr int kDefaultPage = 50;
  constexpr int kMaxPage = 1000;
  if (request.page_size() < 0) {
    return absl::InvalidArgumentError(absl::StrCat("INVALID_REQUEST: page_size: must be >= 0, got ", request.page_size()));
  }
  const int size = request.page_size() == 0 ? kDefaultPage : std::min(request.page_size(), kMaxPage);
  std::vector<SceneRegistry::ScenePtr> scenes = services.scenes.List(request.page_token(), size + 1);
  const bool more = static_cast<int>(scenes.size()) > size;
  if (more) scenes.pop_back();
  for (const SceneRegistry::ScenePtr& scene : scenes) FillSceneInfo(scene->name, *scene->model, false, response->add_scenes());
  if (more) response->set_next_page_token(scenes.back()->name);
  return absl::OkStatus();
}

}  // namespace eipc::rpc
