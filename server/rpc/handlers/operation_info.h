#ifndef EIPC_SERVER_RPC_HANDLERS_OPERATION_INFO_H_
#define EIPC_SERVER_RPC_HANDLERS_OPERATION_INFO_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "eipc/v1/service.pb.h"
#include "server/rpc/handlers/call_context.h"
#include "server/rpc/handlers/services.h"
#include "server/session/operations.h"

namespace eipc::rpc {

inline constexpr char kCreateSceneKind[] = "create_scene";
inline constexpr char kPrepareMeshKind[] = "prepare_mesh";
inline constexpr char kStepBatchKind[] = "step_batch";

void FillOperation(const OperationRegistry::View& view, v1::Operation* out);
// The same for each, into what `add` gives. RESOURCE_EXHAUSTED (MEMORY_BUDGET) when there is no room for their results.
absl::Status FillResults(Services& services, const std::vector<OperationRegistry::View>& views,
                         const std::function<v1::Operation*()>& add);

// A job's part of a call: returns the serialized result. `call` is in the name of the caller that began it, and as little urgent as
// a batch.
using CallJob = std::function<absl::StatusOr<std::string>(const CallContext& call, OperationRegistry::Progress* progress)>;

// A request that waits for its operation, and the memory that it takes.
template <typename Request>
struct HeldRequest {
  Request request;
  KeptMemory memory;
};
// RESOURCE_EXHAUSTED (MEMORY_BUDGET, TENANT_QUOTA) when there is no room for it.
template <typename Request>
absl::StatusOr<std::shared_ptr<const HeldRequest<Request>>> HoldRequest(Services& services, const std::string& tenant,
                                                                        const Request& request) {
  absl::StatusOr<KeptMemory> memory =
      services.tenant_memory.Take(tenant, static_cast<int64_t>(request.SpaceUsedLong()), "the operation's request");
  if (!memory.ok()) return memory.status();
  return std::make_shared<const HeldRequest<Request>>(HeldRequest<Request>{request, *std::move(memory)});
}

// Begins the job as an operation, and describes it. The audit log gets an entry when it ends, unless it changes nothing.
enum class JobEffect { kNone, kAudited };
absl::Status StartOperation(Services& services, const CallContext& context, const char* kind, JobEffect effect, CallJob job,
                            v1::Operation* response);

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_HANDLERS_OPERATION_INFO_H_
