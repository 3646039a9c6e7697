#include "server/rpc/listen/listen_address.h"

#include <arpa/inet.h>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace eipc::rpc {
namespace {

bool IsLoopback(const std::string& host) {
  if (host == "localhost" || host == "[::1]") return true;
  in_addr address;
  return inet_pton(AF_INET, host.c_str(), &address) == 1 && (ntohl(address.s_addr) >> 24) == 127;
}

}  // namespace

absl::StatusOr<ListenAddress> ParseListenAddress(const std::string& text) {
  const size_t colon = text.rfind(':');
  ListenAddress address;
  const bool split = colon != std::string::npos && colon > 0 && absl::SimpleAtoi(text.substr(colon + 1), &address.port);
  if (!split || address.port < 0 || address.port > 65535) {
    return absl::InvalidArgumentError(absl::StrCat("'", text, "': must be HOST:PORT, e.g. 127.0.0.1:50051 (port 0: any free one)"));
  }
  address.host = text.substr(0, colon);
  address.loopback = IsLoopback(address.host);
  return address;
}

}  // namespace eipc::rpc
