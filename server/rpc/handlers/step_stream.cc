#include <string>

#include "server/rpc/handlers/calls.h"
#include "server/rpc/handlers/reason.h"
#include "server/session/queue_full.h"
#include "sim/base/status_macros.h"

namespace eipc::rpc {

absl::Status StepStream(Services& services, const CallContext& context, const StepStreamEnds& ends) {
  CallContext stream = context;
  stream.priority = SolvePriority::kInteractive;
  v1::StepRequest request;
  v1::StepResponse response;
  RefusalPause::Clock::time_point last_answer = RefusalPause::Clock::now();
  while (ends.read(&request)) {
    response.Clear();
    const SolveSlots::LateRelease answered_first;
    const absl::Status status = ForWire(Step(services, stream, request, &response));
    if (!status.ok()) {
      if (IsQueueFull(status)) services.refusals.Hold(context.budget, last_answer);
      response.clear_observation();
      response.set_status_code(static_cast<int>(status.code()));
      response.set_status_message(std::string(status.message()));
    }
    // Before it is written: who writes may have to wait for the processor until after the client has it.
    last_answer = RefusalPause::Clock::now();
    if (!ends.write(response)) break;
    EIPC_RETURN_IF_ERROR(context.budget.Poll());
  }
  return context.budget.Poll();
}

}  // namespace eipc::rpc
