#ifndef EIPC_SERVER_SESSION_ACTION_LOG_H_
#define EIPC_SERVER_SESSION_ACTION_LOG_H_

// What happened to a session, as a sequence of records: the bytes of journals (server/session/journal.h) and of recordings, which
// `eipc verify` replays. Each record is framed by its length and a CRC-32, so that a torn end is noticed and everything before it
// can be used.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/dynamics/substep_input.h"
#include "sim/dynamics/world.h"

namespace eipc {

// First in every log: which bits these are.
struct LogHeader {
  std::string scene;    // "scenes/{digest}"
  std::string payload;  // the scene message; empty where it is kept elsewhere
  std::string build;
  std::string session;
  std::string owner;
  int32_t worlds = 1;
  int32_t threads = 1;
  double idle_timeout_s = 0;
  bool recorded = false;
};

// A world is in this state from here on: at the beginning, after a reset, after a restore.
struct LogState {
  int32_t world = 0;
  std::string state;  // PackState; EncodeState in logs of version 0.1
};

// A request's steps; none (and no digest) for an answer alone, of a batch when the world is -1. `digest` is that of the state after
// them. What was answered is kept for retries, when the request had an id.
struct LogStep {
  int32_t world = 0;
  double dt_s = 0;
  int32_t substeps = 1;
  std::vector<Target> targets;
  std::vector<FrameTrajectory> trajectories;
  std::string digest;
  std::string request_id;
  std::string request;
  std::string response;
  std::vector<TimedDrive> drives = {};
  // Of each step: the check at which its time limit ended its solves (SolveLimit::ends_at_check). Empty: there was none.
  std::vector<int64_t> ended_at = {};
};

// A world's steps as part of a batch with an id, logged before the batch is answered: `request_id` is the batch's, `request` the
// SHA-256 of the whole batch, `response` the world's own. A batch that is repeated after it was cut short takes from here what it
// need not step again.
struct LogBatchStep {
  LogStep step;
};

// The session continues from a state of this other build: from here on the bits are not those that build would have given.
struct LogMigrated {
  std::string build;
};

// Where steps led that would take long to be taken again, and their answer: the state is logged instead of the steps.
struct LogReached {
  LogState state;
  LogStep answer;
  bool batch_part = false;  // as LogBatchStep
};

// Kinds are numbered by their place: add at the end.
using LogRecord = std::variant<LogHeader, LogState, LogStep, LogBatchStep, LogMigrated, LogReached>;

// The framed bytes of a record, T one of the kinds: nothing else of its size is held meanwhile.
template <typename T>
std::string EncodeRecord(const T& record);
std::string EncodeRecord(const LogRecord& record);
std::string EncodeRecords(const std::vector<LogRecord>& records);
// What comes before and after the payload in the bytes of a header whose payload is elsewhere, and is not copied.
struct AroundPayload {
  std::string before, after;
};
AroundPayload EncodeAround(const LogHeader& header, absl::string_view payload);

// Reads the records of a log one after another.
class LogReader {
 public:
  explicit LogReader(absl::string_view bytes) : bytes_(bytes) {}
  // The next record; nullopt at the end, or where the log is torn. INVALID_ARGUMENT (RECORDING_CORRUPT) for a framed record that is
  // none of ours.
  absl::StatusOr<std::optional<LogRecord>> Next();
  // Bytes of the records read so far; less than all of them after the last one when the log is torn.
  size_t offset() const { return offset_; }
  bool torn() const { return offset_ < bytes_.size(); }

 private:
  absl::string_view bytes_;
  size_t offset_ = 0;
};

// Takes a record's steps again. DATA_LOSS (DIGEST_MISMATCH) when the state after them is another than it was then, unless the
// record is of another build, whose bits are not compared. Errors of the budget.
enum class ReplayBits { kCompared, kOfAnotherBuild };
absl::Status ReplayStep(const LogStep& step, World* world, ReplayBits bits = ReplayBits::kCompared, const StepBudget& budget = {});

}  // namespace eipc

#endif  // EIPC_SERVER_SESSION_ACTION_LOG_H_
