#ifndef EIPC_SERVER_CONFIG_H_
#define EIPC_SERVER_CONFIG_H_

#include <string>

#include "server/rpc/listen/grpc_server.h"

namespace CLI {
class App;
}  // namespace CLI

namespace eipc {

// Everything that can be set, from the command line, a file (--config) or the environment, in this order (docs/operations.md).
struct ServerConfig {
  rpc::GrpcServerOptions server;
  double grace_s = 5;
  double journal_sync_ms = 50;
  double handshake_timeout_s = 10;
  double write_timeout_s = 30;
  double trim_interval_s = 60;
  int malloc_arenas = 0;  // set by AddOptions
  int64_t memory_mib = 0;
  int64_t session_memory_mib = 0;
  int64_t snapshot_mib = 1024;
  int64_t upload_mib = 1024;
  bool no_reflection = false;
  std::string log_level = "info";
};

void AddOptions(CLI::App* app, ServerConfig* config);

// Numbers in the units of the command line into those of the server.
void Resolve(ServerConfig* config);

}  // namespace eipc

#endif  // EIPC_SERVER_CONFIG_H_
