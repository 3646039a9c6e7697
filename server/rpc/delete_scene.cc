#include "server/rpc/calls.h"

namespace eipc::rpc {

absl::Status DeleteScene(Services& services, const StepBudget&, const v1::DeleteSceneRequest& request, Empty*) {
  return services.scenes.Delete(request.name());
}

}  // namespace eipc::rpc
