#include "server/rpc/calls.h"

namespace eipc::rpc {

absl::Status DeleteSession(Services& services, const StepBudget& budget, const v1::DeleteSessionRequest& request, Empty*) {
  return services.sessions.Remove(request.session(), budget);
}

}  // namespace eipc::rpc
