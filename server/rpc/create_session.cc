#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "server/rpc/calls.h"
#include "sim/base/status_macros.h"

namespace eipc::rpc {

absl::Status CreateSession(Services& services, const StepBudget& budget, const v1::CreateSessionRequest& request,
                           v1::SessionInfo* response) {
  const int max_threads = services.limits.max_threads_per_session;
  if (request.threads() < 0 || request.threads() > max_threads) {
    return absl::InvalidArgumentError(
        absl::StrCat("INVALID_REQUEST: threads: must be in [0, ", max_threads, "], got ", request.threads()));
  }
  EIPC_RETURN_IF_ERROR(services.sessions.CheckRoom());
  EIPC_ASSIGN_OR_RETURN(SceneRegistry::Pin scene, services.scenes.PinScene(request.scene()));
  EIPC_ASSIGN_OR_RETURN(const FifoGate::Pass slot, services.slots.Take(budget));
  auto session = std::make_unique<Session>(std::move(scene), std::max(1, request.threads()));
  response->set_scene(session->scene_name());
  response->set_step(session->world().state().step);
  response->set_time_s(session->world().state().time_s);
  EIPC_ASSIGN_OR_RETURN(*response->mutable_name(), services.sessions.Add(std::move(session)));
  return absl::OkStatus();
}

}  // namespace eipc::rpc
