#include "server/session/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "sim/base/status_macros.h"

namespace eipc {

absl::Status FileError(absl::string_view what, const std::string& path) {
  return absl::UnavailableError(
      absl::StrCat("JOURNAL_FAILED: ", what, " ", std::filesystem::path(path).filename().string(), ": ", std::strerror(errno)));
}

absl::Status WriteAll(int file, absl::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return FileError("cannot write", path);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadWholeFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return FileError("cannot read", path);
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (file.bad()) return FileError("cannot read", path);
  return bytes;
}

absl::Status SyncFolderOf(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const int file = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return FileError("cannot open", folder);
  const int synced = fsync(file);
  close(file);
  return synced == 0 ? absl::OkStatus() : FileError("cannot sync", folder);
}

absl::Status ReplaceFile(const std::string& path, absl::string_view bytes) {
  const std::string beside = path + ".tmp";
  const int file = open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return FileError("cannot create", beside);
  absl::Status status = WriteAll(file, bytes, beside);
  if (status.ok() && fsync(file) != 0) status = FileError("cannot sync", beside);
  close(file);
  if (status.ok() && rename(beside.c_str(), path.c_str()) != 0) status = FileError("cannot rename", beside);
  if (!status.ok()) {
    unlink(beside.c_str());
    return status;
  }
  return SyncFolderOf(path);
}

}  // namespace eipc
