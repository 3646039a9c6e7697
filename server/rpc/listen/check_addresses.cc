#include "server/rpc/listen/check_addresses.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "server/rpc/listen/listen_address.h"
#include "sim/base/status_macros.h"

namespace eipc::rpc {
namespace {

absl::Status CheckExposure(const ListenAddress& address, const std::string& text) {
  if (address.loopback || !address.path.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "'", text, "': only loopback addresses (127.0.0.1, [::1], localhost) and Unix sockets are served; put the proxy ",
      "of docs/howto/operations.md in front (--listen unix:PATH) for others, or tunnel to the server (ssh -L)"));
}

}  // namespace

absl::Status CheckListen(const GrpcServerOptions& options) {
  if (options.listen.empty()) return absl::OkStatus();
  EIPC_ASSIGN_OR_RETURN(const ListenAddress address, ParseListenAddress(options.listen));
  return CheckExposure(address, options.listen);
}

absl::Status CheckMetrics(const GrpcServerOptions& options) {
  if (options.metrics.empty()) return absl::OkStatus();
  EIPC_ASSIGN_OR_RETURN(const ListenAddress address, ParseListenAddress(options.metrics));
  if (address.loopback || options.metrics_anywhere) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--metrics ", options.metrics, ": only loopback addresses are served (127.0.0.1, [::1], localhost), because ",
                   "nobody is asked for credentials there; let the proxy forward it, or give --metrics-anywhere"));
}

}  // namespace eipc::rpc
