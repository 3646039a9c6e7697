#ifndef EIPC_SERVER_RPC_HANDLERS_STEP_WORLD_H_
#define EIPC_SERVER_RPC_HANDLERS_STEP_WORLD_H_

#include "absl/status/status.h"
#include "eipc/v1/service.pb.h"
#include "server/rpc/handlers/call_context.h"
#include "server/rpc/handlers/services.h"

namespace eipc::rpc {

// The caller's budget, and the session's being deleted. Refers to both.
StepBudget UntilRemoved(const StepBudget& budget, const SessionRegistry::Lease& session);

// One request on one world of a leased session: retries, checks, steps, observes, acknowledges. Sets response->session_step on
// failure too. Different worlds may be stepped from different threads.
absl::Status StepWorld(Services& services, const CallContext& context, const SessionRegistry::Lease& session,
                       const v1::StepRequest& request, v1::StepResponse* response);

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_HANDLERS_STEP_WORLD_H_
