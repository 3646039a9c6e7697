#ifndef EIPC_SERVER_SESSION_SCENE_FILES_H_
#define EIPC_SERVER_SESSION_SCENE_FILES_H_

#include <sys/types.h>

#include <array>
#include <atomic>
#include <chrono>
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
// file that somebody removes, replaces or changes while the server runs is written again from what the server holds; and since the
// server may end before it has done so, there is a copy of each in another folder, FOLDER/scene-copies, from which the next start
// takes it. Thread-safe.
class SceneFiles {
 public:
  // Called when a file is not as it was written (the status says so), once until it is again (OK); on the thread of Mend, or of
  // Restore. May be empty.
  using OnChange = std::function<void(const std::string& scene, const absl::Status& status)>;
  using Now = std::chrono::steady_clock::time_point (*)();

  SceneFiles(FileSystem* files, std::string folder, OnChange on_change, Now now = std::chrono::steady_clock::now)
      : files_(files), folder_(std::move(folder)), on_change_(std::move(on_change)), now_(now) {}
  SceneFiles(const SceneFiles&) = delete;
  SceneFiles& operator=(const SceneFiles&) = delete;

  // Of the files and of their copies, below the folder of the constructor.
  static constexpr std::array<const char*, 2> kFolders = {"/scenes", "/scene-copies"};

  // Of what a server before this one left: writes a file again whose copy is sound, and a copy that is not there. What cannot be
  // written is left for later: one of the two is there.
  void Restore();

  // Writes both files, on the disk. UNAVAILABLE (JOURNAL_FAILED): neither is there.
  absl::Status Keep(const StoredScene& scene);
  // Of a scene whose files are there: from now on until Remove they are to stay as they are.
  void Guard(const std::shared_ptr<const StoredScene>& scene);
  // The files are gone, on the disk, and do not come back. UNAVAILABLE (JOURNAL_FAILED), and then they are still guarded.
  absl::Status Remove(const StoredScene& scene);

  // Whether a guarded file may be another than it was: asks the file system for names only.
  bool AnyChanged() const;
  // Reads those files, and writes again those that do not hold their scene. How many could not be written; ask again for them.
  int Mend();

  // Files that were found removed, replaced or changed since the start.
  int64_t lost() const { return lost_; }

  // A file's times may stay the same when it is changed within one tick of its file system's clock, of which the longest is 2 s. So
  // a file is read once more when it has had its time for longer than that.
  static constexpr std::chrono::seconds kSettled{3};

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
    std::optional<std::chrono::steady_clock::time_point> read_again;  // when, if it is as it was seen
  };
  static std::optional<Identity> IdentityOf(const std::string& path);
  std::array<std::string, 2> PathsOf(const StoredScene& scene) const;  // in kFolders
  std::vector<std::string> Changed() const;
  absl::Status MendOne(const std::string& path, Guarded* guarded);
  void Say(const std::string& scene, const absl::Status& status) const;

  FileSystem* const files_;
  const std::string folder_;
  const OnChange on_change_;
  const Now now_;
  std::atomic<int64_t> lost_ = 0;

  std::mutex mending_;  // held while a file is removed or written again; before mutex_
  mutable std::mutex mutex_;
  std::map<std::string, Guarded> guarded_;  // by path; guarded by mutex_
};

}  // namespace eipc

#endif  // EIPC_SERVER_SESSION_SCENE_FILES_H_
