#ifndef EIPC_SERVER_RPC_CALLS_H_
#define EIPC_SERVER_RPC_CALLS_H_

// The calls of eipc.v1.SimulationService, one file each: check, lease, call, write. They see messages but no gRPC: `budget` carries
// the caller's deadline and cancellation, and the status becomes the call's (service.cc).

#include <functional>

#include "absl/status/status.h"
#include "eipc/v1/service.pb.h"
#include "server/rpc/services.h"
#include "sim/solver/step_budget.h"

namespace eipc::rpc {

using Empty = google::protobuf::Empty;

absl::Status CreateScene(Services& services, const StepBudget& budget, const v1::CreateSceneRequest& request,
                         v1::SceneInfo* response);
absl::Status GetScene(Services& services, const StepBudget& budget, const v1::GetSceneRequest& request, v1::SceneInfo* response);
absl::Status ListScenes(Services& services, const StepBudget& budget, const v1::ListScenesRequest& request,
                        v1::ListScenesResponse* response);
absl::Status DeleteScene(Services& services, const StepBudget& budget, const v1::DeleteSceneRequest& request, Empty* response);

absl::Status CreateSession(Services& services, const StepBudget& budget, const v1::CreateSessionRequest& request,
                           v1::SessionInfo* response);
absl::Status Reset(Services& services, const StepBudget& budget, const v1::ResetRequest& request, v1::Observation* response);
// response->session_step is set on failure too, once the session is known.
absl::Status Step(Services& services, const StepBudget& budget, const v1::StepRequest& request, v1::StepResponse* response);
absl::Status GetState(Services& services, const StepBudget& budget, const v1::GetStateRequest& request, v1::Observation* response);
absl::Status DeleteSession(Services& services, const StepBudget& budget, const v1::DeleteSessionRequest& request, Empty* response);

// The two ends of a stream. Both return false when it is over.
struct StepStreamEnds {
  std::function<bool(v1::StepRequest*)> read;
  std::function<bool(const v1::StepResponse&)> write;
};
// Answers every request with exactly one response, in order; a failed one with its status in the response. Ends when the client
// does, or when the budget does.
absl::Status StepStream(Services& services, const StepBudget& budget, const StepStreamEnds& ends);

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_CALLS_H_
