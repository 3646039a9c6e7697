#include "server/os/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "server/os/file_system.h"

namespace eipc {

absl::Status FileError(absl::string_view what, const std::string& path) {
  return absl::UnavailableError(
      absl::StrCat("JOURNAL_FAILED: ", what, " ", std::filesystem::path(path).filename().string(), ": ", std::strerror(errno)));
}

absl::Status WriteAll(int file, absl::string_view bytes, const std::string& path) {
  return WriteAll(FileSystem::Real(), file, bytes, path);
}

absl::StatusOr<std::string> ReadWholeFile(const std::string& path) {
  // Of a pipe not even opening it would end, of a device the reading.
  const int number = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (number < 0) return FileError("cannot read", path);
  const OpenFile file(number);
  struct stat status = {};
  if (fstat(number, &status) == 0 && !S_ISREG(status.st_mode)) errno = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
  if (!S_ISREG(status.st_mode)) return FileError("cannot read", path);
  std::string bytes;
  char piece[64 << 10];
  while (true) {
    const ssize_t got = read(number, piece, sizeof(piece));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FileError("cannot read", path);
    if (got == 0) return bytes;
    bytes.append(piece, static_cast<size_t>(got));
  }
}

}  // namespace eipc
