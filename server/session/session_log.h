#ifndef EIPC_SERVER_SESSION_SESSION_LOG_H_
#define EIPC_SERVER_SESSION_SESSION_LOG_H_

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/session/kept_memory.h"
#include "server/session/quotas.h"

namespace eipc {

// Where a session's journal goes (server/session/journal.h).
class LogSink {
 public:
  virtual ~LogSink() = default;
  // All of `bytes` or nothing. `replay_s`: what taking these steps again would take.
  virtual absl::Status Append(absl::string_view bytes, double replay_s) = 0;
  // Whether records are taken; otherwise why not.
  virtual absl::Status Usable() const = 0;
  // Whether the journal has grown so long, or would take so long to replay, that it should begin anew with the present states.
  virtual bool WantsCheckpoint() const = 0;
  // Whether it holds more than the last checkpoint.
  virtual bool grown() const = 0;
  // Steps that took longer are not to be taken again: their state is logged instead.
  virtual double replay_bound_s() const = 0;
  // Begins anew with these records; the old ones go once the new ones are safe.
  virtual absl::Status Checkpoint(absl::string_view bytes) = 0;
  // The same on another thread, while records are appended. When it fails, the journal so far stays good.
  virtual void StartCheckpoint(std::string bytes) = 0;
};

// What a session writes its records to: a journal that survives the process, a recording that the client asked for, or both.
class SessionLog {
 public:
  // `journal` may be null; a recording holds at most `max_recording_bytes`, and no more than `hold` and `memory` may grow by: after
  // that it is given up (and says so).
  SessionLog(std::unique_ptr<LogSink> journal, bool record, size_t max_recording_bytes, Quotas::Hold hold = {},
             KeptMemory memory = {})
      : journal_(std::move(journal)),
        record_(record),
        max_recording_bytes_(max_recording_bytes),
        hold_(std::move(hold)),
        memory_(std::move(memory)) {}

  // Framed records. Nothing is recorded that the journal refused.
  absl::Status Append(absl::string_view bytes, double replay_s = 0);
  // What a recording begins with; a journal is begun by Checkpoint.
  void BeginRecording(absl::string_view bytes);

  LogSink* journal() { return journal_.get(); }
  bool recording() const { return record_; }
  // A copy of what was recorded, whole records. The status of CheckRecording when there is none.
  absl::StatusOr<std::string> Recording() const;
  // FAILED_PRECONDITION (NOT_RECORDED); RESOURCE_EXHAUSTED (RECORDING_TOO_LARGE) when it outgrew a bound and was given up.
  absl::Status CheckRecording() const;
  size_t recorded_bytes() const;

 private:
  // Require mutex_.
  // Makes room for a record of this size, or gives the recording up.
  void Prepare(size_t bytes);
  // Takes it, in the room that there is; nothing when the recording was given up.
  void Record(absl::string_view bytes);
  absl::Status MakeRoom(size_t bytes);
  void Clear();
  absl::Status Check() const;

  const std::unique_ptr<LogSink> journal_;
  const bool record_;
  const size_t max_recording_bytes_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<std::string> pieces_;  // of the recording: it never moves as it grows
  size_t recorded_ = 0;
  Quotas::Hold hold_;      // of its bytes
  KeptMemory memory_;      // of the pieces
  absl::Status given_up_;  // why; OK while it is kept
};

}  // namespace eipc

#endif  // EIPC_SERVER_SESSION_SESSION_LOG_H_
