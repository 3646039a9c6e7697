#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "server/rpc/handlers/calls.h"
#include "server/rpc/handlers/operation_info.h"
#include "sim/base/status_macros.h"

namespace eipc::rpc {

absl::Status GetOperation(Services& services, const CallContext& context, const v1::GetOperationRequest& request,
                          v1::Operation* response) {
  constexpr double kLongestWaitS = 600;
  if (!(request.wait_s() >= 0)) {
    return absl::InvalidArgumentError(absl::StrCat("INVALID_REQUEST: wait_s: must be >= 0, got ", request.wait_s()));
  }
  const std::chrono::duration<double> wait(std::min(request.wait_s(), kLongestWaitS));
  EIPC_ASSIGN_OR_RETURN(const OperationRegistry::View view,
                        services.operations.Get(request.name(), context.tenant, wait, context.budget));
  return FillResults(services, {view}, [response] { return response; });
}

}  // namespace eipc::rpc
