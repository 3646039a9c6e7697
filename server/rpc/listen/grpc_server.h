#ifndef EIPC_SERVER_RPC_LISTEN_GRPC_SERVER_H_
#define EIPC_SERVER_RPC_LISTEN_GRPC_SERVER_H_

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/convert/mesh_resolver.h"
#include "server/rpc/telemetry/event.h"
#include "server/rpc/telemetry/metrics.h"
#include "server/session/journal.h"
#include "server/session/server_limits.h"

namespace grpc {
class Channel;
}  // namespace grpc

namespace eipc::rpc {

struct GrpcServerOptions {
  // "HOST:PORT" on the loopback interface, where port 0 picks a free one, or "unix:PATH" (listen_address.h). Empty: in-process
  // channels only. Others reach the server through a proxy, which encrypts and verifies certificates.
  std::string listen = "127.0.0.1:50051";
  MeshResolver::Options meshes;
  ServerLimits limits;
  // Who may call (server/session/access.h); empty: everyone who can connect, as one tenant.
  std::string access_file;
  // Folder of the journal; empty: nothing survives the process.
  JournalStore::Options journal;
  // Program that makes cages in a child (server/rpc/handlers/cage_worker.h); empty: in this process.
  std::string cage_program;
  // "HOST:PORT" of http://.../metrics; empty: none. Loopback only, unless `metrics_anywhere`: no credentials are asked for
  // there.
  std::string metrics;
  bool metrics_anywhere = false;
  // Counts by tenant too (server/rpc/telemetry/tenant_metrics.h).
  bool tenant_metrics = false;
  // Values of the program for /metrics, beside the server's; may be empty.
  Metrics::Gauges gauges;
  // "HOST:PORT" of the viewer's page, on the loopback interface; empty: none. Folder of the page (server/rpc/view/view_page.h), and
  // the addresses of proxies in front, "https://HOST[:PORT]".
  std::string viewer;
  std::string viewer_page;
  std::vector<std::string> viewer_origins;
  // File that the audit log is appended to (server/rpc/telemetry/audit_log.h); empty: none.
  std::string audit_file;
  // File that spans are appended to (server/rpc/telemetry/span_log.h); empty: none.
  std::string trace_file;
  bool reflection = true;
  // Health checks (not watches) need no credentials.
  bool open_health = true;
  // A call is ended after this time if its client has not sent its message, or there has been no room for the message.
  std::chrono::milliseconds message_timeout{30000};
  // A call is ended after this time if its client has not received an answer that was written.
  std::chrono::milliseconds write_timeout{30000};
  // The interval at which free memory is returned to the system (server/os/malloc_tuning.h); 0: never.
  std::chrono::milliseconds trim_interval{60000};
  EventSink events;  // may be empty
  // Called once, before on_ready, with the address of the page and whether it was built. May be empty.
  std::function<void(const std::string& url, bool built)> on_viewer;
  // Called once, with the address, when the server takes work: at once, or when what the journal holds is back. May be empty.
  std::function<void(const std::string& address)> on_ready;
};

// A running server: the simulation service, health (grpc.health.v1) and reflection.
//
// Health answers for "" and "eipc.v1.SimulationService" (ready: takes work; not while it recovers or drains) and for "liveness"
// (the process is not stuck; true while it drains).
class GrpcServer {
 public:
  // The errors in options, one status each, found by reading only the options and the files that they name.
  static std::vector<absl::Status> Check(const GrpcServerOptions& options);
  // INVALID_ARGUMENT for an address that may not be served or files that are malformed, UNAVAILABLE when a resource
  // cannot be obtained.
  static absl::StatusOr<std::unique_ptr<GrpcServer>> Start(const GrpcServerOptions& options);
  // Drains without grace unless Drain was called.
  ~GrpcServer();

  // Where it listens, with the port it got.
  const std::string& address() const;
  // Not while it recovers or drains. Both may be called from any thread until Drain has returned.
  bool TakesWork() const;
  int SessionCount() const;

  // Reads the access file again and continues in a new audit file, if there is none by that name any more. What is wrong is in the
  // status; then callers admitted before still are, and the audit log continues where it was.
  // `tenant`: ServerLimits::tenant from now on; what is held already stays.
  absl::Status Reload(const ResourceAmounts& tenant);

  // Health says NOT_SERVING, no new connections or work are taken, streams end after the response they are working on, calls that
  // run may finish within `grace`, then they are cancelled. Returns when all are over.
  void Drain(std::chrono::milliseconds grace);

  // A channel that needs no network.
  std::shared_ptr<grpc::Channel> InProcessChannel();

 private:
  struct Impl;
  explicit GrpcServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_LISTEN_GRPC_SERVER_H_
