#include "server/os/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>
#include <vector>

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

namespace {

// Calls take(piece) for the file's bytes, until it says false or there are no more.
absl::Status ReadPieces(const std::string& path, const std::function<bool(absl::string_view)>& take) {
  // Of a pipe not even opening it would end, of a device the reading.
  const int number = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (number < 0) return FileError("cannot read", path);
  const OpenFile file(number);
  struct stat status = {};
  if (fstat(number, &status) == 0 && !S_ISREG(status.st_mode)) errno = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
  if (!S_ISREG(status.st_mode)) return FileError("cannot read", path);
  char piece[64 << 10];
  while (true) {
    const ssize_t got = read(number, piece, sizeof(piece));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FileError("cannot read", path);
    if (got == 0 || !take({piece, static_cast<size_t>(got)})) return absl::OkStatus();
  }
}

}  // namespace

absl::StatusOr<std::string> ReadWholeFile(const std::string& path) {
  std::string bytes;
  const absl::Status status = ReadPieces(path, [&bytes](absl::string_view piece) {
    bytes.append(piece.data(), piece.size());
    return true;
  });
  if (!status.ok()) return status;
  return bytes;
}

bool FileHolds(const std::string& path, absl::Span<const absl::string_view> pieces) {
  std::vector<absl::string_view> rest(pieces.rbegin(), pieces.rend());
  bool same = true;
  const absl::Status status = ReadPieces(path, [&](absl::string_view read) {
    while (same && !read.empty()) {
      while (!rest.empty() && rest.back().empty()) rest.pop_back();
      same = !rest.empty();
      if (!same) break;
      const size_t size = std::min(rest.back().size(), read.size());
      same = rest.back().substr(0, size) == read.substr(0, size);
      rest.back().remove_prefix(size);
      read.remove_prefix(size);
    }
    return same;
  });
  const auto is_empty = [](absl::string_view piece) { return piece.empty(); };
  return status.ok() && same && std::all_of(rest.begin(), rest.end(), is_empty);
}

}  // namespace eipc
