#include "server/session/scene_files.h"

#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "server/os/files.h"
#include "server/session/action_log.h"
#include "sim/base/status_macros.h"

namespace eipc {
namespace {

namespace fs = std::filesystem;

// What the file of a scene holds: the scene's message is not copied.
class SceneBytes {
 public:
  explicit SceneBytes(const StoredScene& scene) : scene_(scene) {
    LogHeader header;
    header.scene = scene.name;
    header.owner = scene.owner;
    around_ = EncodeAround(header, scene.payload);
  }
  std::array<absl::string_view, 3> pieces() const { return {around_.before, scene_.payload, around_.after}; }
  size_t size() const { return around_.before.size() + scene_.payload.size() + around_.after.size(); }

 private:
  const StoredScene& scene_;
  AroundPayload around_;
};

// The scene that a file holds, or what is left of it; none where the file is not sound.
std::optional<LogHeader> HeaderIn(const std::string& path, std::string* bytes) {
  absl::StatusOr<std::string> read = ReadWholeFile(path);
  if (!read.ok()) return std::nullopt;
  *bytes = *std::move(read);
  absl::StatusOr<std::optional<LogRecord>> record = LogReader(*bytes).Next();
  if (!record.ok() || !record->has_value() || !std::holds_alternative<LogHeader>(**record)) return std::nullopt;
  return std::get<LogHeader>(**std::move(record));
}

absl::Status SomebodyChanged(const std::string& path) {
  return absl::DataLossError(absl::StrCat("somebody removed or changed ", path));
}

}  // namespace

std::array<std::string, 2> SceneFiles::PathsOf(const StoredScene& scene) const {
  const absl::string_view digest = absl::StripPrefix(scene.name, kScenePrefix);
  const std::string name = absl::StrCat("/", absl::BytesToHexString(scene.owner), "-", digest);
  return {absl::StrCat(folder_, kFolders[0], name), absl::StrCat(folder_, kFolders[1], name)};
}

std::optional<SceneFiles::Identity> SceneFiles::IdentityOf(const std::string& path) {
  struct stat named = {};
  if (stat(path.c_str(), &named) != 0) return std::nullopt;
  const int64_t changed_ns = int64_t{1'000'000'000} * named.st_ctim.tv_sec + named.st_ctim.tv_nsec;
  return Identity{named.st_dev, named.st_ino, named.st_size, changed_ns};
}

void SceneFiles::Say(const std::string& scene, const absl::Status& status) const {
  if (on_change_) on_change_(scene, status);
}

void SceneFiles::Restore() {
  std::set<std::string> names;
  for (const char* folder : kFolders) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder_ + folder, error)) names.insert(entry.path().filename().string());
  }
  for (const std::string& name : names) {
    const std::string file = absl::StrCat(folder_, kFolders[0], "/", name), copy = absl::StrCat(folder_, kFolders[1], "/", name);
    std::string bytes;
    if (HeaderIn(file, &bytes)) {
      const std::optional<Identity> copied = IdentityOf(copy);
      if (!copied || copied->size != static_cast<off_t>(bytes.size())) (void)ReplaceFile(files_, copy, {bytes});
      continue;
    }
    const std::optional<LogHeader> held = HeaderIn(copy, &bytes);
    if (!held) continue;
    ++lost_;
    Say(held->scene, SomebodyChanged(file));
    if (ReplaceFile(files_, file, {bytes}).ok()) Say(held->scene, absl::OkStatus());
  }
}

absl::Status SceneFiles::Keep(const StoredScene& scene) {
  const SceneBytes bytes(scene);
  const std::array<std::string, 2> paths = PathsOf(scene);
  EIPC_RETURN_IF_ERROR(ReplaceFile(files_, paths[1], bytes.pieces()));
  absl::Status kept = ReplaceFile(files_, paths[0], bytes.pieces());
  // The copy alone would bring back what was refused.
  if (!kept.ok() && !IdentityOf(paths[0])) (void)RemoveFile(files_, paths[1]);
  return kept;
}

void SceneFiles::Guard(const std::shared_ptr<const StoredScene>& scene) {
  for (const std::string& path : PathsOf(*scene)) {
    const std::optional<Identity> seen = IdentityOf(path);
    const std::lock_guard<std::mutex> lock(mutex_);
    guarded_[path] = {scene, seen, false, now_() + kSettled};
  }
}

absl::Status SceneFiles::Remove(const StoredScene& scene) {
  const std::lock_guard<std::mutex> mending(mending_);
  const std::array<std::string, 2> paths = PathsOf(scene);
  // The copy first: alone it would be taken for that of a file that was lost.
  EIPC_RETURN_IF_ERROR(RemoveFile(files_, paths[1]));
  EIPC_RETURN_IF_ERROR(RemoveFile(files_, paths[0]));
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const std::string& path : paths) guarded_.erase(path);
  return absl::OkStatus();
}

std::vector<std::string> SceneFiles::Changed() const {
  std::map<std::string, std::optional<Identity>> seen;
  std::vector<std::string> changed;
  const auto now = now_();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [path, guarded] : guarded_) {
      if (guarded.seen && guarded.read_again && now >= *guarded.read_again) {
        changed.push_back(path);
      } else {
        seen.emplace(path, guarded.seen);
      }
    }
  }
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
  const SceneBytes bytes(*guarded->scene);
  const std::optional<Identity> before = std::exchange(guarded->seen, IdentityOf(path));
  const bool settled = before == guarded->seen && guarded->read_again && now_() >= *guarded->read_again;
  guarded->read_again = now_() + kSettled;
  // One that was only touched or copied has the scene; one of another size is not read.
  const bool may_hold = guarded->seen && guarded->seen->size == static_cast<off_t>(bytes.size());
  if (!may_hold || !FileHolds(path, bytes.pieces())) {
    guarded->seen.reset();
    if (!std::exchange(guarded->lost, true)) {
      ++lost_;
      Say(guarded->scene->name, SomebodyChanged(path));
    }
    const std::string folder = fs::path(path).parent_path().string();
    if (mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST) return FileError("cannot make folder", folder);
    EIPC_RETURN_IF_ERROR(ReplaceFile(files_, path, bytes.pieces()));
    guarded->seen = IdentityOf(path);
  } else if (settled) {
    guarded->read_again.reset();
  }
  if (std::exchange(guarded->lost, false)) Say(guarded->scene->name, absl::OkStatus());
  return absl::OkStatus();
}

}  // namespace eipc
