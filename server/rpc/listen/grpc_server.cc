#include "server/rpc/listen/grpc_server.h"

#include <grpc/grpc.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <algorithm>
#include <map>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/os/files.h"
#include "server/os/malloc_tuning.h"
#include "server/rpc/handlers/services.h"
#include "server/rpc/listen/accept_guard.h"
#include "server/rpc/listen/call_host.h"
#include "server/rpc/listen/call_service.h"
#include "server/rpc/listen/check_addresses.h"
#include "server/rpc/listen/housekeeper.h"
#include "server/rpc/listen/listen_address.h"
#include "server/rpc/listen/poll_waker.h"
#include "server/rpc/listen/viewer.h"
#include "server/rpc/telemetry/metrics.h"
#include "sim/base/status_macros.h"

namespace eipc::rpc {
namespace {

// What health checks call the service; "" stands for the server as a whole.
constexpr char kServiceName[] = "eipc.v1.SimulationService";
constexpr char kLiveness[] = "liveness";
constexpr std::chrono::milliseconds kCallCheckInterval(100);
constexpr int kMostStreamsPerConnection = 128;
constexpr int kMaxMetadataBytes = 16 << 10;
constexpr int kMostBytesAhead = 64 << 10;
// Of messages that arrive, where memory has no bound of its own; and what connections need beside them.
constexpr int64_t kMessageBytes = int64_t{1} << 30;
constexpr int64_t kTransportBytes = int64_t{64} << 20;
constexpr int kKeepaliveMs = 60'000;
constexpr int kKeepaliveTimeoutMs = 20'000;
constexpr int kLeastPingIntervalMs = 10'000;
constexpr int kPingStrikes = 2;

// Of messages that arrive.
int64_t MessageBytes(const ServerLimits& limits) { return limits.memory_bytes > 0 ? limits.memory_bytes / 2 : kMessageBytes; }

void SetUp(grpc::ServerBuilder* builder, const GrpcServerOptions& options) {
  const ServerLimits& limits = options.limits;
  builder->SetMaxReceiveMessageSize(limits.max_message_mib << 20);
  builder->SetMaxSendMessageSize(-1);
  // Compressed messages are refused: what they would be is not known before they are inflated.
  builder->SetDefaultCompressionAlgorithm(GRPC_COMPRESS_NONE);
  builder->AddChannelArgument(GRPC_COMPRESSION_CHANNEL_ENABLED_ALGORITHMS_BITSET, 1 << GRPC_COMPRESS_NONE);
  builder->AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
  // What is buffered of a message before it is read stays small.
  builder->AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  builder->AddChannelArgument(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, kMostBytesAhead);
  // Two servers on one port would share its calls.
  builder->AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  // What one client may ask of a connection: streams at once, headers, pings; and how long a dead one is kept.
  builder->AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMostStreamsPerConnection);
  builder->AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, kMaxMetadataBytes);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder->AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, kLeastPingIntervalMs);
  builder->AddChannelArgument(GRPC_ARG_HTTP2_MAX_PING_STRIKES, kPingStrikes);
  // The server ends calls at their deadline by itself (CallContext::budget). Where gRPC 1.51 does so at the same moment as the call
  // is finished, it sends the end of the stream twice: a connection error, at which the proxy ends all calls of the connection.
  builder->AddChannelArgument(GRPC_ARG_ENABLE_DEADLINE_CHECKS, 0);
  // What gRPC has read of a flood it works off, whether the connection is still there or not.
  builder->AddChannelArgument(GRPC_ARG_TCP_MAX_READ_CHUNK_SIZE, kMostBytesAhead);
  // gRPC assembles a message before it checks its size. Beyond this it ends calls to get memory
  // back: soon enough where senders are slow.
  grpc::ResourceQuota quota("eipc-server");
  quota.Resize(static_cast<size_t>(MessageBytes(limits) + kTransportBytes));
  builder->SetResourceQuota(quota);
}

// For good: with the last that uses gRPC, gRPC would end too, and wait up to 10 s for a poller that a long write has begun.
void KeepGrpc() {
  static const bool stays = (grpc_init(), true);
  (void)stays;
}

CallHost::Options HostOptions(const GrpcServerOptions& options) {
  const ServerLimits& limits = options.limits;
  const bool tenants = !options.access_file.empty();
  CallHost::Options host;
  host.max_calls = limits.max_calls;
  host.max_calls_per_tenant = !tenants                          ? limits.max_calls
                              : limits.max_calls_per_tenant > 0 ? limits.max_calls_per_tenant
                                                                : std::max(1, limits.max_calls / 2);
  host.max_streams = limits.max_streams;
  host.max_streams_per_tenant = tenants ? std::max(1, limits.max_streams / 2) : limits.max_streams;
  host.max_message_bytes = int64_t{limits.max_message_mib} << 20;
  host.message_room_bytes = MessageBytes(limits);
  host.message_timeout = options.message_timeout;
  host.write_timeout = options.write_timeout;
  host.open_health = options.open_health;
  host.reflection = options.reflection;
  host.events = options.events;
  return host;
}

}  // namespace

struct GrpcServer::Impl {
  explicit Impl(const GrpcServerOptions& o)
      : options(o),
        services(o.limits, MeshResolver(o.meshes)),
        trim(o.trim_interval, std::chrono::steady_clock::now()),
        calls(&services, HostOptions(o)),
        service(&calls) {}

  void Say(Event::Level level, const std::string& name, std::vector<std::pair<std::string, std::string>> fields) const {
    if (options.events) options.events({level, name, std::move(fields)});
  }
  void Audit(const AuditEntry& entry) const {
    if (audit != nullptr) audit->Write(entry);
  }
  std::map<std::string, double> Gauges() const;
  std::map<std::string, double> SessionsByTenant() const;
  void AddSurvival(std::map<std::string, double>* values) const;
  void KeepHouse();
  void EndSlowCalls();
  void SetReady(bool ready);
  // Takes no connection any more, and ends those that there are once no call is open, at the latest after `grace`.
  void EndConnections(std::chrono::milliseconds grace);
  // Gives each tenant that may call its share, `tenant` of it where that is set.
  void ShareOut(const ResourceAmounts& tenant) {
    ServerLimits limits = services.limits;
    limits.tenant = tenant;
    services.SetQuotas(TenantShares(limits, access->Get()->tenant_count()));
  }
  // Health checks answer whether the server takes work.
  bool TakesWork() const { return !calls.open.draining() && services.CheckRecovered().ok(); }
  void UpdateReadiness() { SetReady(TakesWork()); }
  void TakeWork();
  absl::Status Listen(const ListenAddress& listen);

  const GrpcServerOptions options;
  Metrics metrics;
  std::unique_ptr<SpanLog> spans;        // may be null
  std::unique_ptr<AuditLog> audit;       // may be null
  std::shared_ptr<AccessSource> access;  // null: everyone may call
  Services services;
  TrimSchedule trim;  // the housekeeper's alone
  CallHost calls;
  CallService service;
  std::unique_ptr<Viewer> viewer;  // may be null
  std::string address = "in-process";
  std::unique_ptr<grpc::Server> server;
  std::unique_ptr<Housekeeper> housekeeper;
  PollWaker waker;
  std::unique_ptr<Housekeeper> call_keeper;
  std::unique_ptr<Housekeeper> poll_keeper;
};

std::map<std::string, double> GrpcServer::Impl::Gauges() const {
  const HeapUse heap = MeasureHeap();
  std::map<std::string, double> values = {
      {"eipc_sessions", services.sessions.size()},
      {"eipc_scenes", services.scenes.size()},
      {"eipc_snapshots", services.snapshots.size()},
      {"eipc_operations_running", services.operations.running()},
      {"eipc_solve_slots_busy", services.slots.busy()},
      {"eipc_solve_queue_depth", services.slots.waiting()},
      {"eipc_job_slots_busy", services.jobs.busy()},
      {"eipc_job_queue_depth", services.jobs.waiting()},
      {"eipc_connections_without_descriptor", static_cast<double>(ConnectionsWithoutDescriptor())},
      {"eipc_calls_open", calls.open.size()},
      {"eipc_calls_served", calls.calls_gate.inside()},
      {"eipc_calls_waiting", calls.calls_gate.waiting()},
      {"eipc_streams_open", calls.streams_gate.inside()},
      {"eipc_call_threads", calls.threads.size()},
      {"eipc_memory_reserved_bytes", static_cast<double>(services.memory.used())},
      {"eipc_heap_in_use_bytes", static_cast<double>(heap.in_use)},
      {"eipc_heap_held_bytes", static_cast<double>(heap.held)},
      {"process_resident_memory_bytes", static_cast<double>(ResidentBytes())},
      {"eipc_draining", calls.open.draining() ? 1 : 0},
  };
  if (spans != nullptr) {
    const SpanLog::Counts counts = spans->counts();
    values["eipc_trace_spans_written"] = static_cast<double>(counts.written);
    values["eipc_trace_spans_dropped"] = static_cast<double>(counts.dropped + counts.lost);
  }
  if (audit != nullptr) values["eipc_audit_entries_lost"] = static_cast<double>(audit->counts().lost);
  if (options.gauges) values.merge(options.gauges());
  Viewer::AddGauges(viewer.get(), services.feeds, &values);
  AddSurvival(&values);
  return values;
}

std::map<std::string, double> GrpcServer::Impl::SessionsByTenant() const {
  std::map<std::string, double> sessions;
  for (const SessionRegistry::Entry& entry : services.sessions.All()) sessions[entry.owner] += 1;
  return sessions;
}

void GrpcServer::Impl::AddSurvival(std::map<std::string, double>* values) const {
  (*values)["eipc_journal_failures"] = 0;
  if (services.journal == nullptr) return;
  const Recovery::Progress progress = services.recovery->progress();
  (*values)["eipc_journal_failures"] = static_cast<double>(services.journal->failures());
  (*values)["eipc_journal_failed_sessions"] = services.journal->failed_sessions();
  (*values)["eipc_journal_lost_scene_files"] = static_cast<double>(services.journal->lost_scene_files());
  (*values)["eipc_sessions_recovered"] = progress.recovered;
  (*values)["eipc_sessions_to_recover"] = progress.found - progress.recovered - progress.left_alone;
  (*values)["eipc_sessions_left_alone"] = progress.left_alone;
}

// Ends calls whose client neither sends nor takes.
void GrpcServer::Impl::EndSlowCalls() {
  const auto now = std::chrono::steady_clock::now();
  calls.room.Expire(now);
  if (const int ended = calls.open.InterruptExpired(now); ended > 0) {
    Say(Event::Level::kWarning, "slow_clients_ended", {{"count", absl::StrCat(ended)}});
  }
}

// Ends idle sessions; returns free memory to the system.
void GrpcServer::Impl::KeepHouse() {
  const auto now = std::chrono::steady_clock::now();
  for (const SessionRegistry::Entry& entry : services.ReapIdleSessions(now)) {
    Audit({.action = "reap", .resource = entry.name, .tenant = entry.owner, .code = "OK"});
    Say(Event::Level::kInfo, "session_reaped", {{"session", entry.name}, {"tenant", entry.owner}});
  }
  if (trim.Due(now, services.slots.busy() > 0)) ReturnFreeMemory();
}

void GrpcServer::Impl::SetReady(bool ready) {
  calls.health.Set("", ready);
  calls.health.Set(kServiceName, ready);
}

void GrpcServer::Impl::TakeWork() {
  UpdateReadiness();
  if (options.on_ready) options.on_ready(address);
}

absl::Status GrpcServer::Impl::Listen(const ListenAddress& listen) {
  grpc::ServerBuilder builder;
  SetUp(&builder, options);
  builder.RegisterCallbackGenericService(&service);
  int port = 0;
  if (!options.listen.empty()) builder.AddListeningPort(options.listen, grpc::InsecureServerCredentials(), &port);
  server = builder.BuildAndStart();
  if (server == nullptr) return absl::UnavailableError(absl::StrCat("cannot listen on ", options.listen));
  if (!listen.path.empty()) address = options.listen;
  if (!listen.host.empty()) address = absl::StrCat(listen.host, ":", port);
  return absl::OkStatus();
}

// By itself Shutdown waits for clients to answer that they have seen the end of their connection, and those that have nothing to do
// may not check before the grace is over.
void GrpcServer::Impl::EndConnections(std::chrono::milliseconds grace) {
  const auto until = std::chrono::steady_clock::now() + grace;
  std::thread closer;
  try {
    closer = std::thread([&] {
      if (calls.open.AwaitEmpty(until)) grpc_server_cancel_all_calls(server->c_server());
    });
  } catch (const std::system_error&) {
    // Without a thread to spare connections of idle clients last until the grace is over.
  }
  server->Shutdown(std::chrono::system_clock::now() + grace);
  if (closer.joinable()) closer.join();
}

GrpcServer::GrpcServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

GrpcServer::~GrpcServer() { Drain(std::chrono::milliseconds(0)); }

const std::string& GrpcServer::address() const { return impl_->address; }

bool GrpcServer::TakesWork() const { return impl_->TakesWork(); }

int GrpcServer::SessionCount() const { return static_cast<int>(impl_->services.sessions.size()); }

std::vector<absl::Status> GrpcServer::Check(const GrpcServerOptions& options) {
  std::vector<absl::Status> problems;
  const auto add = [&](absl::Status status) {
    if (!status.ok()) problems.push_back(std::move(status));
  };
  if (!options.access_file.empty()) add(AccessList::Load(options.access_file).status());
  add(CheckListen(options));
  add(CheckMetrics(options));
  add(Viewer::Check(options));
  return problems;
}

absl::StatusOr<std::unique_ptr<GrpcServer>> GrpcServer::Start(const GrpcServerOptions& options) {
  for (const absl::Status& problem : Check(options)) return problem;
  KeepGrpc();
  GuardAccepts();
  auto impl = std::make_unique<Impl>(options);
  if (!options.access_file.empty()) {
    EIPC_ASSIGN_OR_RETURN(impl->access, AccessSource::Open(options.access_file));
    impl->calls.access = impl->access;
    impl->ShareOut(options.limits.tenant);
  }
  ListenAddress listen;
  if (!options.listen.empty()) {
    EIPC_ASSIGN_OR_RETURN(listen, ParseListenAddress(options.listen));
    if (!listen.path.empty()) EIPC_RETURN_IF_ERROR(PrepareUnixSocket(listen.path));
  }
  if (options.tenant_metrics) impl->metrics.CountTenants();
  impl->services.metrics = &impl->metrics;
  impl->services.cage_program = options.cage_program;
  impl->services.events = options.events;
  if (!options.journal.folder.empty()) {
    EIPC_RETURN_IF_ERROR(impl->services.UseJournal(options.journal, options.events));
  }
  if (!options.trace_file.empty()) {
    EIPC_ASSIGN_OR_RETURN(impl->spans, SpanLog::Open(options.trace_file));
    impl->services.spans = impl->spans.get();
  }
  if (!options.audit_file.empty()) {
    EIPC_ASSIGN_OR_RETURN(impl->audit, AuditLog::Open(options.audit_file, options.events));
    impl->calls.audit = impl->services.audit = impl->audit.get();
  }
  if (!options.metrics.empty()) EIPC_RETURN_IF_ERROR(impl->metrics.Expose(options.metrics));
  impl->UpdateReadiness();
  impl->calls.health.Set(kLiveness, true);
  Impl* const raw = impl.get();
  impl->call_keeper = std::make_unique<Housekeeper>(kCallCheckInterval, [raw] { raw->EndSlowCalls(); });
  EIPC_RETURN_IF_ERROR(impl->Listen(listen));
  EIPC_ASSIGN_OR_RETURN(impl->viewer, Viewer::Start(options, &impl->calls));
  impl->poll_keeper = std::make_unique<Housekeeper>(PollWaker::kWakeInterval, [raw] { raw->waker.Wake(); });
  impl->housekeeper = std::make_unique<Housekeeper>(std::chrono::seconds(1), [raw] { raw->KeepHouse(); });
  impl->metrics.SetGauges([raw] { return raw->Gauges(); }, [raw] { return raw->SessionsByTenant(); });
  impl->Audit({.action = "server_start", .detail = impl->address});
  if (raw->services.recovery != nullptr) {
    raw->Say(Event::Level::kInfo, "listening", {{"address", raw->address}});
    raw->services.recovery->Start([raw] { raw->TakeWork(); });
  } else {
    raw->TakeWork();
  }
  return std::unique_ptr<GrpcServer>(new GrpcServer(std::move(impl)));
}

absl::Status GrpcServer::Reload(const ResourceAmounts& tenant) {
  absl::Status status = impl_->access == nullptr ? absl::OkStatus() : impl_->access->Reload();
  if (impl_->access != nullptr) impl_->ShareOut(tenant);
  if (impl_->audit == nullptr) return status;
  status.Update(impl_->audit->Reopen());
  impl_->Audit({.action = "reload", .code = absl::StatusCodeToString(status.code()), .detail = std::string(status.message())});
  return status;
}

void GrpcServer::Drain(std::chrono::milliseconds grace) {
  if (impl_->server == nullptr) return;
  // Watchers are notified before they are ended.
  impl_->SetReady(false);
  impl_->calls.open.Drain();
  impl_->UpdateReadiness();
  impl_->calls.room.Stop();
  if (impl_->services.recovery != nullptr) impl_->services.recovery->Stop();
  impl_->EndConnections(grace);
  impl_->viewer.reset();
  impl_->metrics.SetGauges(nullptr);
  impl_->call_keeper.reset();
  impl_->poll_keeper.reset();
  impl_->housekeeper.reset();
  impl_->services.operations.Stop();
  // Whole again, so that a restart replays nothing.
  for (const auto& entry : impl_->services.sessions.All()) {
    if (auto lease = impl_->services.sessions.Acquire(entry.name, {}, entry.owner); lease.ok()) {
      (void)(*lease)->CheckpointLogIfGrown(entry.name);
    }
  }
  impl_->server.reset();
  impl_->Audit({.action = "server_stop"});
}

std::shared_ptr<grpc::Channel> GrpcServer::InProcessChannel() { return impl_->server->InProcessChannel({}); }

}  // namespace eipc::rpc
