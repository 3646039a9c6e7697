#ifndef EIPC_SERVER_SESSION_SESSION_JOURNAL_H_
#define EIPC_SERVER_SESSION_SESSION_JOURNAL_H_

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/os/file_system.h"

namespace eipc {

// One session's files: STEM.N.log, appended to; a checkpoint begins the next number and removes the one before. Thread-safe.
//
// Invariants:
// - A record that Append took is in the operating system's hands, in the file that the highest number names or, while a checkpoint
// is
//   being written, in both.
// - The file is never followed by anything after half a record: what cannot be written whole is cut back.
// - Once something has failed that leaves the files in doubt (a sync, a cut), or the file has lost its name (somebody removed or
//   replaced it or a folder above it), nothing is taken any more (fail-stop).
// - After Remove no file of the session is there, and none comes back: it is the end of the journal, even while held.
class SessionJournal {
 public:
  struct Options {
    // A journal begins anew when it has grown by this much,
    int64_t checkpoint_bytes = 8 << 20;
    // or when its steps would take so long to be taken again.
    std::chrono::duration<double> checkpoint_replay{0.25};
  };
  // Called once, when the journal stops taking anything. Must not call the journal.
  using OnFailed = std::function<void(const std::string& session, const absl::Status& status)>;

  SessionJournal(FileSystem* files, std::string stem, std::string session, Options options, OnFailed on_failed)
      : files_(files), stem_(std::move(stem)), session_(std::move(session)), options_(options), on_failed_(std::move(on_failed)) {}
  SessionJournal(const SessionJournal&) = delete;
  SessionJournal& operator=(const SessionJournal&) = delete;

  // What a server before this one left of the session.
  struct Left {
    int64_t number = 0;               // of its last sound file
    off_t begin_bytes = 0;            // of header and states in it
    off_t sound_bytes = 0;            // of all whole records
    bool torn = false;                // more than those is in the file
    double replay_s = 0;              // that the steps among them took to be taken again
    std::vector<std::string> others;  // files that this one makes needless
    int64_t last_number = 0;          // of any file, sound or not
  };
  // Goes on with that file, which is to be synced soon. Waits for the disk only when something is cut off or removed: many sessions
  // come back at once.
  absl::Status Continue(const Left& left);
  // Begins a file of its own; what was left is removed once that has begun.
  void BeginAfter(const Left& left);

  // All of `bytes` or nothing. `replay_s` is what taking the record again would take.
  absl::Status Append(absl::string_view bytes, double replay_s);
  // Whether records are taken: OK, CANCELLED after Remove, UNAVAILABLE (JOURNAL_FAILED) after a failure.
  absl::Status Usable() const;
  bool failed() const;
  bool WantsCheckpoint() const;
  // Whether anything was appended since the last checkpoint.
  bool grown() const;

  // Begins anew with these records, which say what all records so far do. Returns when that is on the disk.
  absl::Status Checkpoint(absl::string_view bytes);
  // The same in two parts: the caller notes what the next file begins with, and another thread writes it while records are
  // appended. False when a checkpoint is in progress already.
  bool PrepareCheckpoint(std::string bytes);
  absl::Status WriteCheckpoint();

  // On the disk, or the journal has failed.
  void Sync();
  // Fails the journal when its file has lost its name. Append does so itself; this is for sessions to which nothing is appended.
  void CheckName();
  // Fails the journal for this reason.
  void Stop(const absl::Status& cause);

  // Deletes the files, durably. When that fails it may be asked for again; until it has succeeded the journal takes nothing, unless
  // no file was removed.
  absl::Status Remove();

  static constexpr char kSuffix[] = ".log";

 private:
  using FilePtr = std::shared_ptr<const OpenFile>;
  // A file that takes records: the bytes of whole ones, and its name.
  struct Part {
    FilePtr file;
    off_t size = 0;
    std::string path;
  };
  std::string PathOf(int64_t number) const;
  // All require mutex_.
  absl::Status UsableLocked() const;
  void Fail(const absl::Status& cause);
  absl::Status CutBack(const absl::Status& cause);
  absl::Status Named();
  absl::Status TakeTail(const FilePtr& file, const std::string& path, size_t begin_bytes);

  absl::Status WritePrepared();  // requires checkpointing_
  // The next file, whole and on the disk but for its name; it takes every record from then on.
  absl::Status WriteBeside(const std::string& beside, const std::string& begin);
  absl::Status GiveUpCheckpoint(absl::Status cause, const std::string& beside);
  // Of the next file: while it is written, and then; and of the file before it.
  struct Names {
    int64_t number = 0;
    std::string beside, path, before;
  };
  absl::Status SwitchTo(Names names);

  FileSystem* const files_;
  const std::string stem_;
  const std::string session_;
  const Options options_;
  const OnFailed on_failed_;

  std::mutex checkpointing_;  // held while a checkpoint is written; before mutex_
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  Part now_;
  int64_t number_ = 0;
  off_t begun_ = 0;      // size of now_ at the last checkpoint
  double replay_s_ = 0;  // of the records since then
  std::vector<std::string> others_;
  std::optional<std::string> prepared_;  // what the next file begins with
  std::string tail_;                     // appended since prepared_ was noted, until next_ takes it
  Part next_;                            // takes every record too
  bool removed_ = false;
  bool gave_up_ = false;  // the last checkpoint failed
  absl::Status failure_;
};

}  // namespace eipc

#endif  // EIPC_SERVER_SESSION_SESSION_JOURNAL_H_
