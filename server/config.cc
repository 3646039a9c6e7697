#include "server/config.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

namespace eipc {
namespace {

// "--max-sessions" -> EIPC_SERVER_MAX_SESSIONS.
void NameInEnvironment(CLI::Option* option) {
  std::string name = "EIPC_SERVER_" + option->get_name().substr(2);
  std::replace(name.begin(), name.end(), '-', '_');
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::toupper(c); });
  option->envname(name);
}

void AddServing(CLI::App* app, ServerConfig* config) {
  rpc::GrpcServerOptions& server = config->server;
  app->add_option("--listen", server.listen, "HOST:PORT; port 0 picks a free one. Off loopback TLS and known callers are required");
  app->add_option("--tls-cert", server.tls.certificate, "Certificate chain of the server, PEM");
  app->add_option("--tls-key", server.tls.key, "Its private key, PEM");
  app->add_option("--tls-client-ca", server.tls.client_ca, "Authorities that client certificates are checked against, PEM");
  app->add_option("--access-file", server.access_file,
                  "Who may call: lines `token SHA256 TENANT ROLE` and `cert NAME TENANT ROLE`");
  app->add_option("--metrics", server.metrics, "HOST:PORT of http://HOST:PORT/metrics for Prometheus (default: none)");
  app->add_option("--trace-file", server.trace_file,
                  "File that a span a request of steps is appended to, as OpenTelemetry's JSON lines (default: none)");
  app->add_flag("--no-reflection", config->no_reflection, "Do not answer server reflection");
  app->add_option("--mesh-root", server.meshes.scene_folder,
                  "Folder that mesh files named in scenes are read from (default: none are read; clients send meshes)");
  app->add_option("--data", server.meshes.data_folder, "Folder of meshes named data:PATH (also EIPC_DATA)");
  app->add_option("--grace", config->grace_s, "Seconds that running steps may take to finish after SIGTERM")
      ->check(CLI::Range(0.0, 3600.0));
  app->add_option("--log-level", config->log_level, "trace, debug (every call), info (failed calls), warning, error or off")
      ->check(CLI::IsMember({"trace", "debug", "info", "warning", "error", "off"}));
}

void AddSurvival(CLI::App* app, ServerConfig* config) {
  app->add_option("--state-dir", config->server.journal.folder,
                  "Folder of the journal: scenes and sessions in it come back after a restart (default: nothing survives)");
  app->add_option("--journal-sync-ms", config->journal_sync_ms,
                  "An acknowledged step is on the disk after at most so many ms (it survives the end of the process at once)")
      ->check(CLI::Range(1.0, 60000.0));
  app->add_option("--journal-checkpoint-bytes", config->server.journal.checkpoint_bytes,
                  "A session's journal begins anew with a snapshot when it has grown by this")
      ->check(CLI::Range(int64_t{1} << 10, int64_t{1} << 40));
}

void AddLimits(CLI::App* app, ServerConfig* config) {
  ServerLimits& limits = config->server.limits;
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  limits.solve_slots = cores;
  config->malloc_arenas = 2 * cores;
  const auto count = CLI::Range(1, 100000);
  app->add_option("--max-sessions", limits.max_sessions, "Sessions held at once")->check(count);
  app->add_option("--max-scenes", limits.max_scenes, "Scenes held at once")->check(count);
  app->add_option("--max-worlds", limits.max_worlds_per_session, "Worlds of one session")->check(count);
  app->add_option("--max-snapshots", limits.max_snapshots, "Snapshots held at once")->check(count);
  app->add_option("--max-operations", limits.max_operations, "Operations held at once, done ones included")->check(count);
  app->add_option("--solve-slots", limits.solve_slots, "Steps and compilations that run at once; others wait")
      ->check(CLI::Range(1, 1024));
  app->add_option("--max-waiting", limits.max_waiting_solves,
                  "Steps that may wait for a slot; more are refused. As many as slots bounds the wait to about one step")
      ->check(CLI::Range(0, 100000));
  app->add_option(
         "--refusal-pause-ms", limits.refusal_pause_ms,
         "A client is told no sooner than so many ms after its last answer that it is refused: those without pause take little")
      ->check(CLI::Range(0.0, 100.0));
  app->add_option("--max-message-mib", limits.max_message_mib, "Largest message taken from a client, MiB")
      ->check(CLI::Range(1, 2047));
  app->add_option("--max-calls", limits.max_calls, "Calls served at once, open streams included")->check(CLI::Range(4, 100000));
  app->add_option("--memory-mib", config->memory_mib,
                  "What sessions and uploads may use in all by the server's estimate, MiB; 0: no bound");
  app->add_option("--session-memory-mib", config->session_memory_mib, "The same for one session");
  app->add_option("--malloc-arenas", config->malloc_arenas,
                  "Heaps of the allocator that threads share; 0: as many as glibc likes, eight a core")
      ->check(CLI::Range(0, 10000));
  app->add_option("--trim-interval", config->trim_interval_s, "Seconds after which free memory goes back to the system; 0: never")
      ->check(CLI::Range(0.0, 86400.0));
  app->add_option("--snapshot-mib", config->snapshot_mib, "All snapshots together, MiB")->check(count);
  app->add_option("--upload-mib", config->upload_mib, "All uploaded meshes together, MiB")->check(count);
  app->add_option("--idle-timeout", limits.idle_timeout_s, "Seconds after which a session that nobody uses is deleted; 0: never");
  app->add_option("--max-connections", config->server.connections.max_connections,
                  "Connections at once (default 0: 1024, or what the limit of descriptors allows if that is less)");
  app->add_option("--max-connections-per-peer", config->server.connections.max_per_peer, "The same from one address; 0: no bound");
  app->add_option("--max-unanswered-streams", config->server.connections.max_unanswered_streams,
                  "Streams a second that one address may begin and reset before its connections are ended; 0: no bound")
      ->check(CLI::Range(0, 1000000));
  app->add_option("--handshake-timeout", config->handshake_timeout_s, "Seconds until a connection must have spoken HTTP/2 or TLS")
      ->check(CLI::Range(0.1, 3600.0));
  app->add_option("--write-timeout", config->write_timeout_s, "Seconds that a client may leave a response on a stream unread")
      ->check(CLI::Range(0.1, 86400.0));
}

}  // namespace

void AddOptions(CLI::App* app, ServerConfig* config) {
  app->option_defaults()->always_capture_default();
  AddServing(app, config);
  AddSurvival(app, config);
  AddLimits(app, config);
  for (CLI::Option* option : app->get_options([](const CLI::Option* o) { return o->get_name() != "--help"; })) {
    NameInEnvironment(option);
  }
  app->set_config("--config", "",
                  "File of settings, a line `name = value` each (flags go before it, it goes before the environment)");
}

void Resolve(ServerConfig* config) {
  const auto seconds = [](double s) { return std::chrono::milliseconds(static_cast<int64_t>(s * 1000)); };
  rpc::GrpcServerOptions& server = config->server;
  server.journal.sync_interval = std::chrono::milliseconds(std::max<int64_t>(1, static_cast<int64_t>(config->journal_sync_ms)));
  server.connections.handshake_timeout = seconds(config->handshake_timeout_s);
  server.trim_interval = seconds(config->trim_interval_s);
  server.write_timeout = seconds(config->write_timeout_s);
  server.limits.memory_bytes = config->memory_mib << 20;
  server.limits.session_memory_bytes = config->session_memory_mib << 20;
  server.limits.max_snapshot_bytes = config->snapshot_mib << 20;
  server.limits.max_upload_bytes = config->upload_mib << 20;
  server.reflection = !config->no_reflection;
}

}  // namespace eipc
