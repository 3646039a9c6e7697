#ifndef EIPC_SERVER_SESSION_SESSION_H_
#define EIPC_SERVER_SESSION_SESSION_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/session/action_log.h"
#include "server/session/kept_memory.h"
#include "server/session/quotas.h"
#include "server/session/retry_memory.h"
#include "server/session/scene_registry.h"
#include "server/session/session_cameras.h"
#include "server/session/session_log.h"
#include "server/session/solve_slots.h"
#include "sim/dynamics/world.h"
#include "sim/solver/step_budget.h"

namespace eipc {

struct StepCommand {
  double dt_s = 0;
  std::vector<Target> targets;
  // Frames that move during the request; none of them has a target.
  std::vector<FrameTrajectory> trajectories;
  // Steps of dt_s to take, >= 1.
  int substeps = 1;
  // All substeps or none: what was taken is taken back when one fails.
  bool whole = false;
  // Refuse unless the world is at this step.
  std::optional<int64_t> expected_step;
  SolveClaim claim;
  // What drives do during the request.
  std::vector<TimedDrive> drives = {};
  // Of each step, from when it asks for a slot; its solves end in time with what they have. 0: no limit.
  double time_limit_s = 0;
  bool measure_balance = false;  // StepInput
};

// The steps of a request.
struct StepSummary {
  int64_t first_step = 0;
  int steps = 0;           // taken
  double slot_wait_s = 0;  // for solve slots, in all
  StepReport report;       // of them together
};

// The kind of request whose answer is remembered for a retry: a request of its own, or a world's part of a batch.
enum class RetryKind { kRequest, kBatchPart };

// Running copies of a scene, used by one call at a time (through a lease); that call may step different worlds from different
// threads.
//
// Invariants: every world is always at a whole step; a request that fails leaves the steps that were finished before it failed;
// what has been acknowledged is in the session's log.
class Session {
 public:
  struct Options {
    int threads = 1;
    int worlds = 1;
    std::string owner;
    std::chrono::duration<double> idle_timeout{0};  // 0: never reaped
    // What steps are timed by.
    std::chrono::steady_clock::time_point (*now)() = std::chrono::steady_clock::now;
  };

  Session(SceneRegistry::Pin scene, Options options);
  Session(SceneRegistry::Pin scene, int threads) : Session(std::move(scene), Options{.threads = threads}) {}

  const std::string& scene_name() const { return scene_->name; }
  const StoredScene& scene() const { return *scene_; }
  // The session has been removed and no call uses it: its scene may be deleted, even while a reader (a list, the metrics) holds it.
  void Retire() { scene_.Release(); }
  const Options& options() const { return options_; }
  int world_count() const { return static_cast<int>(worlds_.size()); }
  const World& world(int index = 0) const { return *worlds_[index].world; }

  // Takes command.substeps steps, each in a solve slot of its own so that long requests share the processor. ABORTED when
  // expected_step differs; the errors of World::Step and of the budget, saying which step the world is at.
  absl::Status Step(const StepCommand& command, const StepBudget& budget, SolveSlots* slots, int index = 0,
                    StepSummary* summary = nullptr);

  // Puts a request's finished steps into the log, with its answer for retries, before the answer is given. When they cannot be
  // logged they are taken back: the world is where it was before the request, and the caller gets UNAVAILABLE (JOURNAL_FAILED).
  absl::Status Acknowledge(int index, std::string request_id, std::string request, std::string response,
                           RetryKind kind = RetryKind::kRequest);

  // The same for the answer of a batch, whose worlds' steps have been acknowledged as its parts; those are forgotten.
  absl::Status AcknowledgeBatch(std::string request_id, std::string request, std::string response);

  // Takes back the steps of a request that ended before it could be acknowledged, such as one whose answer found no memory. Nothing
  // where they have been acknowledged, or where there is no log.
  void TakeBackPending(int index) noexcept;

  // Back to the scene's start; earlier requests are forgotten. UNAVAILABLE when it cannot be logged: nothing happened then.
  absl::Status Reset(int index = 0);
  // Into a state of this scene; likewise.
  absl::Status Restore(int index, const State& state);

  // Takes logged steps again (ReplayStep), and remembers their answer.
  absl::Status Replay(LogStep step, RetryKind kind, ReplayBits bits, const StepBudget& budget);
  // Goes where logged steps led, and remembers their answer.
  absl::Status Reach(const State& state, LogStep answer, RetryKind kind);

  // Before a world moves and pictures of it are drawn (SessionCameras::Prepare).
  absl::Status PrepareCameras(int index, const StepBudget& budget) {
    return cameras_.Prepare(index, *scene_->model, &memory_, budget);
  }
  SessionCameras& cameras() { return cameras_; }

  // The last finished request of a world and its response, for retries; of batches: world -1.
  RetryMemory& retries(int index = 0) { return index < 0 ? batch_retries_ : worlds_[index].retries; }
  // What a world answered as part of a batch that has not been answered as a whole. INVALID_ARGUMENT (REQUEST_ID_REUSED) when any
  // world took part in another batch under the same id.
  absl::Status CheckBatchId(const std::string& id, const std::string& digest) const;
  absl::StatusOr<const std::string*> BatchPart(int index, const std::string& id, const std::string& digest) const {
    return worlds_[index].batch_part.Find(id, digest);
  }

  // Where what happens from now on is written. A recording begins with the present states here, a journal by its Checkpoint.
  void AttachLog(std::unique_ptr<SessionLog> log);
  bool logged() const { return log_ != nullptr; }
  bool recording() const { return log_ != nullptr && log_->recording(); }
  // Its place among its tenant's sessions and the memory that was set aside for it, given back with it.
  void Keep(Quotas::Hold place, KeptMemory memory);
  // The answers that it remembers count there from now on.
  void CountAnswers(const TenantMemory& memory);
  // nullptr when there is none.
  SessionLog* log() { return log_.get(); }
  // Begins the journal (anew) with the present, so that it does not grow for ever.
  absl::Status CheckpointLog(const std::string& session_name);
  // The same, when it has grown enough, on a thread of the journal's. What fails is tried again later: the journal so far stays
  // good.
  void CheckpointLogIfDue(const std::string& session_name);
  // The same at once, unless the journal says nothing but the present already.
  absl::Status CheckpointLogIfGrown(const std::string& session_name);
  // OK while the log takes records, so that what is done can be acknowledged.
  absl::Status CheckLog() const;

  // The build that a state of this session was last taken over from, when it was another: its bits are not continued. Safe to read
  // without a lease.
  std::string migrated_from_build() const;
  absl::Status NoteMigrated(const std::string& build);
  // Whether this is the first time that a step of this session is noted to have inverted elements.
  bool NoteInversion() { return !inversion_noted_.exchange(true); }
  // The present as the records that a log begins with: header, states, and the answers that may be asked for again.
  std::vector<LogRecord> PresentRecords(const std::string& session_name) const;

  // Safe to read without a lease: the first world's step and time, and when a call last used the session.
  int64_t seen_step() const { return seen_step_.load(std::memory_order_relaxed); }
  double seen_time_s() const { return seen_time_s_.load(std::memory_order_relaxed); }
  void Touch() { used_.store(std::chrono::steady_clock::now().time_since_epoch().count(), std::memory_order_relaxed); }
  bool IdleSince(std::chrono::steady_clock::time_point now) const;

 private:
  struct Slot {
    std::unique_ptr<World> world;
    RetryMemory retries;
    RetryMemory batch_part;
    std::optional<State> before;     // the request that is not yet acknowledged, where it may be taken back
    std::optional<LogStep> pending;  // its steps
    std::vector<int64_t> ended_at;   // of each of them: SolveLimit::ends_at_check; empty: none had a time limit
    double pending_s = 0;            // what they took
    double last_step_s = 0;          // what the last step took
    int64_t materials_bytes = 0;     // in memory_, of the model that a world with materials of its own has
  };

  absl::Status StepOnce(const StepCommand& command, int taken, const StepBudget& budget, SolveSlots* slots, Slot* world,
                        double* slot_wait_s);
  absl::Status Replace(int index, const State& state);
  absl::Status CountMaterials(const State& state, Slot* slot);
  std::string PendingRecord(int index, LogStep* step, RetryKind kind, double* replay_s) const;
  void TakeBack(int index) noexcept;
  void RememberAnswer(LogStep step, RetryKind kind);
  void NoteSeen();

  Quotas::Hold place_;
  KeptMemory memory_;
  SceneRegistry::Pin scene_;
  const Options options_;
  std::vector<Slot> worlds_;
  SessionCameras cameras_;
  RetryMemory batch_retries_;
  std::unique_ptr<SessionLog> log_;
  std::atomic<int64_t> seen_step_ = 0;
  std::atomic<double> seen_time_s_ = 0;
  std::atomic<int64_t> used_ = 0;
  std::atomic<bool> inversion_noted_ = false;
  mutable std::mutex migrated_mutex_;
  std::string migrated_from_build_;  // guarded by migrated_mutex_
};

}  // namespace eipc

#endif  // EIPC_SERVER_SESSION_SESSION_H_
