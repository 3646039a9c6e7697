#ifndef EIPC_SERVER_SESSION_JOURNAL_H_
#define EIPC_SERVER_SESSION_JOURNAL_H_

// Sessions that survive the process: a folder with the scenes in use and one journal a session. Readable by its owner only.
//
//   FOLDER/lock                       held while a server uses the folder
//   FOLDER/scenes/OWNER-DIGEST        framed: owner, name, message
//   FOLDER/scene-copies/OWNER-DIGEST  the same once more
//   FOLDER/sessions/ID.N.log          action log (action_log.h) that begins with header and states; the highest sound N counts
//   *.tmp                             being written; what is left of them is removed at the start
//
// Durability: a record is in the operating system's hands before its step is acknowledged, so it survives the end of the process,
// kill -9 included; it is on the disk (fdatasync) within `sync_interval` after that, so it survives a loss of power if that comes
// later. What cannot be written is refused: the file is cut back to its last whole record, and the step is taken back. What leaves
// the files in doubt stops the session's journal for good (session_journal.h). Once somebody has removed or replaced the folder,
// all of them are stopped, and nothing is kept or removed any more: another server may use what has its name now. The file of a
// scene in use that somebody removes or changes is written again (scene_files.h): what is in it is still held. Should the server
// end before that, the next start takes the copy.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/os/file_system.h"
#include "server/session/action_log.h"
#include "server/session/scene_files.h"
#include "server/session/scene_registry.h"
#include "server/session/session_journal.h"
#include "server/session/session_log.h"

namespace eipc {

class JournalStore {
 public:
  struct Options {
    std::string folder;
    std::chrono::milliseconds sync_interval{50};
    // A journal that has grown by this much, or whose steps would take this long to replay, begins anew with a snapshot.
    int64_t checkpoint_bytes = 8 << 20;
    std::chrono::milliseconds checkpoint_replay{250};
    // How often files to which nothing is appended are looked for, and the folder itself.
    std::chrono::milliseconds watch_interval{1000};
    FileSystem* files = FileSystem::Real();
    // Called once for a session whose journal has stopped taking anything; from any thread; may be empty.
    SessionJournal::OnFailed on_failed;
    // Called when the file of a scene was removed or changed, and when it is there again; may be empty.
    SceneFiles::OnChange on_scene_file;
  };
  // Makes the folder if need be. UNAVAILABLE when it cannot be used, FAILED_PRECONDITION when another server uses it.
  static absl::StatusOr<std::unique_ptr<JournalStore>> Open(Options options);
  ~JournalStore();

  // A session's journal, empty: begin it with Checkpoint. Must not outlive the store. One that a server before this one has left
  // files of begins above them, and removes them once it has begun.
  std::unique_ptr<LogSink> JournalOf(const std::string& session_name);

  // What a server before this one left of a session: the whole records of its journal.
  struct LeftLog {
    std::string bytes;
    SessionJournal::Left files;
  };
  // NOT_FOUND when nothing of it is there, INVALID_ARGUMENT (RECORDING_CORRUPT) when no file of it has a sound beginning.
  absl::StatusOr<LeftLog> ReadLog(const std::string& session_name) const;
  // The journal that continues where that one ends.
  absl::StatusOr<std::unique_ptr<LogSink>> ContinueLog(const std::string& session_name, const SessionJournal::Left& left);

  // Deletes a session's files, durably, and ends its journal, held or not: nothing is written to it any more. Doing it again
  // is no error. UNAVAILABLE (JOURNAL_FAILED) when the files cannot be removed.
  absl::Status RemoveSession(const std::string& session_name);

  absl::Status KeepScene(const StoredScene& scene);
  // Of a scene whose file is there: it is written again whenever somebody removes or changes it, until RemoveScene.
  void GuardScene(const std::shared_ptr<const StoredScene>& scene) { scene_files_.Guard(scene); }
  absl::Status RemoveScene(const StoredScene& scene);

  // What a server before this one left. Scenes without a model; the headers of the sessions' journals.
  struct Found {
    std::vector<StoredScene> scenes;
    std::vector<LogHeader> sessions;
    // What could not be read, a line each. Such files are left alone.
    std::vector<std::string> problems;
    // Of these, the sessions none of whose files begins with a sound header, so that not even their owner is known: name and why.
    std::vector<std::pair<std::string, std::string>> unreadable_sessions;
  };
  Found Read() const;

  // Writes that failed since the start, and sessions whose journal has stopped.
  int64_t failures() const { return failures_; }
  // OK while the folder is the one that was opened, else UNAVAILABLE (JOURNAL_FAILED).
  absl::Status Usable() const;
  int failed_sessions() const;
  // Files of scenes that somebody removed or changed since the start.
  int64_t lost_scene_files() const { return scene_files_.lost(); }
  const Options& options() const { return options_; }

 private:
  class Sink;
  using JournalPtr = std::shared_ptr<SessionJournal>;
  explicit JournalStore(Options options)
      : options_(std::move(options)), scene_files_(options_.files, options_.folder, options_.on_scene_file) {}
  JournalPtr NewJournal(const std::string& session_name);
  std::string StemOf(const std::string& session_name) const;
  // What the newest file of the session that begins with a sound header says, whatever follows it.
  std::optional<LogHeader> NewestHeader(const std::string& session_name) const;
  // The session's files by number.
  std::map<int64_t, std::string> FilesOf(const std::string& session_name) const;
  absl::Status Counted(absl::Status status);
  void MarkDirty(const JournalPtr& journal);
  void QueueCheckpoint(const JournalPtr& journal);
  void SyncLoop();
  // Stops the journals whose files have lost their names, and has the files of scenes mended.
  void Watch();
  void CheckpointLoop();

  const Options options_;
  SceneFiles scene_files_;
  int lock_file_ = -1;
  std::atomic<int64_t> failures_ = 0;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::map<std::string, std::weak_ptr<SessionJournal>> journals_;  // by session name
  std::set<JournalPtr> dirty_;
  std::deque<JournalPtr> to_checkpoint_;
  bool to_mend_scenes_ = false;
  bool stop_ = false;
  std::condition_variable changed_;
  std::thread syncer_;
  std::thread checkpointer_;
};

}  // namespace eipc

#endif  // EIPC_SERVER_SESSION_JOURNAL_H_
