#include "server/check_config.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace eipc {
namespace {

namespace fs = std::filesystem;

// Collects what is found about one setting.
class Finder {
 public:
  Finder(std::string setting, std::string path, ConfigReport* report)
      : setting_(std::move(setting)), path_(std::move(path)), report_(report) {}

  const std::string& path() const { return path_; }
  bool given() const { return !path_.empty(); }
  void Problem(const std::string& what) { report_->problems.push_back(absl::StrCat("--", setting_, " ", path_, ": ", what)); }
  void Note(const std::string& what) { report_->notes.push_back(absl::StrCat("--", setting_, " ", path_, ": ", what)); }

 private:
  const std::string setting_;
  const std::string path_;
  ConfigReport* const report_;
};

bool MayWriteInto(const fs::path& folder) { return access(folder.c_str(), W_OK | X_OK) == 0; }

// What is to be made there can be made: the nearest folder that exists lets us.
void CheckCreatable(Finder* finder) {
  fs::path folder = fs::absolute(finder->path()).lexically_normal();
  std::error_code error;
  while (!fs::exists(folder, error) && folder.has_relative_path()) folder = folder.parent_path();
  if (!fs::is_directory(folder, error)) {
    finder->Problem(absl::StrCat(folder.string(), " is not a folder; name another place"));
  } else if (!MayWriteInto(folder)) {
    finder->Problem(absl::StrCat("cannot be created: no right to write into ", folder.string(),
                                 "; create it for this user, or give the folder to this user"));
  }
}

// A server holds the lock as long as it runs.
void CheckLock(Finder* finder) {
  const std::string path = finder->path() + "/lock";
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    if (errno != ENOENT) finder->Problem(absl::StrCat(path, ": ", std::strerror(errno), "; give it to this user"));
    return;
  }
  if (flock(file, LOCK_SH | LOCK_NB) != 0) finder->Note("a server uses this folder now; another one starts only when it has ended");
  close(file);
}

void CheckStateFolder(Finder finder) {
  if (!finder.given()) return;
  struct stat status = {};
  if (stat(finder.path().c_str(), &status) != 0) return CheckCreatable(&finder);
  if (!S_ISDIR(status.st_mode)) return finder.Problem("is not a folder; name another one");
  if (!MayWriteInto(finder.path())) return finder.Problem("no right to write there; give it to this user (chown)");
  if (status.st_uid != geteuid()) finder.Note("belongs to another user");
  if ((status.st_mode & 077) != 0) {
    finder.Note(absl::StrFormat("other users can read it (mode %04o); chmod 700 keeps them out", status.st_mode & 07777));
  }
  CheckLock(&finder);
}

void CheckReadableFolder(Finder finder) {
  if (!finder.given()) return;
  std::error_code error;
  if (!fs::is_directory(finder.path(), error)) return finder.Problem("is not a folder; name one that exists");
  if (access(finder.path().c_str(), R_OK | X_OK) != 0) finder.Problem("cannot be read; give this user the right (chmod)");
}

void CheckAppendable(Finder finder) {
  if (!finder.given()) return;
  struct stat status = {};
  if (stat(finder.path().c_str(), &status) != 0) return CheckCreatable(&finder);
  if (S_ISDIR(status.st_mode)) return finder.Problem("is a folder; name a file");
  if (access(finder.path().c_str(), W_OK) != 0) finder.Problem("no right to write to it; give it to this user (chown)");
}

// A user who may write to the access file can grant access.
void CheckOthersCannotWrite(Finder finder) {
  struct stat status = {};
  if (!finder.given() || stat(finder.path().c_str(), &status) != 0 || (status.st_mode & 022) == 0) return;
  finder.Problem(absl::StrFormat("others may write to it (mode %04o); chmod 600", status.st_mode & 07777));
}

// The server does not read these settings, its proxy does: they count when one of them is given.
void CheckProxy(const ServerConfig& config, ConfigReport* report) {
  const auto settings = config.Settings();
  const auto of_proxy = [](const ServerConfig::Setting& s) { return s.given && absl::StartsWith(s.name, "proxy-"); };
  if (std::none_of(settings.begin(), settings.end(), of_proxy)) return;
  const absl::StatusOr<std::string> text = ProxyConfiguration(config.proxy, config.server);
  if (!text.ok()) report->problems.emplace_back(text.status().message());
}

}  // namespace

ConfigReport CheckConfig(const ServerConfig& config) {
  ConfigReport report;
  const rpc::GrpcServerOptions& server = config.server;
  for (const absl::Status& problem : rpc::GrpcServer::Check(server)) report.problems.emplace_back(problem.message());
  CheckOthersCannotWrite({"access-file", server.access_file, &report});
  CheckStateFolder({"state-dir", server.journal.folder, &report});
  CheckReadableFolder({"mesh-root", server.meshes.scene_folder, &report});
  CheckReadableFolder({"data", server.meshes.data_folder, &report});
  CheckAppendable({"trace-file", server.trace_file, &report});
  CheckAppendable({"audit-file", server.audit_file, &report});
  CheckProxy(config, &report);
  return report;
}

}  // namespace eipc
