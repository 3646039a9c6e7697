#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/convert/message_digest.h"
#include "server/convert/stack_convert.h"
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
    if (request.has_stack() && step.has_observe()) return problem("observe: must be unset; stack.observe is of all worlds");
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

// A step of a batch, with what is observed.
v1::StepRequest Observing(const v1::StepRequest& step, const v1::ObservationRequest& observe) {
  v1::StepRequest request = step;
  *request.mutable_observe() = observe;
  return request;
}

// The arrays that a batch is answered with, and the memory that making and keeping them takes.
struct Stacking {
  StackPlan plan;
  MemoryBudget::Share memory;
};

// Beside the arrays there are first the worlds' answers, from which they are made, then the answer as it is sent; of a batch that
// may be repeated it is kept, and written into a record of the session's log.
int64_t MostHeld(const StackPlan& plan, const v1::StepBatchRequest& request, const Session& session) {
  const int64_t worlds = request.steps_size();
  const int64_t copies = request.request_id().empty() || !session.logged() ? 1 : 2;
  return plan.Bytes(worlds) + std::max(plan.AnswerBytes(worlds), copies * plan.Bytes(worlds));
}

absl::StatusOr<Stacking> PlanStack(Services& services, const CallContext& context, const Session& session,
                                   const v1::StepBatchRequest& request) {
  EIPC_ASSIGN_OR_RETURN(StackPlan plan, StackPlan::Create(*session.scene().model, request.stack()));
  const int64_t bytes = plan.Bytes(request.steps_size());
  if (bytes > INT32_MAX) {
    return absl::ResourceExhaustedError(absl::StrCat("ANSWER_TOO_LARGE: the arrays of ", request.steps_size(),
                                                     " worlds would have ", bytes, " bytes, more than 2 GiB"));
  }
  EIPC_RETURN_IF_ERROR(context.ReserveAnswer(bytes));
  EIPC_ASSIGN_OR_RETURN(MemoryBudget::Share memory,
                        services.memory.TakeForMessage(MostHeld(plan, request, session), "an answer of stacked arrays"));
  return Stacking{std::move(plan), std::move(memory)};
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
  std::optional<Stacking> stacking;
  if (request.has_stack()) {
    EIPC_ASSIGN_OR_RETURN(stacking, PlanStack(services, context, *session, request));
    batch.answer = nullptr;  // nobody reads the worlds' own
  }
  std::optional<v1::StepBatchResponse> single;  // the worlds' answers, where they are stacked
  v1::StepBatchResponse* const answers = stacking ? &single.emplace() : response;
  for (int i = 0; i < request.steps_size(); ++i) answers->add_responses();
  services.batch_crew.ForEach(request.steps_size(), services.slots.slots() - 1, [&](int64_t index) {
    const int i = static_cast<int>(index);
    v1::StepRequest observing;
    if (stacking) observing = Observing(request.steps(i), request.stack().observe());
    const v1::StepRequest& step = stacking ? observing : request.steps(i);
    if (StepInto(services, batch, session, id, step, answers->mutable_responses(i))) *refused = true;
  });
  if (session.removed()) return absl::CancelledError("SESSION_DELETED: the session was deleted during the batch");
  absl::Status status = id.id.empty() ? absl::OkStatus() : CheckFinished(context.budget, *answers);
  if (status.ok()) {
    if (stacking) stacking->plan.Stack(*answers, response->mutable_stacked());
    single.reset();
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
