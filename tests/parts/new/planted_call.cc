#include "server/rpc/handlers/calls.h"

namespace eipc::rpc {

absl::Status Planted(Services&, const CallContext& context, const v1::GetSceneRequest& request, v1::SceneInfo* response) {
  if (request.name().empty()) return absl::InvalidArgumentError("INVALID_REQUEST: name: missing");
  response->set_name(context.tenant + "/" + request.name());
  return absl::OkStatus();
}

}  // namespace eipc::rpc
