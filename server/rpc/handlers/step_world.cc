#include "server/rpc/handlers/step_world.h"

#include <chrono>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "server/convert/message_digest.h"
#include "server/convert/observation_convert.h"
#include "server/convert/step_convert.h"
#include "server/rpc/handlers/draw_cameras.h"
#include "server/rpc/handlers/session_setup.h"
#include "server/session/build_id.h"
#include "sim/base/status_macros.h"

namespace eipc::rpc {
namespace {

void FillReceipt(const Session& session, const World& world, const StepSummary& summary, v1::StepReceipt* out) {
  out->set_scene(session.scene_name());
  out->set_build(BuildId());
  out->set_first_step(summary.first_step);
  out->set_step(world.state().step);
  out->set_state_digest(world.state().Digest());
  out->set_min_distance_m(summary.report.min_distance_m);
  out->set_min_ccd_fraction(summary.report.min_ccd_fraction);
  out->set_residual_m_s(summary.report.residual_m_s);
  out->set_target_error_m(summary.report.target_error_m);
  out->set_newton_iterations(summary.report.newton_iterations);
  out->set_outcome(static_cast<v1::StepOutcome>(OutcomeToWire(summary.report.outcome)));
  out->set_missed_targets(summary.report.missed_targets);
  out->set_inverted_elements(summary.report.inverted_elements);
}

// Forces of inverted elements are not those of the material: the log says so, once a session.
void SayInversion(const Services& services, const SessionRegistry::Lease& session, int world, const StepSummary& summary) {
  if (summary.report.inverted_elements == 0 || !session->NoteInversion() || !services.events) return;
  services.events({Event::Level::kWarning,
                   "elements_inverted",
                   {{"session", session.name()},
                    {"world", absl::StrCat(world)},
                    {"step", absl::StrCat(session->world(world).state().step)},
                    {"elements", absl::StrCat(summary.report.inverted_elements)}}});
}

void Count(const Services& services, const std::string& tenant, const absl::Status& status, const StepSummary& summary,
           double seconds) {
  if (services.metrics == nullptr) return;
  services.metrics->TenantStepped(tenant, summary.steps, seconds);
  if (status.ok()) return services.metrics->Stepped(summary, seconds);
  services.metrics->Limited(absl::AsciiStrToLower(absl::StatusCodeToString(status.code())));
}

}  // namespace

StepBudget UntilRemoved(const StepBudget& budget, const SessionRegistry::Lease& session) {
  StepBudget both;
  both.deadline = budget.deadline;
  both.cancelled = [&budget, &session] { return session.removed() || (budget.cancelled && budget.cancelled()); };
  return both;
}

namespace {

// Under which id a request is remembered.
struct RetryKey {
  RetryKind kind = RetryKind::kRequest;
  std::string id;
  std::string request;  // its digest
};

// A request on a world, and how it is remembered.
struct StepOfWorld {
  const SessionRegistry::Lease& session;
  RetryKey key;
  const v1::StepRequest& request;
};

// What a request has stepped and could not acknowledge, since its answer found no memory for example, is taken back.
struct TakenBack {
  const SessionRegistry::Lease& session;
  int world;
  ~TakenBack() { session->TakeBackPending(world); }
};

// *sum is complete on failure too.
absl::Status StepAndAnswer(Services& services, const CallContext& context, StepOfWorld step, v1::StepResponse* response,
                           StepSummary* sum) {
  const SessionRegistry::Lease& session = step.session;
  const v1::StepRequest& request = step.request;
  RetryKey& key = step.key;
  EIPC_RETURN_IF_ERROR(CheckWorld(*session, request.world()));
  const int index = request.world();
  const World& world = session->world(index);
  response->set_session_step(world.state().step);

  const bool batch_part = key.kind == RetryKind::kBatchPart;
  EIPC_ASSIGN_OR_RETURN(const std::string* finished, batch_part ? session->BatchPart(index, key.id, key.request)
                                                                : session->retries(index).Find(key.id, key.request));
  if (finished != nullptr) {
    return response->ParseFromString(*finished) ? absl::OkStatus() : absl::InternalError("the stored response cannot be read back");
  }

  const Model& model = world.model();
  EIPC_ASSIGN_OR_RETURN(StepOrder order, StepOrderFromProto(model, request, services.limits.max_substeps));
  EIPC_ASSIGN_OR_RETURN(const ObservationPlan plan, ObservationPlan::Create(model, request.observe()));
  EIPC_RETURN_IF_ERROR(context.ReserveAnswer(plan.MostBytes(model)));
  EIPC_RETURN_IF_ERROR(PrepareCameras(services, context, session, index, plan));
  const StepCommand command = {order.dt_s,
                               std::move(order.targets),
                               std::move(order.trajectories),
                               order.substeps,
                               batch_part,
                               order.expected_step,
                               context.claim(),
                               std::move(order.drives),
                               order.time_limit_s,
                               request.observe().force_balance()};
  StepSummary& summary = *sum;
  const TakenBack unless_acknowledged{session, index};
  const auto begin = std::chrono::steady_clock::now();
  const absl::Status status = session->Step(command, UntilRemoved(context.budget, session), &services.slots, index, &summary);
  response->set_session_step(world.state().step);
  if (session.removed()) return absl::CancelledError("SESSION_DELETED: the session was deleted during the step");
  Count(services, context.tenant, status, summary, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  EIPC_RETURN_IF_ERROR(status);

  SayInversion(services, session, index, summary);
  plan.Observe(world, response->mutable_observation());
  DrawCameras(services, context, session, index, plan, response->mutable_observation());
  if (plan.step_receipt()) FillReceipt(*session, world, summary, response->mutable_observation()->mutable_step_receipt());
  std::string answer = key.id.empty() ? std::string() : response->SerializeAsString();
  const absl::Status logged = session->Acknowledge(index, std::move(key.id), std::move(key.request), std::move(answer), key.kind);
  if (!logged.ok()) response->clear_observation();
  if (logged.ok()) services.feeds.Publish(session.name(), index, world);
  response->set_session_step(world.state().step);
  return logged;
}

void EndSpan(const absl::Status& status, const StepSummary& summary, std::chrono::steady_clock::time_point begin, StepSpan* span) {
  span->duration_ns = std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count();
  span->first_step = summary.first_step;
  span->steps = summary.steps;
  span->newton_iterations = summary.report.newton_iterations;
  span->outcome = StepOutcomeName(summary.report.outcome);
  span->slot_wait_s = summary.slot_wait_s;
  span->code = status.code();
  span->message = std::string(status.message());
}

absl::Status StepTraced(Services& services, const CallContext& context, StepOfWorld step, v1::StepResponse* response) {
  StepSummary summary;
  if (services.spans == nullptr || !context.trace.sampled) {
    return StepAndAnswer(services, context, std::move(step), response, &summary);
  }
  StepSpan span;
  span.trace = context.trace;
  span.id = NewSpanId();
  span.start_unix_ns = std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count();
  span.session = step.session.name();
  span.world = step.request.world();
  const auto begin = std::chrono::steady_clock::now();
  const absl::Status status = StepAndAnswer(services, context, std::move(step), response, &summary);
  EndSpan(status, summary, begin, &span);
  services.spans->Push(std::move(span));
  return status;
}

}  // namespace

absl::Status StepWorld(Services& services, const CallContext& context, const SessionRegistry::Lease& session,
                       const v1::StepRequest& request, v1::StepResponse* response) {
  RetryKey key{RetryKind::kRequest, request.request_id(), ""};
  if (!key.id.empty()) key.request = MessageDigest(request);
  return StepTraced(services, context, {session, std::move(key), request}, response);
}

absl::Status StepWorldOfBatch(Services& services, const CallContext& context, const SessionRegistry::Lease& session,
                              const BatchId& batch, const v1::StepRequest& request, v1::StepResponse* response) {
  return StepTraced(services, context, {session, {RetryKind::kBatchPart, batch.id, batch.digest}, request}, response);
}

}  // namespace eipc::rpc
