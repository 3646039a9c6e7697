#include <vector>

#include "server/rpc/handlers/calls.h"
#include "server/rpc/handlers/operation_info.h"
#include "server/rpc/handlers/paging.h"
#include "sim/base/status_macros.h"

namespace eipc::rpc {

absl::Status ListOperations(Services& services, const CallContext& context, const v1::ListOperationsRequest& request,
                            v1::ListOperationsResponse* response) {
  EIPC_ASSIGN_OR_RETURN(const int size, PageSize(request.page_size()));
  std::vector<OperationRegistry::View> operations = services.operations.List(request.page_token(), size + 1, context.tenant);
  const bool more = static_cast<int>(operations.size()) > size;
  if (more) operations.pop_back();
  EIPC_RETURN_IF_ERROR(FillResults(services, operations, [response] { return response->add_operations(); }));
  if (more) response->set_next_page_token(operations.back().name);
  return absl::OkStatus();
}

}  // namespace eipc::rpc
