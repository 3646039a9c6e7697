#ifndef EIPC_SERVER_SESSION_SCENE_FILES_H_
#define EIPC_SERVER_SESSION_SCENE_FILES_H_

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/os/file_system.h"
#include "server/session/scene_registry.h"

namespace eipc {

// The files of the scenes in use, in FOLDER/scenes (journal.h). Without its scene's file no session could be brought back, so a
// file that somebody removes, replaces or changes while the server runs is written again from what the server holds. Thread-safe.
class SceneFiles {
 public:
  // Called when a file is not as it was written (the status says so), once until it is again (OK); on the thread of Mend. May be
  // empty.
  using OnChange = std::function<void(const std::string& scene, const absl::Status& status)>;

  SceneFiles(FileSystem* files, std::string folder, OnChange on_change)
      : files_(files), folder_(std::move(folder)), on_change_(std::move(on_change)) {}
  SceneFiles(const SceneFiles&) = delete;
  SceneFiles& operator=(const SceneFiles&) = delete;

  // Writes the file, on the disk. UNAVAILABLE (JOURNAL_FAILED).
  absl::Status Keep(const StoredScene& scene);
  // Of a scene whose file is there: from now on until Remove it is to stay as it is.
  void Guard(std::shared_ptr<const StoredScene> scene);
  // The file is gone, on the disk, and does not come back. UNAVAILABLE (JOURNAL_FAILED), and then it is still guarded.
  absl::Status Remove(const StoredScene& scene);

  // Whether a guarded file may be another than it was: asks the file system for names only.
  bool AnyChanged() const;
  // Reads those files, and writes again those that do not hold their scene. How many could not be written; ask again for them.
  int Mend();

  // Files that were found removed, replaced or changed since the start.
  int64_t lost() const { return lost_; }

 private:
  // Of what a name stands for; a file that is changed in place gets another time of change, which nobody can set back.
  struct Identity {
    dev_t device = 0;
    ino_t number = 0;
    off_t size = 0;
    int64_t changed_ns = 0;
    bool operator==(const Identity&) const = default;
  };
  struct Guarded {
    std::shared_ptr<const StoredScene> scene;
    std::optional<Identity> seen;  // of the file while it held the scene; none where there was no such file
    bool lost = false;             // and said so
  };
  static std::optional<Identity> IdentityOf(const std::string& path);
  std::string PathOf(const StoredScene& scene) const;
  std::vector<std::string> Changed() const;
  absl::Status MendOne(const std::string& path, Guarded* guarded);

  FileSystem* const files_;
  const std::string folder_;
  const OnChange on_change_;
  std::atomic<int64_t> lost_ = 0;

  std::mutex mending_;  // held while a file is removed or written again; before mutex_
  mutable std::mutex mutex_;
  std::map<std::string, Guarded> guarded_;  // by path; guarded by mutex_
};

}  // namespace eipc

#endif  // EIPC_SERVER_SESSION_SCENE_FILES_H_
