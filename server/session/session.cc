#include "server/session/session.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/session/build_id.h"
#include "server/session/queue_full.h"
#include "server/session/turns.h"
#include "sim/base/status_macros.h"
#include "sim/dynamics/state_codec.h"

namespace eipc {
namespace {

// A world whose last step took longer than this lets calls in between (turns.h).
constexpr double kLongStepSeconds = 0.5e-3;

}  // namespace

void StepSummary::Add(const StepReport& report) {
  ++steps;
  min_distance_m = std::min(min_distance_m, report.min_distance_m);
  min_ccd_fraction = std::min(min_ccd_fraction, report.min_ccd_fraction);
  residual_m_s = std::max(residual_m_s, report.residual_m_s);
  target_error_m = std::max(target_error_m, report.target_error_m);
  newton_iterations += report.newton_iterations;
  audit.Add(report.audit);
  outcome = WorseOutcome(outcome, report.outcome);
}

Session::Session(SceneRegistry::Pin scene, Options options) : scene_(std::move(scene)), options_(std::move(options)) {
  const SolvingTurns turns;  // for the threads of the worlds
  for (int i = 0; i < std::max(1, options_.worlds); ++i) {
    worlds_.emplace_back().world = std::make_unique<World>(scene_->model, std::max(1, options_.threads));
  }
  Touch();
  NoteSeen();
}

void Session::NoteSeen() {
  seen_step_.store(world().state().step, std::memory_order_relaxed);
  seen_time_s_.store(world().state().time_s, std::memory_order_relaxed);
}

bool Session::IdleSince(std::chrono::steady_clock::time_point now) const {
  if (options_.idle_timeout.count() <= 0) return false;
  const std::chrono::steady_clock::duration used(used_.load(std::memory_order_relaxed));
  return now.time_since_epoch() - used > options_.idle_timeout;
}

absl::Status Session::Step(const StepCommand& command, const StepBudget& budget, SolveSlots* slots, int index,
                           StepSummary* summary) {
  Slot& slot = worlds_[index];
  World* world = slot.world.get();
  const int64_t start = world->state().step;
  if (command.expected_step && *command.expected_step != start) {
    return absl::AbortedError(
        absl::StrCat("STEP_MISMATCH: expected_step is ", *command.expected_step, ", but the session is at step ", start));
  }
  StepSummary local;
  StepSummary& sum = summary == nullptr ? local : *summary;
  sum = {};
  sum.first_step = start;
  if (log_ != nullptr) slot.before = world->state();
  int taken = 0;
  absl::Status status;
  for (; taken < command.substeps && status.ok(); ++taken) {
    status = StepOnce(command, taken, budget, slots, &slot, &sum.slot_wait_s);
    if (!status.ok()) break;
    sum.Add(world->report());
  }
  if (index == 0) NoteSeen();
  if (log_ != nullptr && taken > 0) {
    slot.pending = LogStep{index, command.dt_s, taken, command.targets, command.trajectories, world->state().Digest(), "", "", ""};
  }
  if (status.ok()) return status;
  if (taken > 0) EIPC_RETURN_IF_ERROR(Acknowledge(index, "", "", ""));
  return Reworded(status, absl::StrCat(status.message(), " (session at step ", world->state().step, ", ", taken, " of ",
                                       command.substeps, " substeps taken)"));
}

absl::Status Session::StepOnce(const StepCommand& command, int taken, const StepBudget& budget, SolveSlots* slots, Slot* world,
                               double* slot_wait_s) {
  const auto begin = std::chrono::steady_clock::now();
  // Two system calls of some microseconds, which a step of microseconds and one that is refused can do without.
  std::optional<SolvingTurns> turns;
  const absl::StatusOr<SolveSlots::Slot> slot = slots->Take(command.claim, budget, [&] {
    if (world->last_step_s >= kLongStepSeconds) turns.emplace();
  });
  const auto taken_at = std::chrono::steady_clock::now();
  *slot_wait_s += std::chrono::duration<double>(taken_at - begin).count();
  EIPC_RETURN_IF_ERROR(slot.status());
  const absl::Status status = world->world->Step(SubstepInput(command.dt_s, command.targets, command.trajectories, taken), budget);
  world->last_step_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - taken_at).count();
  return status;
}

absl::Status Session::Acknowledge(int index, std::string request_id, std::string request, std::string response) {
  Slot& slot = worlds_[index];
  if (log_ == nullptr || !slot.pending) {
    slot.retries.Remember(std::move(request_id), std::move(request), std::move(response));
    return absl::OkStatus();
  }
  LogStep record = *std::exchange(slot.pending, std::nullopt);
  record.request_id = std::move(request_id);
  if (!record.request_id.empty()) {
    record.request = std::move(request);
    record.response = std::move(response);
  }
  const absl::Status logged = log_->Append(EncodeRecord(record));
  if (!logged.ok()) {
    EIPC_RETURN_IF_ERROR(slot.world->Restore(slot.before));
    if (index == 0) NoteSeen();
    return logged;
  }
  slot.retries.Remember(std::move(record.request_id), std::move(record.request), std::move(record.response));
  return absl::OkStatus();
}

absl::Status Session::AcknowledgeBatch(std::string request_id, std::string request, std::string response) {
  if (request_id.empty()) return absl::OkStatus();
  if (log_ != nullptr) {
    EIPC_RETURN_IF_ERROR(log_->Append(EncodeRecord(LogStep{-1, 0, 0, {}, {}, "", request_id, request, response})));
  }
  batch_retries_.Remember(std::move(request_id), std::move(request), std::move(response));
  return absl::OkStatus();
}

absl::Status Session::Replace(int index, const State& state) {
  if (log_ != nullptr) EIPC_RETURN_IF_ERROR(log_->Append(EncodeRecord(LogState{index, EncodeState(state)})));
  worlds_[index].retries.Forget();
  batch_retries_.Forget();
  EIPC_RETURN_IF_ERROR(worlds_[index].world->Restore(state));
  if (index == 0) NoteSeen();
  return absl::OkStatus();
}

absl::Status Session::Reset(int index) { return Replace(index, InitialState(*scene_->model)); }

absl::Status Session::Restore(int index, const State& state) { return Replace(index, state); }

std::vector<LogRecord> Session::PresentRecords(const std::string& session_name) const {
  LogHeader header;
  header.scene = scene_->name;
  header.build = BuildId();
  header.session = session_name;
  header.owner = options_.owner;
  header.worlds = world_count();
  header.threads = options_.threads;
  header.idle_timeout_s = options_.idle_timeout.count();
  header.recorded = log_ != nullptr && log_->recording();
  std::vector<LogRecord> records = {header};
  for (int i = 0; i < world_count(); ++i) records.push_back(LogState{i, EncodeState(world(i).state())});
  const auto add_answer = [&records](int index, const RetryMemory& memory, std::string digest) {
    if (memory.id().empty()) return;
    records.push_back(LogStep{index, 0, 0, {}, {}, std::move(digest), memory.id(), memory.request(), memory.response()});
  };
  for (int i = 0; i < world_count(); ++i) add_answer(i, worlds_[i].retries, world(i).state().Digest());
  add_answer(-1, batch_retries_, "");
  return records;
}

absl::Status Session::Replay(LogStep step) {
  if (step.world >= world_count()) return absl::InvalidArgumentError("RECORDING_CORRUPT: a step of a world that there is not");
  if (step.world >= 0) EIPC_RETURN_IF_ERROR(ReplayStep(step, worlds_[step.world].world.get()));
  retries(step.world).Remember(std::move(step.request_id), std::move(step.request), std::move(step.response));
  NoteSeen();
  return absl::OkStatus();
}

absl::Status Session::CheckpointLog(const std::string& session_name) {
  if (log_ == nullptr || log_->journal() == nullptr) return absl::OkStatus();
  return log_->journal()->Checkpoint(EncodeRecords(PresentRecords(session_name)));
}

void Session::CheckpointLogIfDue(const std::string& session_name) {
  if (log_ == nullptr || log_->journal() == nullptr || !log_->journal()->WantsCheckpoint()) return;
  (void)CheckpointLog(session_name);
}

void Session::AttachLog(std::unique_ptr<SessionLog> log) {
  log_ = std::move(log);
  if (!log_->recording()) return;
  std::vector<LogRecord> records = PresentRecords("");
  std::get<LogHeader>(records[0]).payload = scene_->payload;
  log_->BeginRecording(EncodeRecords(records));
}

}  // namespace eipc
