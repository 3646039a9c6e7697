#include "server/session/journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <new>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "server/os/files.h"
#include "server/session/recover.h"
#include "server/session/session_registry.h"
#include "sim/base/status_macros.h"

namespace eipc {
namespace {

namespace fs = std::filesystem;
constexpr auto kFolders = SceneFiles::kFolders;

// ID.N.log -> ID, N.
bool SplitLogName(const std::string& file, std::string* id, int64_t* number) {
  absl::string_view rest = file;
  if (!absl::ConsumeSuffix(&rest, SessionJournal::kSuffix)) return false;
  const size_t dot = rest.rfind('.');
  if (dot == absl::string_view::npos || !absl::SimpleAtoi(rest.substr(dot + 1), number)) return false;
  *id = std::string(rest.substr(0, dot));
  return true;
}

// How much of a log is sound: `begin` bytes of header and a state for every world, `whole` bytes of records. Zeros when it does not
// begin as a journal must.
struct SoundPart {
  size_t begin = 0;
  size_t whole = 0;
};
absl::StatusOr<SoundPart> SoundPartOf(const std::string& bytes) {
  LogReader reader(bytes);
  SoundPart sound;
  int32_t states_to_come = -1;
  while (true) {
    // A whole record of a kind that is not known here is a later build's: cut off, it would be lost.
    EIPC_ASSIGN_OR_RETURN(const std::optional<LogRecord> record, reader.Next());
    if (!record) break;
    if (const auto* header = std::get_if<LogHeader>(&*record)) states_to_come = header->worlds;
    if (states_to_come > 0 && std::holds_alternative<LogState>(*record) && --states_to_come == 0) sound.begin = reader.offset();
  }
  if (sound.begin > 0) sound.whole = reader.offset();
  return sound;
}

// Made if need be, its owner's alone.
absl::Status PrivateFolder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return absl::UnavailableError(absl::StrCat(path, ": ", error.message()));
  if (chmod(path.c_str(), S_IRWXU) != 0) return FileError("cannot make private", path);
  return absl::OkStatus();
}

// What a thread of the store does again later when there is no memory for it now. Whether there was.
template <typename Work>
bool UnlessOutOfMemory(Work&& work) {
  try {
    work();
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void RemoveLeftovers(const std::string& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (absl::EndsWith(entry.path().filename().string(), kTemporarySuffix)) unlink(entry.path().c_str());
  }
}

}  // namespace

// What a session writes to: its journal, and the store's threads that serve it.
class JournalStore::Sink : public LogSink {
 public:
  Sink(JournalStore* store, JournalPtr journal) : store_(store), journal_(std::move(journal)) {}

  absl::Status Append(absl::string_view bytes, double replay_s) override {
    EIPC_RETURN_IF_ERROR(store_->Counted(journal_->Append(bytes, replay_s)));
    store_->MarkDirty(journal_);
    return absl::OkStatus();
  }
  absl::Status Usable() const override { return journal_->Usable(); }
  bool WantsCheckpoint() const override { return journal_->WantsCheckpoint(); }
  bool grown() const override { return journal_->grown(); }
  double replay_bound_s() const override { return std::chrono::duration<double>(store_->options_.checkpoint_replay).count(); }
  absl::Status Checkpoint(absl::string_view bytes) override {
    EIPC_RETURN_IF_ERROR(store_->Counted(store_->Usable()));
    return store_->Counted(journal_->Checkpoint(bytes));
  }
  void StartCheckpoint(std::string bytes) override {
    if (journal_->PrepareCheckpoint(bytes)) return store_->QueueCheckpoint(journal_);
    // Another is in progress, and the journal grows faster than it: this one is waited for.
    (void)store_->Counted(journal_->Checkpoint(bytes));
  }

 private:
  JournalStore* const store_;
  const JournalPtr journal_;
};

absl::StatusOr<std::unique_ptr<JournalStore>> JournalStore::Open(Options options) {
  for (const char* part : {"", kFolders[0], kFolders[1], "/sessions"}) EIPC_RETURN_IF_ERROR(PrivateFolder(options.folder + part));
  std::unique_ptr<JournalStore> store(new JournalStore(std::move(options)));
  const std::string path = store->options_.folder + "/lock";
  store->lock_file_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (store->lock_file_ < 0) return FileError("cannot create", path);
  if (flock(store->lock_file_, LOCK_EX | LOCK_NB) != 0) {
    return absl::FailedPreconditionError(absl::StrCat(store->options_.folder, ": another server uses this folder"));
  }
  for (const char* part : {kFolders[0], kFolders[1], "/sessions"}) {
    const std::string folder = store->options_.folder + part;
    RemoveLeftovers(folder);
    if (store->options_.files->SyncFolder(folder) != 0) return FileError("cannot sync folder", folder);  // from now on held open
  }
  store->scene_files_.Restore();
  store->syncer_ = std::thread([s = store.get()] { s->SyncLoop(); });
  store->checkpointer_ = std::thread([s = store.get()] { s->CheckpointLoop(); });
  return store;
}

JournalStore::~JournalStore() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (syncer_.joinable()) syncer_.join();
  if (checkpointer_.joinable()) checkpointer_.join();
  if (lock_file_ >= 0) close(lock_file_);
}

absl::Status JournalStore::Counted(absl::Status status) {
  if (absl::IsUnavailable(status)) ++failures_;
  return status;
}

// The record is taken already: that there is no memory for the list cannot change that.
void JournalStore::MarkDirty(const JournalPtr& journal) {
  const bool listed = UnlessOutOfMemory([&] {
    const std::lock_guard<std::mutex> lock(mutex_);
    dirty_.insert(journal);
  });
  if (!listed) journal->Sync();
}

void JournalStore::QueueCheckpoint(const JournalPtr& journal) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    to_checkpoint_.push_back(journal);
  }
  changed_.notify_all();
}

absl::Status JournalStore::Usable() const {
  const std::string path = options_.folder + "/lock";
  if (options_.files->CheckName(lock_file_, path) == 0) return absl::OkStatus();
  const absl::Status cause = FileError("somebody removed or replaced the folder of --state-dir, in which there was", path);
  return absl::UnavailableError(absl::StrCat(cause.message(), "; nothing is kept any more: put it back and restart the server"));
}

void JournalStore::Watch() {
  std::vector<JournalPtr> journals;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [name, held] : journals_) {
      if (JournalPtr journal = held.lock(); journal != nullptr && !journal->failed()) journals.push_back(std::move(journal));
    }
  }
  const absl::Status usable = Usable();
  for (const JournalPtr& journal : journals) {
    usable.ok() ? journal->CheckName() : journal->Stop(usable);
    if (journal->failed()) ++failures_;
  }
  if (!usable.ok() || !scene_files_.AnyChanged()) return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    to_mend_scenes_ = true;
  }
  changed_.notify_all();
}

void JournalStore::SyncLoop() {
  std::unique_lock<std::mutex> lock(mutex_);
  auto watched = std::chrono::steady_clock::now();
  while (!stop_) {
    changed_.wait_for(lock, options_.sync_interval, [this] { return stop_; });
    std::set<JournalPtr> journals;
    journals.swap(dirty_);
    lock.unlock();
    for (const JournalPtr& journal : journals) {
      const bool worked = !journal->failed();
      journal->Sync();
      if (worked && journal->failed()) ++failures_;
    }
    journals.clear();
    if (const auto now = std::chrono::steady_clock::now(); now - watched >= options_.watch_interval) {
      watched = now;
      (void)UnlessOutOfMemory([this] { Watch(); });
    }
    lock.lock();
  }
}

// Writes new files outside the steps that make them due.
void JournalStore::CheckpointLoop() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stop_ || to_mend_scenes_ || !to_checkpoint_.empty(); });
    if (stop_) return;
    if (std::exchange(to_mend_scenes_, false)) {
      lock.unlock();
      (void)UnlessOutOfMemory([this] {
        if (Usable().ok()) failures_ += scene_files_.Mend();
      });
      lock.lock();
      continue;
    }
    const JournalPtr journal = std::move(to_checkpoint_.front());
    to_checkpoint_.pop_front();
    lock.unlock();
    (void)UnlessOutOfMemory([&] { (void)Counted(journal->WriteCheckpoint()); });
    lock.lock();
  }
}

std::string JournalStore::StemOf(const std::string& session_name) const {
  return absl::StrCat(options_.folder, "/sessions/", absl::StripPrefix(session_name, kSessionPrefix));
}

JournalStore::JournalPtr JournalStore::NewJournal(const std::string& session_name) {
  auto journal = std::make_shared<SessionJournal>(options_.files, StemOf(session_name), session_name,
                                                  SessionJournal::Options{options_.checkpoint_bytes, options_.checkpoint_replay},
                                                  options_.on_failed);
  const std::lock_guard<std::mutex> lock(mutex_);
  std::erase_if(journals_, [](const auto& entry) { return entry.second.expired(); });
  journals_[session_name] = journal;
  return journal;
}

std::map<int64_t, std::string> JournalStore::FilesOf(const std::string& session_name) const {
  const std::string id(absl::StripPrefix(session_name, kSessionPrefix));
  std::map<int64_t, std::string> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(options_.folder + "/sessions", error)) {
    std::string found;
    int64_t number = 0;
    if (SplitLogName(entry.path().filename().string(), &found, &number) && found == id) files[number] = entry.path().string();
  }
  return files;
}

std::unique_ptr<LogSink> JournalStore::JournalOf(const std::string& session_name) {
  const JournalPtr journal = NewJournal(session_name);
  const std::map<int64_t, std::string> files = FilesOf(session_name);
  if (!files.empty()) {
    SessionJournal::Left left;
    left.last_number = files.rbegin()->first;
    for (const auto& [number, path] : files) {
      if (number != left.last_number) left.others.push_back(path);
    }
    journal->BeginAfter(left);
  }
  return std::make_unique<Sink>(this, journal);
}

absl::StatusOr<JournalStore::LeftLog> JournalStore::ReadLog(const std::string& session_name) const {
  const std::map<int64_t, std::string> files = FilesOf(session_name);
  if (files.empty()) return absl::NotFoundError(absl::StrCat("'", session_name, "' has no journal"));
  LeftLog log;
  for (auto it = files.rbegin(); it != files.rend(); ++it) {
    EIPC_ASSIGN_OR_RETURN(std::string bytes, ReadWholeFile(it->second));
    EIPC_ASSIGN_OR_RETURN(const SoundPart sound, SoundPartOf(bytes));
    if (sound.whole == 0) continue;
    log.files.torn = sound.whole != bytes.size();
    bytes.resize(sound.whole);
    log.bytes = std::move(bytes);
    log.files.number = it->first;
    log.files.begin_bytes = static_cast<off_t>(sound.begin);
    log.files.sound_bytes = static_cast<off_t>(sound.whole);
    break;
  }
  if (log.bytes.empty()) return absl::InvalidArgumentError("RECORDING_CORRUPT: the journal has no sound beginning");
  log.files.last_number = files.rbegin()->first;
  for (const auto& [number, path] : files) {
    if (number != log.files.number) log.files.others.push_back(path);
  }
  return log;
}

std::optional<LogHeader> JournalStore::NewestHeader(const std::string& session_name) const {
  const std::map<int64_t, std::string> files = FilesOf(session_name);
  for (auto it = files.rbegin(); it != files.rend(); ++it) {
    const absl::StatusOr<std::string> bytes = ReadWholeFile(it->second);
    if (!bytes.ok()) continue;
    absl::StatusOr<LogHeader> header = ReadLogHeader(*bytes);
    if (header.ok()) return *std::move(header);
  }
  return std::nullopt;
}

absl::StatusOr<std::unique_ptr<LogSink>> JournalStore::ContinueLog(const std::string& session_name,
                                                                   const SessionJournal::Left& left) {
  const JournalPtr journal = NewJournal(session_name);
  EIPC_RETURN_IF_ERROR(Counted(journal->Continue(left)));
  MarkDirty(journal);  // what was acknowledged last may not be on the disk yet
  return std::unique_ptr<LogSink>(std::make_unique<Sink>(this, journal));
}

absl::Status JournalStore::RemoveSession(const std::string& session_name) {
  EIPC_RETURN_IF_ERROR(Counted(Usable()));
  JournalPtr journal;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = journals_.find(session_name);
    if (found != journals_.end()) journal = found->second.lock();
  }
  if (journal != nullptr) return Counted(journal->Remove());
  // A session that was not brought back.
  for (const auto& [number, path] : FilesOf(session_name)) {
    EIPC_RETURN_IF_ERROR(Counted(RemoveFile(options_.files, path)));
  }
  return absl::OkStatus();
}

int JournalStore::failed_sessions() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  int count = 0;
  for (const auto& [name, held] : journals_) {
    const JournalPtr journal = held.lock();
    if (journal != nullptr && journal->failed()) ++count;
  }
  return count;
}

absl::Status JournalStore::KeepScene(const StoredScene& scene) {
  EIPC_RETURN_IF_ERROR(Counted(Usable()));
  return Counted(scene_files_.Keep(scene));
}

absl::Status JournalStore::RemoveScene(const StoredScene& scene) {
  EIPC_RETURN_IF_ERROR(Counted(Usable()));
  return Counted(scene_files_.Remove(scene));
}

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
  std::set<std::string> sessions;
  for (const auto& entry : fs::directory_iterator(options_.folder + "/sessions", error)) {
    std::string id;
    int64_t number = 0;
    if (SplitLogName(entry.path().filename().string(), &id, &number)) sessions.insert(absl::StrCat(kSessionPrefix, id));
  }
  for (const std::string& session : sessions) {
    const absl::StatusOr<LeftLog> log = ReadLog(session);
    absl::StatusOr<LogHeader> header = log.ok() ? ReadLogHeader(log->bytes) : log.status();
    if (!header.ok()) {
      // Where it is known whose it is, recovery says to its owner why it is not back, and lets the owner delete it.
      const std::optional<LogHeader> newest = NewestHeader(session);
      if (!newest) {
        found.problems.push_back(absl::StrCat("journal of ", session, ": ", header.status().message()));
        found.unreadable_sessions.emplace_back(session, header.status().message());
        continue;
      }
      header = *newest;
    }
    found.sessions.push_back(*std::move(header));
    found.sessions.back().session = session;
  }
  return found;
}

}  // namespace eipc
