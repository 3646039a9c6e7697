// eipc-server: hosts embedded-IPC scenes over gRPC.

#include <pthread.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <string>
#include <thread>

#include "server/rpc/grpc_server.h"

namespace {

struct Settings {
  eipc::rpc::GrpcServerOptions server;
  double grace_s = 5;
  std::string log_level = "info";
};

void AddOptions(CLI::App* app, Settings* settings) {
  eipc::rpc::GrpcServerOptions& server = settings->server;
  eipc::ServerLimits& limits = server.limits;
  limits.solve_slots = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  app->add_option("--listen", server.listen, "HOST:PORT of the loopback interface; port 0 picks a free one")->capture_default_str();
  app->add_option("--mesh-root", server.meshes.scene_folder,
                  "Folder that mesh files named in scenes are read from (default: none are read; clients send meshes)");
  app->add_option("--data", server.meshes.data_folder, "Folder of meshes named data:PATH")->envname("EIPC_DATA");
  app->add_option("--max-sessions", limits.max_sessions, "Sessions held at once")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app->add_option("--max-scenes", limits.max_scenes, "Scenes held at once")->check(CLI::Range(1, 100000))->capture_default_str();
  app->add_option("--solve-slots", limits.solve_slots, "Steps and compilations that run at once; others wait in order of arrival")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app->add_option("--max-message-mib", limits.max_message_mib, "Largest message taken from a client, MiB")
      ->check(CLI::Range(1, 2047))
      ->capture_default_str();
  app->add_option("--max-calls", limits.max_calls, "Calls served at once, open streams included")
      ->check(CLI::Range(4, 100000))
      ->capture_default_str();
  app->add_option("--grace", settings->grace_s, "Seconds that running steps may take to finish after SIGTERM")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  app->add_option("--log-level", settings->log_level, "trace, debug, info, warning, error or off")
      ->check(CLI::IsMember({"trace", "debug", "info", "warning", "error", "off"}))
      ->capture_default_str();
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

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("eipc-server: hosts embedded-IPC scenes over gRPC.\nWrites 'eipc-server listening on HOST:PORT' once it is ready.");
  Settings settings;
  AddOptions(&app, &settings);
  CLI11_PARSE(app, argc, argv);

  spdlog::set_default_logger(spdlog::stderr_color_mt("eipc-server"));
  spdlog::set_level(spdlog::level::from_str(settings.log_level));

  const sigset_t signals = BlockStopSignals();
  auto server = eipc::rpc::GrpcServer::Start(settings.server);
  if (!server.ok()) {
    std::fprintf(stderr, "eipc-server: --listen %s\n", std::string(server.status().message()).c_str());
    return 1;
  }
  std::printf("eipc-server listening on %s\n", (*server)->address().c_str());
  std::fflush(stdout);
  spdlog::info("ready: {} solve slots, at most {} sessions", settings.server.limits.solve_slots,
               settings.server.limits.max_sessions);

  int received = 0;
  sigwait(&signals, &received);
  spdlog::info("signal {}: stopping, running steps have {} s", received, settings.grace_s);
  (*server)->Drain(std::chrono::milliseconds(static_cast<int64_t>(settings.grace_s * 1000)));
  spdlog::info("stopped");
  return 0;
}
