#include "server/rpc/handlers/calls.h"
#include "server/rpc/handlers/paging.h"
#include "server/rpc/handlers/session_setup.h"
#include "sim/base/status_macros.h"

namespace eipc::rpc {

absl::Status ListSessions(Services& services, const CallContext& context, const v1::ListSessionsRequest& request,
                          v1::ListSessionsResponse* response) {
  EIPC_RETURN_IF_ERROR(services.CheckRecovered());
  EIPC_ASSIGN_OR_RETURN(const int size, PageSize(request.page_size()));
  auto sessions = services.sessions.List(context.tenant, request.page_token(), size + 1);
  const bool more = static_cast<int>(sessions.size()) > size;
  if (more) sessions.pop_back();
  for (const auto& entry : sessions) FillSessionInfo(entry.name, *entry.value, response->add_sessions());
  if (more) response->set_next_page_token(sessions.back().name);
  return absl::OkStatus();
}

}  // namespace eipc::rpc
