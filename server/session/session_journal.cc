#include "server/session/session_journal.h"

#include <cerrno>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/os/files.h"
#include "sim/base/status_macros.h"

namespace eipc {
namespace {

// A journal that grows by this multiple of its bound while its next file is being written is written faster than the disk takes it:
// then the writer waits for the disk.
constexpr int kMostBehind = 4;

}  // namespace

std::string SessionJournal::PathOf(int64_t number) const { return absl::StrCat(stem_, ".", number, kSuffix); }

absl::Status SessionJournal::Continue(const Left& left) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const std::string path = PathOf(left.number);
  const int file = files_->OpenForAppend(path);
  if (file < 0) return FileError("cannot open", path);
  auto opened = std::make_shared<const OpenFile>(file);
  if (left.torn && files_->Truncate(file, left.sound_bytes) != 0) return FileError("cannot cut back", path);
  if ((left.torn || !left.others.empty()) && files_->Sync(file) != 0) return FileError("cannot sync", path);
  now_ = {std::move(opened), left.sound_bytes, path};
  number_ = left.number;
  begun_ = left.begin_bytes;
  replay_s_ = left.replay_s;
  for (const std::string& other : left.others) files_->Unlink(other);
  return absl::OkStatus();
}

void SessionJournal::BeginAfter(const Left& left) {
  const std::lock_guard<std::mutex> lock(mutex_);
  number_ = left.last_number;
  others_ = left.others;
  if (left.number > 0 && left.number != left.last_number) others_.push_back(PathOf(left.number));
}

absl::Status SessionJournal::UsableLocked() const {
  if (removed_) return absl::CancelledError(absl::StrCat("SESSION_DELETED: '", session_, "' was deleted"));
  return failure_;
}

absl::Status SessionJournal::Usable() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return UsableLocked();
}

bool SessionJournal::failed() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return !failure_.ok();
}

void SessionJournal::Fail(const absl::Status& cause) {
  if (!failure_.ok() || removed_) return;
  failure_ = absl::UnavailableError(
      absl::StrCat(cause.message(), "; the journal of '", session_,
                   "' takes nothing any more, because what it holds is in doubt: mend the disk of --state-dir and restart the "
                   "server, or fork the session into a new one"));
  if (on_failed_) on_failed_(session_, failure_);
}

void SessionJournal::Stop(const absl::Status& cause) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Fail(cause);
}

absl::Status SessionJournal::CutBack(const absl::Status& cause) {
  for (const Part* part : {&now_, &next_}) {
    if (part->file == nullptr || files_->Truncate(part->file->number(), part->size) == 0) continue;
    Fail(FileError("cannot cut back", part->path));
  }
  return failure_.ok() ? cause : failure_;
}

absl::Status SessionJournal::Named() {
  if (now_.file != nullptr && files_->CheckName(now_.file->number(), now_.path) != 0) {
    Fail(FileError("somebody removed or replaced", now_.path));
  }
  return UsableLocked();
}

void SessionJournal::CheckName() {
  const std::lock_guard<std::mutex> lock(mutex_);
  (void)Named();
}

absl::Status SessionJournal::Append(absl::string_view bytes, double replay_s) {
  const std::lock_guard<std::mutex> lock(mutex_);
  EIPC_RETURN_IF_ERROR(UsableLocked());
  if (now_.file == nullptr) return absl::UnavailableError("JOURNAL_FAILED: the journal has not been begun");
  EIPC_RETURN_IF_ERROR(Named());
  // What it takes in memory first: once it is written, it is taken.
  const bool in_tail = next_.file == nullptr && prepared_;
  if (in_tail) tail_.reserve(tail_.size() + bytes.size());
  absl::Status status = WriteAll(files_, now_.file->number(), bytes, now_.path);
  if (status.ok() && next_.file != nullptr) status = WriteAll(files_, next_.file->number(), bytes, next_.path);
  if (!status.ok()) return CutBack(status);
  now_.size += static_cast<off_t>(bytes.size());
  replay_s_ += replay_s;
  if (next_.file != nullptr) next_.size += static_cast<off_t>(bytes.size());
  if (in_tail) tail_.append(bytes.data(), bytes.size());
  return absl::OkStatus();
}

bool SessionJournal::WantsCheckpoint() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (now_.file == nullptr || !UsableLocked().ok()) return false;
  if (prepared_) return now_.size - begun_ > kMostBehind * options_.checkpoint_bytes;
  return now_.size - begun_ > options_.checkpoint_bytes || replay_s_ > options_.checkpoint_replay.count();
}

bool SessionJournal::grown() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return now_.file == nullptr || gave_up_ || now_.size != begun_;
}

bool SessionJournal::PrepareCheckpoint(std::string bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (prepared_ || !UsableLocked().ok()) return false;
  prepared_ = std::move(bytes);
  tail_.clear();
  // From here on the next one is counted; one that fails is tried again after as much as any other.
  begun_ = now_.size;
  replay_s_ = 0;
  return true;
}

absl::Status SessionJournal::WriteCheckpoint() {
  const std::lock_guard<std::mutex> one_at_a_time(checkpointing_);
  return WritePrepared();
}

absl::Status SessionJournal::Checkpoint(absl::string_view bytes) {
  const std::lock_guard<std::mutex> one_at_a_time(checkpointing_);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    EIPC_RETURN_IF_ERROR(UsableLocked());
    // One that was prepared and has not been begun says less than this.
    prepared_ = std::string(bytes);
    tail_.clear();
    begun_ = now_.size;
    replay_s_ = 0;
  }
  return WritePrepared();
}

absl::Status SessionJournal::GiveUpCheckpoint(absl::Status cause, const std::string& beside) {
  files_->Unlink(beside);
  const std::lock_guard<std::mutex> lock(mutex_);
  prepared_.reset();
  tail_ = std::string();
  next_ = {};
  gave_up_ = true;
  return cause;
}

// The next file takes what was appended while it was being written, and everything from now on.
absl::Status SessionJournal::TakeTail(const FilePtr& file, const std::string& path, size_t begin_bytes) {
  EIPC_RETURN_IF_ERROR(UsableLocked());
  EIPC_RETURN_IF_ERROR(WriteAll(files_, file->number(), tail_, path));
  next_ = {file, static_cast<off_t>(begin_bytes + tail_.size()), path};
  tail_ = std::string();
  return absl::OkStatus();
}

absl::Status SessionJournal::WritePrepared() {
  std::string begin;
  Names names;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!prepared_ || prepared_->empty()) return absl::OkStatus();
    if (absl::Status usable = UsableLocked(); !usable.ok()) {
      prepared_.reset();
      return usable;
    }
    names.number = number_ + 1;
    names.path = PathOf(names.number);
    names.beside = TemporaryBeside(names.path);
    names.before = PathOf(number_);
    others_.reserve(others_.size() + 1);
    begin.swap(*prepared_);  // that it is prepared is still known
  }
  absl::Status status;
  try {
    status = WriteBeside(names.beside, begin);
  } catch (const std::bad_alloc&) {
    status = absl::ResourceExhaustedError("OUT_OF_MEMORY: there is no memory for a checkpoint");
  }
  return status.ok() ? SwitchTo(std::move(names)) : GiveUpCheckpoint(status, names.beside);
}

absl::Status SessionJournal::WriteBeside(const std::string& beside, const std::string& begin) {
  const int created = files_->Create(beside);
  if (created < 0) return FileError("cannot create", beside);
  const FilePtr file = std::make_shared<const OpenFile>(created);
  EIPC_RETURN_IF_ERROR(WriteAll(files_, created, begin, beside));
  if (files_->Sync(created) != 0) return FileError("cannot sync", beside);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    EIPC_RETURN_IF_ERROR(TakeTail(file, beside, begin.size()));
  }
  return files_->Sync(created) == 0 ? absl::OkStatus() : FileError("cannot sync", beside);
}

// Gives the next file its name. Both take every record until the name is on the disk; once there is the name, the next file counts,
// and nothing may fail before that is known here.
absl::Status SessionJournal::SwitchTo(Names names) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    absl::Status status = UsableLocked();  // Remove came first: the name must not come into being
    if (status.ok() && files_->Rename(names.beside, names.path) != 0) status = FileError("cannot rename", names.beside);
    if (!status.ok()) {
      files_->Unlink(names.beside);
      prepared_.reset();
      next_ = {};
      gave_up_ = true;
      return status;
    }
    if (number_ > 0) others_.push_back(std::move(names.before));
    number_ = names.number;
  }
  const absl::Status synced = SyncFolderOf(files_, names.path);
  std::vector<std::string> needless;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    prepared_.reset();
    gave_up_ = false;
    begun_ += next_.size - now_.size;  // what was appended since it was prepared counts on
    now_ = std::exchange(next_, {});
    now_.path = std::move(names.path);
    if (!synced.ok()) Fail(synced);
    if (!UsableLocked().ok()) return UsableLocked();
    needless.swap(others_);
  }
  for (const std::string& path : needless) files_->Unlink(path);
  return absl::OkStatus();
}

void SessionJournal::Sync() {
  FilePtr file, next;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (removed_) return;
    file = now_.file;
    next = next_.file;
  }
  for (const FilePtr& each : {file, next}) {
    if (each == nullptr || files_->Sync(each->number()) == 0) continue;
    const absl::Status status = FileError("cannot sync", stem_);
    const std::lock_guard<std::mutex> lock(mutex_);
    if (each == now_.file || each == next_.file) Fail(status);
  }
}

absl::Status SessionJournal::Remove() {
  const std::lock_guard<std::mutex> lock(mutex_);
  // The oldest first: were the process to end in between, what comes back is the newest.
  for (const std::string& path : others_) {
    if (files_->Unlink(path) != 0 && errno != ENOENT) return FileError("cannot remove", path);
  }
  if (files_->Unlink(PathOf(number_)) != 0 && errno != ENOENT) return FileError("cannot remove", PathOf(number_));
  const absl::Status synced = SyncFolderOf(files_, PathOf(number_));
  if (!synced.ok()) {
    Fail(synced);
    return synced;
  }
  removed_ = true;
  return absl::OkStatus();
}

}  // namespace eipc
