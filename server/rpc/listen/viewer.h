#ifndef EIPC_SERVER_RPC_LISTEN_VIEWER_H_
#define EIPC_SERVER_RPC_LISTEN_VIEWER_H_

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/rpc/listen/call_host.h"
#include "server/rpc/listen/grpc_server.h"
#include "server/rpc/view/view_host.h"
#include "server/rpc/view/view_site.h"
#include "server/rpc/view/view_transport.h"

namespace eipc::rpc {

// The viewer of a server: its calls are handled on the threads of the others, among them and within the same bounds.
class Viewer {
 public:
  // What is wrong with the settings: the page is served on the loopback interface only, others reach it through a proxy.
  static absl::Status Check(const GrpcServerOptions& options);
  // Null when none is asked for. Says on_viewer. `calls` outlives it. UNAVAILABLE when it cannot listen.
  static absl::StatusOr<std::unique_ptr<Viewer>> Start(const GrpcServerOptions& options, CallHost* calls);

  // "http://HOST:PORT/".
  const std::string& url() const { return url_; }
  bool built() const { return built_; }
  int sockets() const { return site_->sockets(); }
  // `viewer` may be null.
  static void AddGauges(const Viewer* viewer, const LiveFeeds& feeds, std::map<std::string, double>* values);

 private:
  Viewer(std::unique_ptr<ViewTransport> transport, std::string url) : url_(std::move(url)), transport_(std::move(transport)) {}

  const std::string url_;
  bool built_ = false;
  StandardViewSite* site_ = nullptr;  // of the transport
  const std::unique_ptr<ViewTransport> transport_;
};

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_LISTEN_VIEWER_H_
