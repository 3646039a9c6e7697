#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/convert/message_digest.h"
#include "server/rpc/handlers/calls.h"
#include "server/rpc/handlers/reason.h"
#include "server/rpc/handlers/session_setup.h"
#include "server/rpc/handlers/step_world.h"
#include "server/session/guarded.h"
#include "server/session/queue_full.h"
#include "sim/base/status_macros.h"

namespace eipc::rpc {
namespace {

absl::Status CheckBatch(const Session& session, const v1::StepBatchRequest& request) {
  if (request.steps().empty()) return absl::InvalidArgumentError("INVALID_REQUEST: steps: missing");
  std::vector<bool> seen(session.world_count(), false);
  for (int i = 0; i < request.steps_size(); ++i) {
    const v1::StepRequest& step = request.steps(i);
    const auto problem = [i](absl::string_view text) {
      return absl::InvalidArgumentError(absl::StrCat("INVALID_REQUEST: steps[", i, "].", text));
    };
    if (!step.session().empty() && step.session() != request.session()) return problem("session: must be the batch's, or empty");
    if (!step.request_id().empty()) return problem("request_id: must be empty; the batch has one");
    if (step.world() < 0 || step.world() >= session.world_count()) {
      return problem(absl::StrCat("world: must be in [0, ", session.world_count() - 1, "], got ", step.world()));
    }
    if (seen[step.world()]) return problem("world: has a request in this batch already");
    seen[step.world()] = true;
  }
  return absl::OkStatus();
}

// Whether it was refused for want of room.
bool StepInto(Services& services, const CallContext& context, const SessionRegistry::Lease& session, const BatchId& batch,
              const v1::StepRequest& request, v1::StepResponse* response) {
  const absl::Status status = ForWire(Guarded([&] {
    return batch.id.empty() ? StepWorld(services, context, session, request, response)
                            : StepWorldOfBatch(services, context, session, batch, request, response);
  }));
  if (status.ok()) return false;
  response->clear_observation();
  response->set_status_code(static_cast<int>(status.code()));
  response->set_status_message(std::string(status.message()));
  return IsQueueFull(status);
}

// OK unless the call ended before every world was stepped: then the batch has no answer that may be repeated.
absl::Status CheckFinished(const StepBudget& budget, const v1::StepBatchResponse& response) {
  const absl::Status ended = budget.Poll();
  if (ended.ok()) return ended;
  const auto stepped = std::count_if(response.responses().begin(), response.responses().end(),
                                     [](const v1::StepResponse& world) { return world.status_code() == 0; });
  if (stepped == response.responses_size()) return absl::OkStatus();
  return Reworded(ended, absl::StrCat(ended.message(), " (", stepped, " of ", response.responses_size(),
                                      " worlds were stepped; the same batch under the same request_id steps the others)"));
}

absl::Status StepEach(Services& services, const CallContext& context, const v1::StepBatchRequest& request,
                      v1::StepBatchResponse* response, std::atomic<bool>* refused) {
  CallContext batch = context;
  batch.priority = SolvePriority::kBatch;
  EIPC_ASSIGN_OR_RETURN(const SessionRegistry::Lease session,
                        services.sessions.Acquire(request.session(), context.budget, context.tenant));
  session->Touch();
  EIPC_RETURN_IF_ERROR(CheckBatch(*session, request));
  const BatchId id = {request.request_id(), request.request_id().empty() ? std::string() : MessageDigest(request)};
  EIPC_ASSIGN_OR_RETURN(const std::string* finished, session->retries(-1).Find(id.id, id.digest));
  if (finished != nullptr) {
    return response->ParseFromString(*finished) ? absl::OkStatus() : absl::InternalError("the stored response cannot be read back");
  }
  EIPC_RETURN_IF_ERROR(session->CheckBatchId(id.id, id.digest));
  for (int i = 0; i < request.steps_size(); ++i) response->add_responses();
  services.batch_crew.ForEach(request.steps_size(), services.slots.slots() - 1, [&](int64_t index) {
    const int i = static_cast<int>(index);
    if (StepInto(services, batch, session, id, request.steps(i), response->mutable_responses(i))) *refused = true;
  });
  if (session.removed()) return absl::CancelledError("SESSION_DELETED: the session was deleted during the batch");
  absl::Status status = id.id.empty() ? absl::OkStatus() : CheckFinished(context.budget, *response);
  if (status.ok()) {
    std::string answer = id.id.empty() ? std::string() : response->SerializeAsString();
    status = session->AcknowledgeBatch(id.id, id.digest, std::move(answer));
  }
  session->CheckpointLogIfDue(session.name());
  return status;
}

}  // namespace

absl::Status AnswerBatch(Services& services, const CallContext& context, const v1::StepBatchRequest& request,
                         v1::StepBatchResponse* response, bool* refused) {
  std::atomic<bool> any_refused = false;
  const absl::Status status = StepEach(services, context, request, response, &any_refused);
  *refused = any_refused;
  return status;
}

absl::Status StepBatch(Services& services, const CallContext& context, const v1::StepBatchRequest& request,
                       v1::StepBatchResponse* response) {
  bool refused = false;
  return AnswerBatch(services, context, request, response, &refused);
}

}  // namespace eipc::rpc
