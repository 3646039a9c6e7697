// eipc-server: hosts embedded-IPC scenes over gRPC.

#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "server/config.h"
#include "server/log.h"
#include "server/rpc/handlers/cage_worker.h"
#include "server/rpc/handlers/prepare_worker.h"
#include "server/rpc/listen/grpc_server.h"
#include "server/session/heap.h"
#include "server/session/turns.h"

namespace {

using eipc::rpc::Event;

int PrintProxyConfig(const eipc::ServerConfig& config) {
  const absl::StatusOr<std::string> text = eipc::ProxyConfiguration(config.proxy, config.server);
  if (!text.ok()) {
    std::fprintf(stderr, "eipc-server: %s\n", std::string(text.status().message()).c_str());
    return 1;
  }
  std::fputs(text->c_str(), stdout);
  return 0;
}

// SIGTERM and SIGINT wait for sigwait instead of ending the process; threads started later inherit this.
sigset_t BlockStopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  return signals;
}

// This very program, whatever has happened to its file since.
std::string OwnProgram() {
  char path[4096];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof(path));
  return size > 0 && size < static_cast<ssize_t>(sizeof(path)) ? std::string(path, size) : std::string();
}

// Effective settings, a field each.
Event ConfigEvent(const eipc::ServerConfig& config) {
  Event event{Event::Level::kInfo, "config", {}};
  for (const auto& setting : config.Settings()) event.fields.emplace_back(setting.name, setting.value);
  return event;
}

int Serve(eipc::ServerConfig* config) {
  const eipc::rpc::EventSink log = eipc::JsonLog(config->log_level);
  config->server.events = log;
  config->server.cage_program = OwnProgram();
  log(ConfigEvent(*config));
  const sigset_t signals = BlockStopSignals();
  auto server = eipc::rpc::GrpcServer::Start(config->server);
  if (!server.ok()) {
    std::fprintf(stderr, "eipc-server: %s\n", std::string(server.status().message()).c_str());
    return 1;
  }
  for (const std::string& problem : (*server)->journal_problems()) {
    log({Event::Level::kError, "not_recovered", {{"problem", problem}}});
  }
  std::printf("eipc-server listening on %s\n", (*server)->address().c_str());
  std::fflush(stdout);
  log({Event::Level::kInfo, "ready", {{"address", (*server)->address()}}});

  int received = 0;
  sigwait(&signals, &received);
  log({Event::Level::kInfo, "draining", {{"signal", std::to_string(received)}, {"grace_s", std::to_string(config->grace_s)}}});
  (*server)->Drain(std::chrono::milliseconds(static_cast<int64_t>(config->grace_s * 1000)));
  log({Event::Level::kInfo, "stopped", {}});
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "--cage-worker") return eipc::rpc::RunCageWorker();
  if (argc == 2 && std::string(argv[1]) == "--prepare-worker") return eipc::rpc::RunPrepareWorker();
  eipc::ServerConfig config;
  if (!config.Parse(argc, argv)) {
    std::fputs(config.message().c_str(), config.exit_status() == 0 ? stdout : stderr);
    return config.exit_status();
  }
  if (config.print_proxy_config) return PrintProxyConfig(config);
  eipc::CapArenas(config.malloc_arenas);
  eipc::TakeShortTurns();
  return Serve(&config);
}
