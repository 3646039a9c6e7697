#ifndef EIPC_SERVER_SESSION_JOURNAL_H_
#define EIPC_SERVER_SESSION_JOURNAL_H_

// Sessions that survive the process: a folder with the scenes in use and one journal a session.
//
//   FOLDER/lock                       held while a server uses the folder
//   FOLDER/scenes/OWNER-DIGEST        framed: owner, name, message
//   FOLDER/sessions/ID.N.log          action log (action_log.h) that begins with header and states; the highest sound N counts
//
// Durability: a record is in the operating system's hands before its step is acknowledged, so it survives the end of the process,
// kill -9 included; it is on the disk (fdatasync) within `sync_interval` after that, so it survives a loss of power if that comes
// later. What cannot be written is refused: the file is cut back to its last whole record, and the step is taken back.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/session/scene_registry.h"
#include "server/session/session_log.h"

namespace eipc {

class JournalStore {
 public:
  struct Options {
    std::string folder;
    std::chrono::milliseconds sync_interval{50};
    // A journal that has grown by so much begins anew with a snapshot.
    int64_t checkpoint_bytes = 8 << 20;
  };
  // Makes the folder if need be. UNAVAILABLE when it cannot be used, FAILED_PRECONDITION when another server uses it.
  static absl::StatusOr<std::unique_ptr<JournalStore>> Open(Options options);
  ~JournalStore();

  // A session's journal, empty: begin it with Checkpoint. Must not outlive the store.
  std::unique_ptr<LogSink> JournalOf(const std::string& session_name);

  absl::Status KeepScene(const StoredScene& scene);
  void RemoveScene(const StoredScene& scene);

  // What a server before this one left. Scenes without a model; logs whole up to their last sound record.
  struct Found {
    std::vector<StoredScene> scenes;
    struct Log {
      std::string session;
      std::string bytes;
    };
    std::vector<Log> logs;
    // What could not be read, a line each. Such files are left alone.
    std::vector<std::string> problems;
  };
  Found Read() const;

  // Writes that failed since the start.
  int64_t failures() const { return failures_; }
  const Options& options() const { return options_; }

 private:
  class Journal;
  explicit JournalStore(Options options) : options_(std::move(options)) {}
  void SyncLoop();

  const Options options_;
  int lock_file_ = -1;
  std::atomic<int64_t> failures_ = 0;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::set<Journal*> dirty_;
  std::set<Journal*> syncing_;
  bool stop_ = false;
  std::condition_variable changed_;
  std::thread syncer_;
};

}  // namespace eipc

#endif  // EIPC_SERVER_SESSION_JOURNAL_H_
