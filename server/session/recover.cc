#include "server/session/recover.h"

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/session/build_id.h"
#include "server/session/ids.h"
#include "server/session/state_bytes.h"
#include "sim/base/status_macros.h"

namespace eipc {
namespace {

absl::Status Corrupt(absl::string_view what) { return absl::InvalidArgumentError(absl::StrCat("RECORDING_CORRUPT: ", what)); }

// Does to a session what the records of its journal say.
class Replay {
 public:
  Replay(Session* session, bool same_build, const StepBudget& budget)
      : session_(session), same_build_(same_build), budget_(budget), lost_(session->world_count(), false) {}

  absl::Status Apply(LogRecord record) {
    if (auto* state = std::get_if<LogState>(&record)) return Put(*state);
    if (auto* step = std::get_if<LogStep>(&record)) return Take(std::move(*step), RetryKind::kRequest);
    if (auto* part = std::get_if<LogBatchStep>(&record)) return Take(std::move(part->step), RetryKind::kBatchPart);
    if (auto* reached = std::get_if<LogReached>(&record)) return Reach(std::move(*reached));
    if (auto* migrated = std::get_if<LogMigrated>(&record)) return session_->NoteMigrated(migrated->build);
    return absl::OkStatus();
  }
  double replay_s() const { return replay_s_; }
  const std::string& note() const { return note_; }

 private:
  absl::StatusOr<State> Unpack(const LogState& state) {
    if (state.world < 0 || state.world >= session_->world_count()) return Corrupt("a state of a world that there is not");
    lost_[state.world] = false;
    return UnpackState(state.state, session_->world().model(), same_build_ ? StateBits::kAll : StateBits::kPositionsAndVelocities);
  }

  absl::Status Put(const LogState& state) {
    EIPC_ASSIGN_OR_RETURN(const State unpacked, Unpack(state));
    return session_->Restore(state.world, unpacked);
  }

  absl::Status Reach(LogReached reached) {
    EIPC_ASSIGN_OR_RETURN(const State state, Unpack(reached.state));
    reached.answer.world = reached.state.world;
    return session_->Reach(state, std::move(reached.answer), reached.batch_part ? RetryKind::kBatchPart : RetryKind::kRequest);
  }

  absl::Status Take(LogStep step, RetryKind kind) {
    if (step.world >= 0 && step.world < session_->world_count() && lost_[step.world]) return absl::OkStatus();
    const auto begin = std::chrono::steady_clock::now();
    const int32_t world = step.world;
    const absl::Status status =
        session_->Replay(std::move(step), kind, same_build_ ? ReplayBits::kCompared : ReplayBits::kOfAnotherBuild, budget_);
    replay_s_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (status.ok() || same_build_ || !budget_.Poll().ok() || absl::IsInvalidArgument(status)) return status;
    // What another build could step, this one cannot: the world stays at its last whole step.
    lost_[world] = true;
    absl::StrAppend(&note_, note_.empty() ? "" : "; ", "world ", world, " stays at step ", session_->world(world).state().step,
                    ": ", status.message());
    return absl::OkStatus();
  }

  Session* const session_;
  const bool same_build_;
  const StepBudget& budget_;
  std::vector<bool> lost_;  // by world: its steps cannot be taken again
  double replay_s_ = 0;
  std::string note_;
};

}  // namespace

absl::StatusOr<LogHeader> ReadLogHeader(const std::string& bytes) {
  LogReader reader(bytes);
  EIPC_ASSIGN_OR_RETURN(const std::optional<LogRecord> record, reader.Next());
  if (!record || !std::holds_alternative<LogHeader>(*record)) return Corrupt("the journal has no header");
  return std::get<LogHeader>(*record);
}

absl::StatusOr<RecoveredSession> RecoverSession(SceneRegistry::Pin scene, const std::string& bytes, const StepBudget& budget) {
  EIPC_ASSIGN_OR_RETURN(const LogHeader header, ReadLogHeader(bytes));
  if (header.scene != scene->name || header.worlds < 1 || header.threads < 1) return Corrupt("the journal's header makes no sense");
  Session::Options options;
  options.threads = header.threads;
  options.worlds = header.worlds;
  options.owner = header.owner;
  options.idle_timeout = std::chrono::duration<double>(header.idle_timeout_s);
  RecoveredSession recovered;
  recovered.session = std::make_unique<Session>(std::move(scene), std::move(options));
  recovered.migrated = header.build != BuildId();
  Replay replay(recovered.session.get(), !recovered.migrated, budget);
  LogReader reader(bytes);
  while (true) {
    EIPC_RETURN_IF_ERROR(budget.Poll());
    EIPC_ASSIGN_OR_RETURN(std::optional<LogRecord> record, reader.Next());
    if (!record) break;
    EIPC_RETURN_IF_ERROR(replay.Apply(*std::move(record)));
  }
  if (recovered.migrated) EIPC_RETURN_IF_ERROR(recovered.session->NoteMigrated(Printable(header.build)));
  recovered.replay_s = replay.replay_s();
  recovered.note = replay.note();
  return recovered;
}

}  // namespace eipc
