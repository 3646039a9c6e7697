#include "server/os/files.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

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
  std::ifstream file(path, std::ios::binary);
  if (!file) return FileError("cannot read", path);
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (file.bad()) return FileError("cannot read", path);
  return bytes;
}

}  // namespace eipc
