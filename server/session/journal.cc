#include "server/session/journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "server/session/action_log.h"
#include "server/session/files.h"
#include "server/session/session_registry.h"
#include "sim/base/status_macros.h"

namespace eipc {
namespace {

namespace fs = std::filesystem;

constexpr char kLogSuffix[] = ".log";

std::string SceneFile(const std::string& folder, const StoredScene& scene) {
  const absl::string_view digest = absl::StripPrefix(scene.name, kScenePrefix);
  return absl::StrCat(folder, "/scenes/", absl::BytesToHexString(scene.owner), "-", digest);
}

// ID.N.log -> ID, N.
bool SplitLogName(const std::string& file, std::string* id, int64_t* number) {
  absl::string_view rest = file;
  if (!absl::ConsumeSuffix(&rest, kLogSuffix)) return false;
  const size_t dot = rest.rfind('.');
  if (dot == absl::string_view::npos || !absl::SimpleAtoi(rest.substr(dot + 1), number)) return false;
  *id = std::string(rest.substr(0, dot));
  return true;
}

// The whole records of a log that begins as a journal must: a header, and a state for every world. Empty when it does not.
std::string SoundPart(const std::string& bytes) {
  LogReader reader(bytes);
  int32_t states_to_come = -1;
  while (true) {
    const auto record = reader.Next();
    if (!record.ok() || !record->has_value()) break;
    if (const auto* header = std::get_if<LogHeader>(&**record)) states_to_come = header->worlds;
    if (states_to_come > 0 && std::holds_alternative<LogState>(**record)) --states_to_come;
  }
  return states_to_come == 0 ? bytes.substr(0, reader.offset()) : std::string();
}

}  // namespace

// One file at a time, appended to; a checkpoint begins the next one and deletes those before it.
class JournalStore::Journal : public LogSink {
 public:
  Journal(JournalStore* store, std::string stem) : store_(store), stem_(std::move(stem)) {}
  ~Journal() override {
    {
      std::unique_lock<std::mutex> lock(store_->mutex_);
      store_->dirty_.erase(this);
      store_->changed_.wait(lock, [this] { return store_->syncing_.count(this) == 0; });
    }
    if (file_ >= 0) close(file_);
  }

  absl::Status Append(absl::string_view bytes) override {
    if (file_ < 0) return absl::UnavailableError("JOURNAL_FAILED: the journal has not been begun");
    const absl::Status status = WriteAll(file_, bytes, path_);
    if (!status.ok()) {
      ++store_->failures_;
      // What was half written must not be followed by anything.
      if (ftruncate(file_, size_) != 0) return FileError("cannot cut back", path_);
      return status;
    }
    size_ += static_cast<off_t>(bytes.size());
    const std::lock_guard<std::mutex> lock(store_->mutex_);
    store_->dirty_.insert(this);
    return absl::OkStatus();
  }

  bool WantsCheckpoint() const override { return size_ - begun_ > store_->options_.checkpoint_bytes; }

  absl::Status Checkpoint(absl::string_view bytes) override {
    const int64_t next = number_ + 1;
    const std::string path = absl::StrCat(stem_, ".", next, kLogSuffix);
    absl::Status status = ReplaceFile(path, bytes);
    const int file = status.ok() ? open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
    if (status.ok() && file < 0) status = FileError("cannot open", path);
    if (!status.ok()) {
      ++store_->failures_;
      return status;
    }
    {
      std::unique_lock<std::mutex> lock(store_->mutex_);
      store_->dirty_.erase(this);
      store_->changed_.wait(lock, [this] { return store_->syncing_.count(this) == 0; });
    }
    if (file_ >= 0) close(file_);
    DeleteOthers(next);
    file_ = file;
    path_ = path;
    number_ = next;
    begun_ = size_ = static_cast<off_t>(bytes.size());
    return absl::OkStatus();
  }

  void Remove() override { DeleteOthers(-1); }

  // The syncing thread's.
  int file() const { return file_; }
  void Continue(int64_t number) { number_ = number; }

 private:
  void DeleteOthers(int64_t keep) {
    std::error_code error;
    const std::string mine = fs::path(stem_).filename().string();
    for (const auto& entry : fs::directory_iterator(fs::path(stem_).parent_path(), error)) {
      std::string id;
      int64_t number = 0;
      if (SplitLogName(entry.path().filename().string(), &id, &number) && id == mine && number != keep)
        unlink(entry.path().c_str());
    }
  }

  JournalStore* const store_;
  const std::string stem_;
  std::string path_;
  int64_t number_ = 0;
  int file_ = -1;
  off_t size_ = 0;
  off_t begun_ = 0;
};

absl::StatusOr<std::unique_ptr<JournalStore>> JournalStore::Open(Options options) {
  std::error_code error;
  for (const char* part : {"", "/scenes", "/sessions"}) {
    fs::create_directories(options.folder + part, error);
    if (error) return absl::UnavailableError(absl::StrCat(options.folder, ": ", error.message()));
  }
  std::unique_ptr<JournalStore> store(new JournalStore(std::move(options)));
  const std::string path = store->options_.folder + "/lock";
  store->lock_file_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (store->lock_file_ < 0) return FileError("cannot create", path);
  if (flock(store->lock_file_, LOCK_EX | LOCK_NB) != 0) {
    return absl::FailedPreconditionError(absl::StrCat(store->options_.folder, ": another server uses this folder"));
  }
  store->syncer_ = std::thread([s = store.get()] { s->SyncLoop(); });
  return store;
}

JournalStore::~JournalStore() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (syncer_.joinable()) syncer_.join();
  if (lock_file_ >= 0) close(lock_file_);
}

void JournalStore::SyncLoop() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!stop_) {
    changed_.wait_for(lock, options_.sync_interval, [this] { return stop_; });
    syncing_.swap(dirty_);
    std::vector<int> files;
    for (const Journal* journal : syncing_) files.push_back(journal->file());
    lock.unlock();
    for (const int file : files) {
      if (fdatasync(file) != 0) ++failures_;
    }
    lock.lock();
    syncing_.clear();
    changed_.notify_all();
  }
}

std::unique_ptr<LogSink> JournalStore::JournalOf(const std::string& session_name) {
  const std::string id(absl::StripPrefix(session_name, kSessionPrefix));
  auto journal = std::make_unique<Journal>(this, absl::StrCat(options_.folder, "/sessions/", id));
  // After the last one of the server before this.
  std::error_code error;
  int64_t last = 0;
  for (const auto& entry : fs::directory_iterator(options_.folder + "/sessions", error)) {
    std::string found;
    int64_t number = 0;
    if (SplitLogName(entry.path().filename().string(), &found, &number) && found == id) last = std::max(last, number);
  }
  journal->Continue(last);
  return journal;
}

absl::Status JournalStore::KeepScene(const StoredScene& scene) {
  LogHeader header;
  header.scene = scene.name;
  header.owner = scene.owner;
  header.payload = scene.payload;
  const absl::Status status = ReplaceFile(SceneFile(options_.folder, scene), EncodeRecord(header));
  if (!status.ok()) ++failures_;
  return status;
}

void JournalStore::RemoveScene(const StoredScene& scene) { unlink(SceneFile(options_.folder, scene).c_str()); }

JournalStore::Found JournalStore::Read() const {
  Found found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(options_.folder + "/scenes", error)) {
    const auto bytes = ReadWholeFile(entry.path().string());
    LogReader reader(bytes.ok() ? absl::string_view(*bytes) : absl::string_view());
    const auto record = reader.Next();
    if (record.ok() && record->has_value() && std::holds_alternative<LogHeader>(**record)) {
      const LogHeader& header = std::get<LogHeader>(**record);
      found.scenes.push_back({header.scene, nullptr, header.payload, header.owner});
    } else {
      found.problems.push_back(absl::StrCat("scene file ", entry.path().filename().string(), " cannot be read"));
    }
  }
  std::map<std::string, std::map<int64_t, std::string>> files;  // id -> number -> path
  for (const auto& entry : fs::directory_iterator(options_.folder + "/sessions", error)) {
    std::string id;
    int64_t number = 0;
    if (SplitLogName(entry.path().filename().string(), &id, &number)) files[id][number] = entry.path().string();
  }
  for (const auto& [id, numbers] : files) {
    std::string sound;
    for (auto it = numbers.rbegin(); it != numbers.rend() && sound.empty(); ++it) {
      const auto bytes = ReadWholeFile(it->second);
      if (bytes.ok()) sound = SoundPart(*bytes);
    }
    if (sound.empty()) {
      found.problems.push_back(absl::StrCat("journal of session ", id, " has no sound beginning"));
    } else {
      found.logs.push_back({absl::StrCat(kSessionPrefix, id), std::move(sound)});
    }
  }
  return found;
}

}  // namespace eipc
