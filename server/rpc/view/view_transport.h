#ifndef EIPC_SERVER_RPC_VIEW_VIEW_TRANSPORT_H_
#define EIPC_SERVER_RPC_VIEW_VIEW_TRANSPORT_H_

#include <chrono>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/rpc/view/view_crowd.h"
#include "server/rpc/view/view_query.h"

namespace eipc::rpc {

// HTTP/1.1 and WebSockets of a loopback address on one thread of its own.
//
// Bounds: connections (view_crowd.h), the size of headers, bodies and frames, the time a request may take to arrive and an answer
// to be taken. A connection beyond a bound is ended; what a client does not read waits in at most one message, the others stay with
// the ViewClient.
class ViewTransport {
 public:
  struct Options {
    std::string host = "127.0.0.1";
    int port = 0;  // 0: any free one
    ViewCrowd::Bounds crowd;
    size_t max_header_bytes = 16 << 10;
    size_t max_body_bytes = 64 << 10;
    size_t max_frame_bytes = 256 << 10;
    std::chrono::milliseconds request_timeout{10000};
    std::chrono::milliseconds stranger_timeout{5000};  // the same for connections of strangers (view_crowd.h)
    std::chrono::milliseconds write_timeout{30000};
  };

  // UNAVAILABLE when it cannot listen there.
  static absl::StatusOr<std::unique_ptr<ViewTransport>> Listen(const Options& options);
  ~ViewTransport();

  int port() const;
  // Begins to serve; before, connections wait.
  void Serve(std::unique_ptr<ViewSite> site);
  // Ends all connections. Returns when no request is worked on by this thread.
  void Stop();

 private:
  struct Impl;
  explicit ViewTransport(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_VIEW_VIEW_TRANSPORT_H_
