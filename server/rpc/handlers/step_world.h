#ifndef EIPC_SERVER_RPC_HANDLERS_STEP_WORLD_H_
#define EIPC_SERVER_RPC_HANDLERS_STEP_WORLD_H_

#include <string>

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

// A batch that may be repeated: its request_id and the SHA-256 of all of it.
struct BatchId {
  std::string id;
  std::string digest;
};
// The same for a world's part of such a batch: all of its substeps are taken or none, and when the part has been taken before, by a
// batch that was cut short, its answer is given again.
absl::Status StepWorldOfBatch(Services& services, const CallContext& context, const SessionRegistry::Lease& session,
                              const BatchId& batch, const v1::StepRequest& request, v1::StepResponse* response);

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_HANDLERS_STEP_WORLD_H_
