#include "server/rpc/handlers/calls.h"
#include "server/rpc/handlers/session_setup.h"

namespace eipc::rpc {

// Reads what can be read while a step runs: it waits for no other call, and does not keep the session from being reaped.
absl::Status GetSession(Services& services, const CallContext& context, const v1::GetSessionRequest& request,
                        v1::SessionInfo* response) {
  const std::shared_ptr<const Session> session = services.sessions.Peek(request.session(), context.tenant);
  if (session == nullptr) return services.sessions.Absent(request.session(), context.tenant);
  FillSessionInfo(request.session(), *session, response);
  return absl::OkStatus();
}

}  // namespace eipc::rpc
