#include "server/session/scene_files.h"

#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "server/os/files.h"
#include "server/session/action_log.h"
#include "sim/base/status_macros.h"

namespace eipc {
namespace {

// What the file of a scene holds.
std::string BytesOf(const StoredScene& scene) {
  LogHeader header;
  header.scene = scene.name;
  header.owner = scene.owner;
  header.payload = scene.payload;
  return EncodeRecord(header);
}

}  // namespace

std::string SceneFiles::PathOf(const StoredScene& scene) const {
  const absl::string_view digest = absl::StripPrefix(scene.name, kScenePrefix);
  return absl::StrCat(folder_, "/scenes/", absl::BytesToHexString(scene.owner), "-", digest);
}

std::optional<SceneFiles::Identity> SceneFiles::IdentityOf(const std::string& path) {
  struct stat named = {};
  if (stat(path.c_str(), &named) != 0) return std::nullopt;
  const int64_t changed_ns = int64_t{1'000'000'000} * named.st_ctim.tv_sec + named.st_ctim.tv_nsec;
  return Identity{named.st_dev, named.st_ino, named.st_size, changed_ns};
}

absl::Status SceneFiles::Keep(const StoredScene& scene) { return ReplaceFile(files_, PathOf(scene), BytesOf(scene)); }

void SceneFiles::Guard(std::shared_ptr<const StoredScene> scene) {
  const std::string path = PathOf(*scene);
  const std::optional<Identity> seen = IdentityOf(path);
  const std::lock_guard<std::mutex> lock(mutex_);
  guarded_[path] = {std::move(scene), seen};
}

absl::Status SceneFiles::Remove(const StoredScene& scene) {
  const std::string path = PathOf(scene);
  const std::lock_guard<std::mutex> mending(mending_);
  EIPC_RETURN_IF_ERROR(RemoveFile(files_, path));
  const std::lock_guard<std::mutex> lock(mutex_);
  guarded_.erase(path);
  return absl::OkStatus();
}

std::vector<std::string> SceneFiles::Changed() const {
  std::map<std::string, std::optional<Identity>> seen;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [path, guarded] : guarded_) seen.emplace(path, guarded.seen);
  }
  std::vector<std::string> changed;
  for (const auto& [path, identity] : seen) {
    if (!identity || IdentityOf(path) != identity) changed.push_back(path);
  }
  return changed;
}

bool SceneFiles::AnyChanged() const { return !Changed().empty(); }

int SceneFiles::Mend() {
  const std::lock_guard<std::mutex> mending(mending_);
  int failed = 0;
  for (const std::string& path : Changed()) {
    Guarded guarded;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      guarded = guarded_.at(path);  // Remove waits
    }
    if (!MendOne(path, &guarded).ok()) ++failed;
    const std::lock_guard<std::mutex> lock(mutex_);
    guarded_[path] = std::move(guarded);
  }
  return failed;
}

absl::Status SceneFiles::MendOne(const std::string& path, Guarded* guarded) {
  const std::string bytes = BytesOf(*guarded->scene);
  const auto say = [&](const absl::Status& status) {
    if (on_change_) on_change_(guarded->scene->name, status);
  };
  guarded->seen = IdentityOf(path);
  // One that was only touched or copied has the scene; one of another size is not read.
  const bool may_hold = guarded->seen && guarded->seen->size == static_cast<off_t>(bytes.size());
  const absl::StatusOr<std::string> read = may_hold ? ReadWholeFile(path) : absl::NotFoundError("");
  if (!read.ok() || *read != bytes) {
    guarded->seen.reset();
    if (!std::exchange(guarded->lost, true)) {
      ++lost_;
      say(absl::DataLossError(absl::StrCat("somebody removed or changed ", path)));
    }
    const std::string scenes = absl::StrCat(folder_, "/scenes");
    if (mkdir(scenes.c_str(), S_IRWXU) != 0 && errno != EEXIST) return FileError("cannot make folder", scenes);
    EIPC_RETURN_IF_ERROR(ReplaceFile(files_, path, bytes));
    guarded->seen = IdentityOf(path);
  }
  if (std::exchange(guarded->lost, false)) say(absl::OkStatus());
  return absl::OkStatus();
}

}  // namespace eipc
