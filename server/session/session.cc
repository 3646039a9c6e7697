#include "server/session/session.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <new>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/os/thread_scheduling.h"
#include "server/session/build_id.h"
#include "server/session/memory_budget.h"
#include "server/session/queue_full.h"
#include "server/session/state_bytes.h"
#include "sim/base/status_macros.h"

namespace eipc {
namespace {

// A world whose last step took longer than this is solved as batch work, so that calls are answered meanwhile
// (server/os/thread_scheduling.h).
constexpr double kLongStepSeconds = 0.5e-3;

// Undoes what was begun when an exception leaves the block.
template <typename Undo>
class OnThrow {
 public:
  explicit OnThrow(Undo undo) : undo_(std::move(undo)) {}
  ~OnThrow() {
    if (std::uncaught_exceptions() > exceptions_) undo_();
  }
  OnThrow(const OnThrow&) = delete;
  OnThrow& operator=(const OnThrow&) = delete;

 private:
  const Undo undo_;
  const int exceptions_ = std::uncaught_exceptions();
};

}  // namespace

Session::Session(SceneRegistry::Pin scene, Options options)
    : scene_(std::move(scene)), options_(std::move(options)), cameras_(std::max(1, options_.worlds)) {
  for (int i = 0; i < std::max(1, options_.worlds); ++i) {
    worlds_.emplace_back().world = std::make_unique<World>(scene_->model, std::max(1, options_.threads));
  }
  Touch();
  NoteSeen();
}

// Worlds that came back with materials of their own have their models already.
void Session::Keep(Quotas::Hold place, KeptMemory memory) {
  place_ = std::move(place);
  memory_ = std::move(memory);
  for (Slot& slot : worlds_) {
    slot.materials_bytes = EstimateMaterialsBytes(*scene_->model, slot.world->state());
    memory_.SetTo(memory_.bytes() + slot.materials_bytes);
  }
}

// A world that has materials has a model of its own. The most that any of its states had, for as long as the session lives.
absl::Status Session::CountMaterials(const State& state, Slot* slot) {
  const int64_t bytes = EstimateMaterialsBytes(*scene_->model, state);
  if (bytes <= slot->materials_bytes) return absl::OkStatus();
  EIPC_RETURN_IF_ERROR(memory_.Grow(bytes - slot->materials_bytes, "the model of a world with materials of its own"));
  slot->materials_bytes = bytes;
  return absl::OkStatus();
}

void Session::CountAnswers(const TenantMemory& memory) {
  batch_retries_.CountIn(memory.Record(options_.owner, 0));
  for (Slot& slot : worlds_) {
    slot.retries.CountIn(memory.Record(options_.owner, 0));
    slot.batch_part.CountIn(memory.Record(options_.owner, 0));
  }
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
  EIPC_RETURN_IF_ERROR(CheckLog());
  bool takes_back = log_ != nullptr || command.whole;
  if (takes_back) slot.before = world->state();
  // Memory may end amid the request: a world has no steps that its journal does not have.
  OnThrow unless_whole([&] {
    if (takes_back) TakeBack(index);
  });
  slot.pending_s = 0;
  slot.ended_at.clear();
  int taken = 0;
  absl::Status status;
  for (; taken < command.substeps && status.ok(); ++taken) {
    status = StepOnce(command, taken, budget, slots, &slot, &sum.slot_wait_s);
    if (!status.ok()) break;
    slot.pending_s += slot.last_step_s;
    if (command.time_limit_s > 0) slot.ended_at.push_back(world->report().ended_at_check);
    ++sum.steps;
    sum.report = world->report();
  }
  if (!status.ok() && command.whole && taken > 0) {
    TakeBack(index);
    takes_back = false;
    taken = 0;
  }
  if (index == 0) NoteSeen();
  if (log_ != nullptr && taken > 0) {
    slot.pending = LogStep{index, command.dt_s, taken, command.targets, command.trajectories, world->state().Digest(),
                           "",    "",           "",    command.drives,  slot.ended_at};
  }
  if (status.ok()) return status;
  if (taken > 0) EIPC_RETURN_IF_ERROR(Acknowledge(index, "", "", ""));
  takes_back = false;
  return Reworded(status, absl::StrCat(status.message(), " (session at step ", world->state().step, ", ", taken, " of ",
                                       command.substeps, " substeps taken)"));
}

absl::Status Session::StepOnce(const StepCommand& command, int taken, const StepBudget& budget, SolveSlots* slots, Slot* world,
                               double* slot_wait_s) {
  const auto begin = options_.now();
  // Batch scheduling costs two system calls of some microseconds, too much for a short step or for one that is refused.
  std::optional<BatchScheduling> batch;
  const absl::StatusOr<SolveSlots::Slot> slot = slots->Take(command.claim, budget, [&] {
    if (world->last_step_s >= kLongStepSeconds) batch.emplace();
  });
  const auto taken_at = options_.now();
  *slot_wait_s += std::chrono::duration<double>(taken_at - begin).count();
  EIPC_RETURN_IF_ERROR(slot.status());
  StepInput input = SubstepInput(command.dt_s, {command.targets, command.trajectories, command.drives}, taken);
  input.limit = SolveLimit::After(command.time_limit_s, begin);
  input.measure_balance = command.measure_balance;
  const absl::Status status = world->world->Step(input, budget, taken > 0);
  world->last_step_s = std::chrono::duration<double>(options_.now() - taken_at).count();
  return status;
}

absl::Status Session::Acknowledge(int index, std::string request_id, std::string request, std::string response, RetryKind kind) {
  Slot& slot = worlds_[index];
  if (log_ == nullptr || !slot.pending) {
    RememberAnswer({index, 0, 0, {}, {}, "", std::move(request_id), std::move(request), std::move(response)}, kind);
    return absl::OkStatus();
  }
  // Until they are logged the steps stay pending, so that TakeBackPending finds them when there is no memory for the record.
  LogStep& record = *slot.pending;
  record.request_id = std::move(request_id);
  if (!record.request_id.empty()) {
    record.request = std::move(request);
    record.response = std::move(response);
  }
  double replay_s = slot.pending_s;
  const std::string bytes = PendingRecord(index, &record, kind, &replay_s);
  if (const absl::Status logged = log_->Append(bytes, replay_s); !logged.ok()) {
    TakeBack(index);
    return logged;
  }
  LogStep answered = std::move(record);
  slot.pending.reset();
  RememberAnswer(std::move(answered), kind);
  return absl::OkStatus();
}

void Session::TakeBack(int index) noexcept {
  Slot& slot = worlds_[index];
  slot.pending.reset();
  if (!slot.before) return;
  slot.world->Begin({*std::move(slot.before), nullptr});
  slot.before.reset();
  if (index == 0) NoteSeen();
}

void Session::TakeBackPending(int index) noexcept {
  if (worlds_[index].pending) TakeBack(index);
}

// Steps that would take long to replay are logged as the state after them, unless the session is recorded: recordings need the
// steps.
std::string Session::PendingRecord(int index, LogStep* step, RetryKind kind, double* replay_s) const {
  const LogSink* journal = log_->journal();
  if (journal == nullptr || log_->recording() || *replay_s <= journal->replay_bound_s()) {
    if (kind == RetryKind::kRequest) return EncodeRecord(*step);
    LogBatchStep part{std::move(*step)};
    std::string bytes = EncodeRecord(part);
    *step = std::move(part.step);
    return bytes;
  }
  *replay_s = 0;
  const World& world = *worlds_[index].world;
  LogStep answer{index, 0, 0, {}, {}, step->digest, step->request_id, step->request, step->response};
  return EncodeRecord(
      LogReached{{index, PackState(world.state(), world.model())}, std::move(answer), kind == RetryKind::kBatchPart});
}

void Session::RememberAnswer(LogStep step, RetryKind kind) {
  if (step.world >= 0) {
    Slot& slot = worlds_[step.world];
    // A part of a batch replaces the single request that the world remembers; a single request leaves the batch's part in place.
    if (kind == RetryKind::kBatchPart) slot.retries.Forget();
    RetryMemory& memory = kind == RetryKind::kRequest ? slot.retries : slot.batch_part;
    return memory.Remember(std::move(step.request_id), std::move(step.request), std::move(step.response));
  }
  for (Slot& slot : worlds_) {
    if (slot.batch_part.id() == step.request_id) slot.batch_part.Forget();
  }
  batch_retries_.Remember(std::move(step.request_id), std::move(step.request), std::move(step.response));
}

absl::Status Session::CheckBatchId(const std::string& id, const std::string& digest) const {
  for (const Slot& slot : worlds_) EIPC_RETURN_IF_ERROR(slot.batch_part.Find(id, digest).status());
  return absl::OkStatus();
}

absl::Status Session::AcknowledgeBatch(std::string request_id, std::string request, std::string response) {
  if (request_id.empty()) return absl::OkStatus();
  LogStep answer{-1, 0, 0, {}, {}, "", std::move(request_id), std::move(request), std::move(response)};
  if (log_ != nullptr) EIPC_RETURN_IF_ERROR(log_->Append(EncodeRecord(answer)));
  RememberAnswer(std::move(answer), RetryKind::kRequest);
  return absl::OkStatus();
}

// First everything that may fail, then the record, then what cannot: journal and world always agree.
absl::Status Session::Replace(int index, const State& state) {
  Slot& slot = worlds_[index];
  EIPC_RETURN_IF_ERROR(CountMaterials(state, &slot));
  EIPC_ASSIGN_OR_RETURN(World::Start start, slot.world->Prepare(state));
  if (log_ != nullptr) EIPC_RETURN_IF_ERROR(log_->Append(EncodeRecord(LogState{index, PackState(state, *scene_->model)})));
  slot.retries.Forget();
  slot.batch_part.Forget();
  batch_retries_.Forget();
  slot.world->Begin(std::move(start));
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
  for (int i = 0; i < world_count(); ++i) records.push_back(LogState{i, PackState(world(i).state(), *scene_->model)});
  const auto answer = [](int index, const RetryMemory& memory, std::string digest) {
    return LogStep{index, 0, 0, {}, {}, std::move(digest), memory.id(), memory.request(), memory.response()};
  };
  if (!batch_retries_.id().empty()) records.push_back(answer(-1, batch_retries_, ""));
  for (int i = 0; i < world_count(); ++i) {
    const Slot& slot = worlds_[i];
    const std::string digest = slot.world->state().Digest();
    // In this order: a part of a batch makes one forget the world's own request.
    if (!slot.batch_part.id().empty()) records.push_back(LogBatchStep{answer(i, slot.batch_part, digest)});
    if (!slot.retries.id().empty()) records.push_back(answer(i, slot.retries, digest));
  }
  if (const std::string build = migrated_from_build(); !build.empty()) records.push_back(LogMigrated{build});
  return records;
}

absl::Status Session::Replay(LogStep step, RetryKind kind, ReplayBits bits, const StepBudget& budget) {
  if (step.world >= world_count()) return absl::InvalidArgumentError("RECORDING_CORRUPT: a step of a world that there is not");
  if (step.world >= 0) EIPC_RETURN_IF_ERROR(ReplayStep(step, worlds_[step.world].world.get(), bits, budget));
  RememberAnswer(std::move(step), kind);
  NoteSeen();
  return absl::OkStatus();
}

absl::Status Session::Reach(const State& state, LogStep answer, RetryKind kind) {
  EIPC_RETURN_IF_ERROR(worlds_[answer.world].world->Restore(state));
  RememberAnswer(std::move(answer), kind);
  NoteSeen();
  return absl::OkStatus();
}

absl::Status Session::CheckLog() const {
  return log_ == nullptr || log_->journal() == nullptr ? absl::OkStatus() : log_->journal()->Usable();
}

std::string Session::migrated_from_build() const {
  const std::lock_guard<std::mutex> lock(migrated_mutex_);
  return migrated_from_build_;
}

absl::Status Session::NoteMigrated(const std::string& build) {
  if (build.empty()) return absl::OkStatus();
  std::string noted = build;
  if (log_ != nullptr) EIPC_RETURN_IF_ERROR(log_->Append(EncodeRecord(LogMigrated{build})));
  const std::lock_guard<std::mutex> lock(migrated_mutex_);
  migrated_from_build_.swap(noted);
  return absl::OkStatus();
}

absl::Status Session::CheckpointLog(const std::string& session_name) {
  if (log_ == nullptr || log_->journal() == nullptr) return absl::OkStatus();
  return log_->journal()->Checkpoint(EncodeRecords(PresentRecords(session_name)));
}

void Session::CheckpointLogIfDue(const std::string& session_name) {
  if (log_ == nullptr || log_->journal() == nullptr || !log_->journal()->WantsCheckpoint()) return;
  try {
    log_->journal()->StartCheckpoint(EncodeRecords(PresentRecords(session_name)));
  } catch (const std::bad_alloc&) {
    // What made it due has been acknowledged.
  }
}

absl::Status Session::CheckpointLogIfGrown(const std::string& session_name) {
  if (log_ == nullptr || log_->journal() == nullptr || !log_->journal()->grown()) return absl::OkStatus();
  return CheckpointLog(session_name);
}

void Session::AttachLog(std::unique_ptr<SessionLog> log) {
  log_ = std::move(log);
  if (!log_->recording()) return;
  std::vector<LogRecord> records = PresentRecords("");
  std::get<LogHeader>(records[0]).payload = scene_->payload;
  log_->BeginRecording(EncodeRecords(records));
}

}  // namespace eipc
