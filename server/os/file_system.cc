#include "server/os/file_system.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "absl/strings/str_cat.h"
#include "server/os/files.h"
#include "sim/base/status_macros.h"

namespace eipc {

int FileSystem::Create(const std::string& path) {
  return open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
}

int FileSystem::OpenForAppend(const std::string& path) { return open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC); }

ssize_t FileSystem::Write(int file, const char* bytes, size_t size) { return write(file, bytes, size); }

int FileSystem::Sync(int file) { return fdatasync(file); }

int FileSystem::Truncate(int file, off_t size) { return ftruncate(file, size); }

int FileSystem::Rename(const std::string& from, const std::string& to) { return rename(from.c_str(), to.c_str()); }

int FileSystem::Unlink(const std::string& path) { return unlink(path.c_str()); }

int FileSystem::SyncFolder(const std::string& folder) {
  const std::shared_ptr<const OpenFile> open = Folder(folder);
  return open == nullptr ? -1 : fsync(open->number());
}

std::shared_ptr<const OpenFile> FileSystem::Folder(const std::string& path) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto held = folders_.find(path);
  if (held != folders_.end()) {
    if (FileSystem::CheckName(held->second->number(), path) == 0) return held->second;
    const bool gone = errno == ENOENT || errno == ENOTDIR || errno == ESTALE;  // somebody removed or replaced it
    if (!gone) return nullptr;
    folders_.erase(held);
  }
  const int file = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return nullptr;
  return folders_[path] = std::make_shared<const OpenFile>(file);
}

int FileSystem::CheckName(int file, const std::string& path) {
  struct stat own = {}, named = {};
  if (fstat(file, &own) != 0 || stat(path.c_str(), &named) != 0) return -1;
  if (own.st_dev == named.st_dev && own.st_ino == named.st_ino) return 0;
  errno = ESTALE;
  return -1;
}

FileSystem* FileSystem::Real() {
  static FileSystem* const real = new FileSystem;  // threads may use it until the process ends
  return real;
}

OpenFile::~OpenFile() { close(file_); }

absl::Status WriteAll(FileSystem* files, int file, absl::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = files->Write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return FileError("cannot write", path);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

std::string TemporaryBeside(const std::string& path) {
  static std::atomic<uint64_t> count = 0;
  return absl::StrCat(path, ".", getpid(), "-", ++count, kTemporarySuffix);
}

absl::Status SyncFolderOf(FileSystem* files, const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return files->SyncFolder(folder) == 0 ? absl::OkStatus() : FileError("cannot sync folder", folder);
}

absl::Status ReplaceFile(FileSystem* files, const std::string& path, absl::Span<const absl::string_view> pieces) {
  const std::string beside = TemporaryBeside(path);
  const int number = files->Create(beside);
  if (number < 0) return FileError("cannot create", beside);
  absl::Status status;
  {
    const OpenFile file(number);
    for (const absl::string_view piece : pieces) status.Update(WriteAll(files, number, piece, beside));
    if (status.ok() && files->Sync(number) != 0) status = FileError("cannot sync", beside);
  }
  if (status.ok() && files->Rename(beside, path) != 0) status = FileError("cannot rename", beside);
  if (!status.ok()) {
    files->Unlink(beside);
    return status;
  }
  return SyncFolderOf(files, path);
}

absl::Status RemoveFile(FileSystem* files, const std::string& path) {
  if (files->Unlink(path) != 0 && errno != ENOENT) return FileError("cannot remove", path);
  return SyncFolderOf(files, path);
}

}  // namespace eipc
