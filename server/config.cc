#include "server/config.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <sstream>
#include <string>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace eipc {
namespace {

constexpr int kNotUnderstood = 2;
constexpr int64_t kMiB = int64_t{1} << 20;
// Beyond this, sums of sizes might overflow.
constexpr double kMaxMib = 1 << 30;
constexpr char kMib[] = "MIB";

// "--max-sessions" -> EIPC_SERVER_MAX_SESSIONS.
void NameInEnvironment(CLI::Option* option) {
  std::string name = "EIPC_SERVER_" + option->get_name().substr(2);
  std::replace(name.begin(), name.end(), '-', '_');
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::toupper(c); });
  option->envname(name);
}

// Bounds do not hold "nan", which is neither above nor below them.
void RefuseNumbersThatAreNotFinite(CLI::Option* option) {
  const std::string type = option->get_type_name();
  if (type.rfind("FLOAT", 0) != 0 && type.rfind(kMib, 0) != 0) return;
  option->check(CLI::Validator(
      [](const std::string& text) -> std::string {
        double value = 0;
        return CLI::detail::lexical_cast(text, value) && !std::isfinite(value) ? text + " is not a finite number" : "";
      },
      ""));
}

std::string Text(double value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

// What the command line says of a setting that is given in a unit of its own.
struct Scaled {
  const char* name;
  std::string help;
  double least, most;  // in that unit
};

// `value` is kept as `unit` times what is given.
template <typename Kept>
CLI::Option* AddScaled(CLI::App* app, Kept* value, double unit, const Scaled& setting) {
  return app
      ->add_option_function<double>(
          setting.name, [value, unit](const double& given) { *value = static_cast<Kept>(given * unit); }, setting.help)
      ->check(CLI::Range(setting.least, setting.most))
      ->default_str(Text(static_cast<double>(*value) / unit));
}

CLI::Option* AddMib(CLI::App* app, const std::string& name, int64_t* bytes, const std::string& help) {
  return AddScaled(app, bytes, kMiB, {name.c_str(), help, 0, kMaxMib})->type_name(kMib);
}

// `unit` is 1 s or 1 ms.
CLI::Option* AddTime(CLI::App* app, std::chrono::milliseconds* value, std::chrono::milliseconds unit, const Scaled& setting) {
  const auto scale = static_cast<double>(unit.count());
  return app
      ->add_option_function<double>(
          setting.name,
          [value, scale](const double& given) { *value = std::chrono::milliseconds(static_cast<int64_t>(given * scale)); },
          setting.help)
      ->check(CLI::Range(setting.least, setting.most))
      ->default_str(Text(static_cast<double>(value->count()) / scale));
}

constexpr std::chrono::milliseconds kMillisecond(1);
constexpr std::chrono::milliseconds kSecond(1000);

// Changed, missing and additional characters between two words (Levenshtein).
size_t EditDistance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, changed});
    }
  }
  return row[b.size()];
}

std::vector<const CLI::Option*> OptionsOf(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) { return option->get_name() != "--help"; });
}

}  // namespace

std::string NearestName(const std::string& name, const std::vector<std::string>& known) {
  std::string nearest;
  size_t least = std::max<size_t>(2, name.size() / 3) + 1;
  for (const std::string& candidate : known) {
    const size_t distance = EditDistance(name, candidate);
    if (distance < least) {
      least = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

CLI::Option* ServerConfig::Reloadable(CLI::Option* option) {
  reloadable_.push_back(option->get_name());
  return option->description(option->get_description() + " [read again on SIGHUP]");
}

void ServerConfig::AddServing() {
  CLI::App* const app = app_.get();
  app->add_option("--listen", server.listen,
                  "HOST:PORT (port 0 picks a free one) or unix:PATH, the socket of a proxy in a folder of mode 0700");
  app->add_option("--access-file", server.access_file,
                  "Who may call: lines `token SHA256 TENANT ROLE` and `cert NAME TENANT ROLE`; SIGHUP reads the file again");
  app->add_option("--metrics", server.metrics, "HOST:PORT of http://HOST:PORT/metrics for Prometheus (default: none)");
  app->add_flag("--metrics-anywhere", server.metrics_anywhere, "Serve --metrics off loopback too, without credentials");
  app->add_flag(
      "--viewer{127.0.0.1:50080}", server.viewer,
      "HOST:PORT of the page that shows and drives sessions, on the loopback interface (default: none; without an address "
      "127.0.0.1:50080)");
  app->add_option("--viewer-page", server.viewer_page, "Folder of the built page (default: where ./dev viewer leaves it)");
  app->add_option("--viewer-origin", server.viewer_origins, "https://HOST[:PORT] of a proxy in front of the page; may be repeated");
  app->add_flag("--tenant-metrics", server.tenant_metrics,
                "Count calls, steps, sessions and refusals by tenant, too: the first 64, and the others together");
  app->add_option(
      "--audit-file", server.audit_file,
      "File that a line of JSON is appended to whenever somebody creates, changes or deletes something (default: none)");
  app->add_option("--trace-file", server.trace_file,
                  "File that a span a request of steps is appended to, as OpenTelemetry's JSON lines (default: none)");
  app->add_flag_function(
      "--no-reflection", [this](int64_t count) { server.reflection = count <= 0; }, "Do not answer server reflection");
  app->add_flag_function(
      "--closed-health", [this](int64_t count) { server.open_health = count <= 0; }, "Health checks need credentials too");
  app->add_option("--mesh-root", server.meshes.scene_folder,
                  "Folder that mesh files named in scenes are read from (default: none are read; clients send meshes)");
  app->add_option("--data", server.meshes.data_folder, "Folder of meshes named data:PATH (also EIPC_DATA)");
  app->add_option("--grace", grace_s, "Seconds that running steps may take to finish after SIGTERM")
      ->check(CLI::Range(0.0, 3600.0));
  Reloadable(app->add_option("--log-level", log_level, "trace, debug (every call), info (failed calls), warning, error or off")
                 ->check(CLI::IsMember({"trace", "debug", "info", "warning", "error", "off"})));
}

void ServerConfig::AddSurvival() {
  CLI::App* const app = app_.get();
  app->add_option("--state-dir", server.journal.folder,
                  "Folder of the journal: scenes and sessions in it come back after a restart (default: nothing survives)");
  AddTime(
      app, &server.journal.sync_interval, kMillisecond,
      {"--journal-sync-ms",
       "An acknowledged step is on the disk after at most this time, ms (it survives the end of the process at once)", 1, 60000});
  app->add_option("--journal-checkpoint-bytes", server.journal.checkpoint_bytes,
                  "A session's journal begins anew with a snapshot when it has grown by this")
      ->check(CLI::Range(int64_t{1} << 10, int64_t{1} << 40));
  AddTime(app, &server.journal.checkpoint_replay, kMillisecond,
          {"--journal-replay-ms",
           "The same when taking its steps again would take this time, ms: after a restart a session is back in about this time", 1,
           3600000});
}

void ServerConfig::AddLimits() {
  CLI::App* const app = app_.get();
  ServerLimits& limits = server.limits;
  const auto count = CLI::Range(1, 100000);
  app->add_option("--max-sessions", limits.max_sessions, "Sessions held at once")->check(count);
  app->add_option("--max-scenes", limits.max_scenes, "Scenes held at once")->check(count);
  app->add_option("--max-worlds", limits.max_worlds_per_session, "Worlds of one session")->check(count);
  app->add_option("--max-snapshots", limits.max_snapshots, "Snapshots held at once")->check(count);
  app->add_option("--max-operations", limits.max_operations, "Operations held at once, done ones included")->check(count);
  app->add_option("--solve-slots", limits.solve_slots, "Steps that run at once; others wait")->check(CLI::Range(1, 1024));
  app->add_option("--job-slots", limits.job_slots,
                  "Mesh preparations and scenes with cages to be made that run at once, and as many compilations beside them")
      ->check(CLI::Range(1, 1024));
  app->add_option("--max-waiting", limits.max_waiting_solves,
                  "Steps that may wait for a slot; more are refused. As many as slots bounds the wait to about one step")
      ->check(CLI::Range(0, 100000));
  app->add_option("--refusal-pause-ms", limits.refusal_pause_ms,
                  "Refusals are sent no sooner than this many ms after the client's last answer")
      ->check(CLI::Range(0.0, 100.0));
  app->add_option("--max-calls", limits.max_calls, "Calls handled at once, a thread each; open streams hold none")
      ->check(CLI::Range(4, 100000));
  app->add_option("--max-calls-per-tenant", limits.max_calls_per_tenant,
                  "The same of one tenant, with --access-file; 0: half of them")
      ->check(CLI::Range(0, 100000));
  app->add_option("--max-streams", limits.max_streams,
                  "Open streams and calls that wait for an operation; with --access-file a tenant may have half of them")
      ->check(CLI::Range(4, 1000000));
  app->add_option("--idle-timeout", limits.idle_timeout_s, "Seconds after which a session that nobody uses is deleted; 0: never")
      ->check(CLI::Range(0.0, 1e9));
}

void ServerConfig::AddSizes() {
  CLI::App* const app = app_.get();
  ServerLimits& limits = server.limits;
  app->add_option("--max-message-mib", limits.max_message_mib, "Largest message taken from a client, MiB")
      ->check(CLI::Range(1, 2047));
  AddMib(app, "--memory-mib", &limits.memory_bytes,
         "What sessions and uploads may use in all by the server's estimate, MiB; 0: no bound");
  AddMib(app, "--session-memory-mib", &limits.session_memory_bytes, "The same for one session");
  AddMib(app, "--child-memory-mib", &limits.child_memory_bytes,
         "What a child process that makes a cage or prepares a mesh may take, MiB (no more than --memory-mib); 0: no bound");
  AddMib(app, "--snapshot-mib", &limits.max_snapshot_bytes, "All snapshots together, MiB");
  AddMib(app, "--recording-mib", &limits.max_recordings_bytes, "All recordings together, MiB");
  AddMib(app, "--upload-mib", &limits.max_upload_bytes, "All uploaded meshes together, MiB");
  app->add_option("--malloc-arenas", malloc_arenas,
                  "Heaps of the allocator that threads share; 0: as many as glibc likes, eight a core")
      ->check(CLI::Range(0, 10000));
  AddTime(app, &server.trim_interval, kSecond,
          {"--trim-interval", "Seconds after which free memory goes back to the system; 0: never", 0, 86400});
}

// 0, the default of each: a fair part of what the server holds.
void ServerConfig::AddTenants() {
  CLI::App* const app = app_.get();
  ResourceAmounts& tenant = server.limits.tenant;
  const auto amount = [&tenant](Resource resource) { return &tenant[static_cast<size_t>(resource)]; };
  const auto add = [&](const std::string& name, Resource resource, const std::string& what) {
    Reloadable(
        app->add_option(name, *amount(resource), absl::StrCat(what, " that one tenant may hold; 0: a fair part of the whole"))
            ->check(CLI::Range(0, 100000)));
  };
  const auto add_mib = [&](const std::string& name, Resource resource, const std::string& what) {
    Reloadable(
        AddMib(app, name, amount(resource), absl::StrCat(what, " that one tenant may hold, MiB; 0: a fair part of the whole")));
  };
  add("--tenant-sessions", Resource::kSessions, "Sessions");
  add("--tenant-scenes", Resource::kScenes, "Scenes");
  add("--tenant-snapshots", Resource::kSnapshots, "Snapshots");
  add("--tenant-operations", Resource::kOperations, "Operations");
  add("--tenant-jobs", Resource::kJobs, "Job slots");
  add_mib("--tenant-memory-mib", Resource::kMemoryBytes, "Memory of sessions, scenes and all that is kept beside them");
  add_mib("--tenant-snapshot-mib", Resource::kSnapshotBytes, "Snapshots");
  add_mib("--tenant-upload-mib", Resource::kUploadBytes, "Uploaded meshes");
  add_mib("--tenant-recording-mib", Resource::kRecordingBytes, "Recordings");
}

void ServerConfig::AddConnections() {
  CLI::App* const app = app_.get();
  AddTime(app, &server.message_timeout, kSecond,
          {"--message-timeout", "Seconds that a client may take to send the message of its call, or of an upload the next piece",
           0.1, 86400});
  AddTime(app, &server.write_timeout, kSecond, {"--write-timeout", "Seconds that a client may leave an answer unread", 0.1, 86400});
}

void ServerConfig::AddProxy() {
  CLI::App* const app = app_.get();
  const auto bound = CLI::Range(1, 1000000);
  app->add_flag("--proxy-config", print_proxy_config, "Print the configuration of HAProxy for these settings, and do nothing else");
  app->add_option("--proxy-listen", proxy.listen, "HOST:PORT of the proxy, which clients connect to; off loopback with TLS");
  app->add_option("--proxy-cert", proxy.certificate,
                  "Certificate chain and key of the proxy, PEM; or the chain alone, NAME.crt, with the key beside it, NAME.key");
  app->add_option("--proxy-client-ca", proxy.client_ca, "Authorities that client certificates are checked against, PEM");
  app->add_option("--proxy-health", proxy.health, "HOST:PORT of /healthz, /livez and /metrics over HTTP/1 (default: none)");
  app->add_option("--proxy-message-filter", proxy.message_filter,
                  "Path of eipc-server-messages.lua, which HAProxy loads (default: beside this program)");
  app->add_option("--proxy-max-connections", proxy.max_connections, "Connections of clients at once")->check(bound);
  app->add_option("--proxy-max-connections-per-address", proxy.max_connections_per_address, "The same from one address")
      ->check(bound);
  app->add_option("--proxy-connection-rate", proxy.connections_per_second, "New connections a second from one address")
      ->check(bound);
  app->add_option("--proxy-call-rate", proxy.calls_per_second, "Calls a second from one address; more are refused")->check(bound);
  app->add_option("--proxy-unanswered-rate", proxy.unanswered_calls_per_second,
                  "Calls a second that one address may begin and reset before it is cut off for 5 s")
      ->check(bound);
  app->add_option("--proxy-max-calls-per-address", proxy.max_calls_per_address, "Calls of one address that the proxy holds at once")
      ->check(bound);
  AddTime(app, &proxy.handshake_timeout, kSecond,
          {"--proxy-handshake-timeout", "Seconds until a connection must have sent a request", 0.1, 3600});
  AddTime(app, &proxy.idle_timeout, kSecond,
          {"--proxy-idle-timeout", "Seconds after which a call is ended on which the server has sent nothing", 1, 86400 * 30});
}

void ServerConfig::AddAgones() {
  CLI::App* const app = app_.get();
  app->add_option(
         "--agones-port", agones_port,
         "Port of the Agones sidecar (HTTP) to which Ready, Health, Allocate and Shutdown are sent; default: AGONES_SDK_HTTP_PORT, "
         "else none (0)")
      ->check(CLI::Range(0, 65535));
  AddTime(app, &agones_health, kSecond, {"--agones-health", "Seconds between two Health calls to Agones", 0.05, 3600});
}

ServerConfig::ServerConfig()
    : app_(std::make_unique<CLI::App>(
          "eipc-server: hosts embedded-IPC scenes over gRPC.\nWrites 'eipc-server listening on HOST:PORT' once it is ready.")) {
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  server.limits.solve_slots = cores;
  server.limits.job_slots = std::max(1, cores / 2);
  malloc_arenas = 2 * cores;
  app_->option_defaults()->always_capture_default();
  AddServing();
  AddSurvival();
  AddLimits();
  AddSizes();
  AddTenants();
  AddConnections();
  AddProxy();
  AddAgones();
  for (CLI::Option* option : app_->get_options([](const CLI::Option* o) { return o->get_name() != "--help"; })) {
    NameInEnvironment(option);
    RefuseNumbersThatAreNotFinite(option);
  }
  app_->add_flag("--check-config", check_only,
                 "Say what is wrong with the settings and with the files that they name, and do nothing else");
  app_->set_config("--config", "",
                   "File of settings, a line `name = value` each (flags go before it, it goes before the environment)");
  app_->allow_config_extras(CLI::config_extras_mode::error);
}

ServerConfig::~ServerConfig() = default;

bool ServerConfig::Parse(int argc, const char* const* argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    message_ = app_->help();
    exit_status_ = 0;
    return false;
  } catch (const CLI::ParseError& error) {
    const std::string unknown = UnknownSettings();
    message_ =
        "eipc-server: " + (unknown.empty() ? error.what() + std::string("; eipc-server --help lists the settings\n") : unknown);
    exit_status_ = kNotUnderstood;
    return false;
  }
  if (server.meshes.data_folder.empty() && std::getenv("EIPC_DATA") != nullptr)
    server.meshes.data_folder = std::getenv("EIPC_DATA");
  const char* const sidecar = std::getenv("AGONES_SDK_HTTP_PORT");
  int port = 0;
  if (agones_port == 0 && sidecar != nullptr && absl::SimpleAtoi(sidecar, &port) && port > 0 && port <= 65535) agones_port = port;
  return true;
}

// A line for each flag, and each name in the file, that is none of ours; empty when the trouble is another one.
std::string ServerConfig::UnknownSettings() const {
  std::vector<std::string> known;
  for (const CLI::Option* option : OptionsOf(*app_)) known.push_back(option->get_name().substr(2));
  std::string lines;
  const auto say = [&](const std::string& where, const std::string& name) {
    const std::string nearest = NearestName(name, known);
    lines += where + "there is no setting '" + name + "'";
    lines += nearest.empty() ? "; eipc-server --help lists them\n" : "; did you mean '" + nearest + "'?\n";
  };
  for (const std::string& word : app_->remaining()) {
    if (word.rfind("--", 0) == 0) say("", word.substr(2, word.find('=') - 2));
  }
  const CLI::Option* const config = app_->get_config_ptr();
  if (config->count() == 0) return lines;
  try {
    const std::string file = config->as<std::string>();
    for (const CLI::ConfigItem& item : app_->get_config_formatter()->from_file(file)) {
      if (std::find(known.begin(), known.end(), item.fullname()) == known.end()) say(file + ": ", item.fullname());
    }
  } catch (const CLI::Error&) {
    // The file cannot be read; the error at hand says so.
  }
  return lines;
}

std::vector<ServerConfig::Setting> ServerConfig::Settings() const {
  std::vector<Setting> settings;
  for (const CLI::Option* option : OptionsOf(*app_)) {
    const bool flag = option->get_expected_min() == 0;
    std::string value = option->count() > 0 ? CLI::detail::join(option->results(), " ") : option->get_default_str();
    if (flag && value.empty()) value = "false";
    const std::string& name = option->get_name();
    const bool reloadable = std::find(reloadable_.begin(), reloadable_.end(), name) != reloadable_.end();
    settings.push_back({name.substr(2), value, reloadable, option->count() > 0});
  }
  return settings;
}

ServerConfig::Changes ServerConfig::ChangesSince(const ServerConfig& before) const {
  Changes changes;
  const std::vector<Setting> old = before.Settings();
  const std::vector<Setting> now = Settings();
  for (size_t i = 0; i < now.size(); ++i) {
    if (now[i].value != old[i].value) (now[i].reloadable ? changes.reloadable : changes.others).push_back(now[i].name);
  }
  return changes;
}

}  // namespace eipc
