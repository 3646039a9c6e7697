#include "server/rpc/listen/listen_address.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "sim/base/status_macros.h"

namespace eipc::rpc {
namespace {

bool IsLoopback(const std::string& host) {
  if (host == "localhost" || host == "[::1]") return true;
  in_addr address;
  return inet_pton(AF_INET, host.c_str(), &address) == 1 && (ntohl(address.s_addr) >> 24) == 127;
}

absl::Status Unfit(const std::string& path, absl::string_view text) {
  return absl::InvalidArgumentError(absl::StrCat("'unix:", path, "': ", text));
}

absl::Status CheckFolder(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return Unfit(path, absl::StrCat("cannot make the folder ", folder, ": ", std::strerror(errno)));
  }
  struct stat info;
  if (stat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) return Unfit(path, absl::StrCat(folder, " is not a folder"));
  if (info.st_uid != geteuid() || (info.st_mode & 077) != 0) {
    return Unfit(
        path, absl::StrCat("the folder ", folder, " must belong to this user alone (chmod 0700): every process that can connect ",
                           "to the socket can name the caller"));
  }
  return absl::OkStatus();
}

bool SomeoneListens(const sockaddr_un& address) {
  const int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (file < 0) return false;
  const bool connected =
      connect(file, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 || errno == EAGAIN || errno == EINPROGRESS;
  close(file);
  return connected;
}

}  // namespace

absl::StatusOr<ListenAddress> ParseListenAddress(const std::string& text) {
  ListenAddress address;
  absl::string_view rest = text;
  if (absl::ConsumePrefix(&rest, "unix:")) {
    if (rest.empty() || rest.size() >= sizeof(sockaddr_un::sun_path)) {
      return absl::InvalidArgumentError(absl::StrCat("'", text, "': the path of a Unix socket must have 1 to ",
                                                     sizeof(sockaddr_un::sun_path) - 1, " characters"));
    }
    address.path = std::string(rest);
    return address;
  }
  const size_t colon = text.rfind(':');
  const bool split = colon != std::string::npos && colon > 0 && absl::SimpleAtoi(text.substr(colon + 1), &address.port);
  if (!split || address.port < 0 || address.port > 65535) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "': must be HOST:PORT, e.g. 127.0.0.1:50051 (port 0: any free one), or unix:PATH"));
  }
  address.host = text.substr(0, colon);
  address.loopback = IsLoopback(address.host);
  return address;
}

absl::Status PrepareUnixSocket(const std::string& path) {
  EIPC_RETURN_IF_ERROR(CheckFolder(path));
  struct stat info;
  if (lstat(path.c_str(), &info) != 0) return absl::OkStatus();
  if (!S_ISSOCK(info.st_mode)) return Unfit(path, "something that is not a socket is there");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  if (SomeoneListens(address)) return absl::UnavailableError(absl::StrCat("cannot listen on unix:", path, ": a server is there"));
  if (unlink(path.c_str()) != 0) return Unfit(path, absl::StrCat("cannot remove the old socket: ", std::strerror(errno)));
  return absl::OkStatus();
}

}  // namespace eipc::rpc
