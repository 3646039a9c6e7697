#include <string>

#include "server/rpc/handlers/calls.h"
#include "server/rpc/handlers/reason.h"
#include "server/session/queue_full.h"

namespace eipc::rpc {

bool AnswerStep(Services& services, const CallContext& context, const v1::StepRequest& request, v1::StepResponse* response) {
  CallContext stream = context;
  stream.priority = SolvePriority::kInteractive;
  const absl::Status status = ForWire(Step(services, stream, request, response));
  if (status.ok()) return true;
  response->clear_observation();
  response->set_status_code(static_cast<int>(status.code()));
  response->set_status_message(std::string(status.message()));
  return !IsQueueFull(status);
}

}  // namespace eipc::rpc
