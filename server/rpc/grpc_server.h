#ifndef EIPC_SERVER_RPC_GRPC_SERVER_H_
#define EIPC_SERVER_RPC_GRPC_SERVER_H_

#include <chrono>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/convert/mesh_resolver.h"
#include "server/session/server_limits.h"

namespace grpc {
class Channel;
}  // namespace grpc

namespace eipc::rpc {

struct GrpcServerOptions {
  // "HOST:PORT" of the loopback interface; port 0 picks a free one. Empty: in-process channels only.
  std::string listen = "127.0.0.1:50051";
  MeshResolver::Options meshes;
  ServerLimits limits;
};

// A running server: the simulation service, health (grpc.health.v1) and reflection.
class GrpcServer {
 public:
  // INVALID_ARGUMENT for an address that is not a loopback one, UNAVAILABLE when it cannot be listened on.
  static absl::StatusOr<std::unique_ptr<GrpcServer>> Start(const GrpcServerOptions& options);
  // Drains without grace if nobody has.
  ~GrpcServer();

  // Where it listens, with the port it got.
  const std::string& address() const;

  // Health says NOT_SERVING, no new calls are taken, streams end after the response they are working on, calls that run may finish
  // within `grace`, then they are cancelled. Returns when all are over.
  void Drain(std::chrono::milliseconds grace);

  // A channel that needs no network.
  std::shared_ptr<grpc::Channel> InProcessChannel();

 private:
  struct Impl;
  explicit GrpcServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_GRPC_SERVER_H_
