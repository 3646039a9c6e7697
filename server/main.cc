// eipc-server: hosts embedded-IPC scenes over gRPC. docs/howto/operations.md has settings, signals and exit statuses.

#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/agones_lifecycle.h"
#include "server/agones_sdk.h"
#include "server/check_config.h"
#include "server/config.h"
#include "server/log.h"
#include "server/os/malloc_tuning.h"
#include "server/os/thread_scheduling.h"
#include "server/rpc/handlers/cage_worker.h"
#include "server/rpc/handlers/prepare_worker.h"
#include "server/rpc/listen/grpc_server.h"
#include "server/rpc/telemetry/line_writer.h"

namespace {

using eipc::Log;
using eipc::ServerConfig;
using eipc::rpc::Event;
using eipc::rpc::GrpcServer;

constexpr int kCannotStart = 1;

int PrintProxyConfig(const ServerConfig& config) {
  const absl::StatusOr<std::string> text = eipc::ProxyConfiguration(config.proxy, config.server);
  if (!text.ok()) {
    std::fprintf(stderr, "eipc-server: %s\n", std::string(text.status().message()).c_str());
    return kCannotStart;
  }
  std::fputs(text->c_str(), stdout);
  return 0;
}

int PrintReport(const eipc::ConfigReport& report) {
  for (const std::string& problem : report.problems) std::fprintf(stderr, "eipc-server: %s\n", problem.c_str());
  for (const std::string& note : report.notes) std::fprintf(stderr, "eipc-server: note: %s\n", note.c_str());
  if (report.problems.empty()) std::puts("eipc-server: the settings are in order");
  return report.problems.empty() ? 0 : kCannotStart;
}

// The command line, to be read again with the file that it names.
struct Arguments {
  int count;
  char** values;
};

sigset_t SignalSet(const std::vector<int>& signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) sigaddset(&set, signal);
  return set;
}

// Nothing that this process makes is for others; as many descriptors as the system lets it have; and signals wait for Run. Before
// the first thread is started: threads inherit which signals they leave alone.
void PrepareProcess() {
  const sigset_t signals = SignalSet({SIGTERM, SIGINT, SIGHUP});
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  umask(077);
  rlimit files = {};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
  }
  std::signal(SIGPIPE, SIG_IGN);
}

// This very program, whatever has happened to its file since.
std::string OwnProgram() {
  char path[4096];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof(path));
  return size > 0 && size < static_cast<ssize_t>(sizeof(path)) ? std::string(path, size) : std::string();
}

// Effective settings, a field each.
Event ConfigEvent(const ServerConfig& config) {
  Event event{Event::Level::kInfo, "config", {}};
  for (const auto& setting : config.Settings()) event.fields.emplace_back(setting.name, setting.value);
  return event;
}

// SIGHUP: the settings that can change while the server runs, and its files. What is wrong changes nothing.
void Reload(const Arguments& arguments, const ServerConfig& started, GrpcServer* server, Log* log) {
  const eipc::rpc::EventSink events = log->Sink();
  ServerConfig fresh;
  if (!fresh.Parse(arguments.count, arguments.values)) {
    events({Event::Level::kError, "reload_failed", {{"problem", fresh.message()}}});
    return;
  }
  log->SetLevel(fresh.log_level);
  if (const absl::Status status = server->Reload(fresh.server.limits.tenant); !status.ok()) {
    events({Event::Level::kError, "reload_failed", {{"problem", std::string(status.message())}}});
  }
  const ServerConfig::Changes changes = fresh.ChangesSince(started);
  events({Event::Level::kInfo,
          "reloaded",
          {{"in_force", absl::StrJoin(changes.reloadable, ", ")}, {"at_next_start", absl::StrJoin(changes.others, ", ")}}});
}

// Serves until SIGTERM or SIGINT, and gives running calls their time then; another one of these ends the process at once.
void Run(const Arguments& arguments, const ServerConfig& config, GrpcServer* server, Log* log) {
  const sigset_t signals = SignalSet({SIGTERM, SIGINT, SIGHUP});
  int received = 0;
  while (sigwait(&signals, &received) != 0 || received == SIGHUP) {
    if (received == SIGHUP) Reload(arguments, config, server, log);
  }
  const sigset_t ending = SignalSet({SIGTERM, SIGINT});
  pthread_sigmask(SIG_UNBLOCK, &ending, nullptr);
  const eipc::rpc::EventSink events = log->Sink();
  events({Event::Level::kInfo, "draining", {{"signal", absl::StrCat(received)}, {"grace_s", absl::StrCat(config.grace_s)}}});
  server->Drain(std::chrono::milliseconds(static_cast<int64_t>(config.grace_s * 1000)));
  events({Event::Level::kInfo, "stopped", {}});
}

// Null without a sidecar.
std::unique_ptr<eipc::AgonesLifecycle> ReportToAgones(const ServerConfig& config, const GrpcServer& server,
                                                      eipc::rpc::EventSink events) {
  if (config.agones_port == 0) return nullptr;
  constexpr std::chrono::milliseconds kAnswerWithin(1000);
  eipc::AgonesLifecycle::Options options;
  options.post = [sdk = std::make_shared<eipc::AgonesSdk>("127.0.0.1", config.agones_port),
                  kAnswerWithin](const std::string& path) { return sdk->Post(path, kAnswerWithin); };
  options.takes_work = [&server] { return server.TakesWork(); };
  options.sessions = [&server] { return server.SessionCount(); };
  options.health_interval = config.agones_health;
  options.events = std::move(events);
  return std::make_unique<eipc::AgonesLifecycle>(std::move(options));
}

int Serve(const Arguments& arguments, ServerConfig* config, Log* log) {
  log->TakeLibraryMessages();
  const eipc::rpc::EventSink events = log->Sink();
  config->server.events = events;
  config->server.gauges = [log]() -> std::map<std::string, double> {
    return {{"eipc_log_lines_lost", static_cast<double>(log->lines_lost())}};
  };
  config->server.cage_program = OwnProgram();
  eipc::rpc::LineWriter output(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0), {});
  config->server.on_viewer = [events, &output](const std::string& url, bool built) {
    output.Push(absl::StrCat("eipc-server viewer at ", url));
    if (!built) output.Push("eipc-server viewer: the page was not built; ./dev viewer builds it (Node.js 18 or later with npm)");
    events({Event::Level::kInfo, "viewer", {{"address", url}, {"built", built ? "true" : "false"}}});
  };
  config->server.on_ready = [events, &output](const std::string& address) {
    output.Push(absl::StrCat("eipc-server listening on ", address));
    events({Event::Level::kInfo, "ready", {{"address", address}}});
  };
  events(ConfigEvent(*config));
  auto server = GrpcServer::Start(config->server);
  if (!server.ok()) {
    log->Say(absl::StrCat("eipc-server: ", server.status().message()));
    return kCannotStart;
  }
  const auto agones = ReportToAgones(*config, **server, events);
  Run(arguments, *config, server->get(), log);
  if (agones != nullptr) agones->Shutdown();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "--cage-worker") return eipc::rpc::RunCageWorker();
  if (argc == 2 && std::string(argv[1]) == "--prepare-worker") return eipc::rpc::RunPrepareWorker();
  ServerConfig config;
  if (!config.Parse(argc, argv)) {
    std::fputs(config.message().c_str(), config.exit_status() == 0 ? stdout : stderr);
    return config.exit_status();
  }
  if (config.check_only) return PrintReport(eipc::CheckConfig(config));
  if (config.print_proxy_config) return PrintProxyConfig(config);
  PrepareProcess();
  eipc::CapArenas(config.malloc_arenas);
  eipc::UseShortTimeSlices();
  // Never destroyed: threads of libraries write to it until the process ends.
  Log* const log = new Log(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0), config.log_level);
  const int status = Serve({argc, argv}, &config, log);
  log->Flush();
  return status;
}
