#include "tools/cage_cache.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "models/sha256.h"
#include "server/os/files.h"
#include "sim/base/status_macros.h"

namespace eipc {
namespace {

namespace fs = std::filesystem;
constexpr char kChecksums[] = "checksums";

// Empty where it cannot be read.
std::string ReadAll(const fs::path& path) { return ReadWholeFile(path.string()).value_or(""); }

std::string DefaultFolder() {
  const auto variable = [](const char* name) { return std::string(std::getenv(name) == nullptr ? "" : std::getenv(name)); };
  if (!variable("EIPC_CACHE").empty()) return variable("EIPC_CACHE");
  if (!variable("XDG_CACHE_HOME").empty()) return variable("XDG_CACHE_HOME") + "/eipc";
  if (!variable("HOME").empty()) return variable("HOME") + "/.cache/eipc";
  return "";
}

bool CanWrite(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  return !error && access(folder.c_str(), W_OK | X_OK) == 0;
}

absl::Status WriteChecksums(const fs::path& folder) {
  std::map<std::string, std::string> sums;
  std::error_code error;
  for (const auto& file : fs::directory_iterator(folder, error))
    sums[file.path().filename().string()] = Sha256Hex(ReadAll(file.path()));
  std::ofstream out(folder / kChecksums, std::ios::binary);
  for (const auto& [name, sum] : sums) out << sum << ' ' << name << '\n';
  out.close();
  return out && !error ? absl::OkStatus()
                       : absl::UnavailableError(absl::StrCat(folder.string(), ": cannot be written (is the disk full?)"));
}

// A name in the same folder that no other process uses.
fs::path Unique(const fs::path& folder, const char* what) {
  static int count = 0;
  return folder / absl::StrCat(what, "-", getpid(), "-", ++count);
}

}  // namespace

bool EntryIsSound(const std::string& folder) {
  std::istringstream sums(ReadAll(fs::path(folder) / kChecksums));
  std::string sum, name;
  bool any = false;
  while (sums >> sum && std::getline(sums >> std::ws, name)) {
    any = true;
    if (name.find('/') != std::string::npos || Sha256Hex(ReadAll(fs::path(folder) / name)) != sum) return false;
  }
  return any;
}

CageCache::CageCache(std::string folder) : folder_(std::move(folder)) {
  if (folder_.empty()) folder_ = DefaultFolder();
  if (folder_.empty() || !CanWrite(folder_)) folder_ = (fs::temp_directory_path() / absl::StrCat("eipc-cache-", getuid())).string();
}

absl::StatusOr<CageCache::Entry> CageCache::Get(const std::string& key,
                                                const std::function<absl::Status(const std::string&)>& make) {
  const fs::path final_folder = fs::path(folder_) / key;
  if (EntryIsSound(final_folder.string())) return Entry{final_folder.string(), true};
  const fs::path work = Unique(folder_, "work");
  std::error_code error;
  fs::remove_all(work, error);
  fs::create_directories(work, error);
  if (error) return absl::UnavailableError(absl::StrCat(work.string(), ": cannot be made: ", error.message()));
  absl::Status status = make(work.string());
  if (status.ok()) status = WriteChecksums(work);
  if (!status.ok()) {
    fs::remove_all(work, error);
    return status;
  }
  fs::rename(work, final_folder, error);
  if (!error) return Entry{final_folder.string(), false};
  // Something is there: another process's entry, or a damaged one. The latter is moved away first, so that no one sees half of it.
  if (!EntryIsSound(final_folder.string())) {
    const fs::path trash = Unique(folder_, "damaged");
    fs::rename(final_folder, trash, error);
    fs::remove_all(trash, error);
    fs::rename(work, final_folder, error);
  }
  fs::remove_all(work, error);
  if (EntryIsSound(final_folder.string())) return Entry{final_folder.string(), false};
  return absl::UnavailableError(absl::StrCat(final_folder.string(), ": cannot be written; set EIPC_CACHE to a folder that can"));
}

}  // namespace eipc
