#include "server/rpc/listen/grpc_server.h"

#include <grpc/grpc.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/impl/service_type.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/rpc/handlers/services.h"
#include "server/rpc/listen/housekeeper.h"
#include "server/rpc/listen/listen_address.h"
#include "server/rpc/listen/self_probe.h"
#include "server/rpc/listen/service.h"
#include "server/rpc/listen/stream_set.h"
#include "server/rpc/listen/unanswered_streams.h"
#include "server/rpc/telemetry/metrics.h"
#include "server/session/files.h"
#include "server/session/heap.h"
#include "sim/base/status_macros.h"

namespace eipc::rpc {
namespace {

// What health checks call the service; "" stands for the server as a whole.
constexpr char kServiceName[] = "eipc.v1.SimulationService";
constexpr char kLiveness[] = "liveness";
// gRPC's own threads beside those that serve calls.
constexpr int kSpareThreads = 4;
constexpr int kMostStreamsPerConnection = 128;
constexpr int kMaxMetadataBytes = 16 << 10;
constexpr int kMostBytesRead = 64 << 10;
constexpr int kKeepaliveMs = 60'000;
constexpr int kKeepaliveTimeoutMs = 20'000;
constexpr int kLeastPingIntervalMs = 10'000;
constexpr int kPingStrikes = 2;

using AcceptorPtr = std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor>;

void SetUp(grpc::ServerBuilder* builder, const GrpcServerOptions& options) {
  const ServerLimits& limits = options.limits;
  builder->SetMaxReceiveMessageSize(limits.max_message_mib << 20);
  builder->SetMaxSendMessageSize(-1);
  // What one client may ask of a connection: streams at once, headers, pings; and how long a dead one is kept.
  builder->AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMostStreamsPerConnection);
  builder->AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, kMaxMetadataBytes);
  builder->AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS,
                              static_cast<int>(options.connections.handshake_timeout.count()));
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder->AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, kLeastPingIntervalMs);
  builder->AddChannelArgument(GRPC_ARG_HTTP2_MAX_PING_STRIKES, kPingStrikes);
  // What gRPC has read of a flood it works off, whether the connection is still there or not.
  builder->AddChannelArgument(GRPC_ARG_TCP_MAX_READ_CHUNK_SIZE, kMostBytesRead);
  grpc::ResourceQuota quota("eipc-server");
  quota.SetMaxThreads(limits.max_calls + kSpareThreads);
  builder->SetResourceQuota(quota);
  builder->SetSyncServerOption(grpc::ServerBuilder::SyncServerOption::NUM_CQS, 1);
  builder->SetSyncServerOption(grpc::ServerBuilder::SyncServerOption::MIN_POLLERS, 1);
  builder->SetSyncServerOption(grpc::ServerBuilder::SyncServerOption::MAX_POLLERS, 4);
}

// Process-wide switches of gRPC, thrown before the first server is built.
void EnablePlugins(bool reflection) {
  // For good: with the last that uses gRPC, gRPC would end too, and wait up to 10 s for a poller that a long write has begun.
  static const bool stays = (grpc_init(), true);
  (void)stays;
  grpc::EnableDefaultHealthCheckService(true);
  static std::once_flag once;
  if (reflection) std::call_once(once, [] { grpc::reflection::InitProtoReflectionServerBuilderPlugin(); });
}

absl::StatusOr<std::string> Pem(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadWholeFile(path);
  if (!text.ok() || text->empty()) return absl::InvalidArgumentError(absl::StrCat(path, ": cannot be read"));
  return text;
}

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> Credentials(const TlsOptions& tls, bool tokens) {
  if (tls.certificate.empty() && tls.key.empty() && tls.client_ca.empty()) return grpc::InsecureServerCredentials();
  if (tls.certificate.empty() || tls.key.empty()) return absl::InvalidArgumentError("TLS needs a certificate and its key");
  grpc::SslServerCredentialsOptions options(tls.client_ca.empty() ? GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE
                                            : tokens              ? GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_AND_VERIFY
                                                                  : GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  grpc::SslServerCredentialsOptions::PemKeyCertPair pair;
  EIPC_ASSIGN_OR_RETURN(pair.private_key, Pem(tls.key));
  EIPC_ASSIGN_OR_RETURN(pair.cert_chain, Pem(tls.certificate));
  options.pem_key_cert_pairs.push_back(std::move(pair));
  if (!tls.client_ca.empty()) {
    EIPC_ASSIGN_OR_RETURN(options.pem_root_certs, Pem(tls.client_ca));
  }
  return grpc::SslServerCredentials(options);
}

// Off loopback calls must be encrypted and callers known.
absl::Status CheckExposure(const ListenAddress& address, const GrpcServerOptions& options) {
  if (address.loopback || !address.path.empty()) return absl::OkStatus();
  if (options.tls.certificate.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", options.listen, "': only loopback addresses are served without TLS (127.0.0.1, [::1], localhost); give ",
                     "--tls-cert and --tls-key, or tunnel to the server (ssh -L)"));
  }
  if (options.access_file.empty() && options.tls.client_ca.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", options.listen, "': off loopback callers must be known: give --access-file, ", "--tls-client-ca, or both"));
  }
  return absl::OkStatus();
}

absl::Status CheckListen(const GrpcServerOptions& options) {
  if (options.listen.empty()) return absl::OkStatus();
  EIPC_ASSIGN_OR_RETURN(const ListenAddress address, ParseListenAddress(options.listen));
  return CheckExposure(address, options);
}

absl::Status CheckMetrics(const GrpcServerOptions& options) {
  if (options.metrics.empty()) return absl::OkStatus();
  EIPC_ASSIGN_OR_RETURN(const ListenAddress address, ParseListenAddress(options.metrics));
  if (address.loopback || options.metrics_anywhere) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--metrics ", options.metrics, ": only loopback addresses are served (127.0.0.1, [::1], localhost), because ",
                   "nobody is asked for credentials there; let the proxy forward it, or give --metrics-anywhere"));
}

}  // namespace

struct GrpcServer::Impl {
  explicit Impl(const GrpcServerOptions& o)
      : options(o), services(o.limits, MeshResolver(o.meshes)), trim(o.trim_interval, std::chrono::steady_clock::now()) {}

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
  // Tells health checks whether the server takes work.
  void UpdateReadiness();
  void TakeWork();
  absl::Status Listen(const ListenAddress& listen);
  void Accept();

  const GrpcServerOptions options;
  Metrics metrics;
  std::unique_ptr<SpanLog> spans;        // may be null
  std::unique_ptr<AuditLog> audit;       // may be null
  std::shared_ptr<AccessSource> access;  // null: everyone may call
  Services services;
  StreamSet streams;
  // The housekeeper's alone.
  TrimSchedule trim;
  int64_t floods_told = 0;
  std::atomic<bool> probe_fails = false;
  std::unique_ptr<grpc::Service> service;
  std::string address;
  AcceptorPtr hand_over;
  std::unique_ptr<grpc::Server> server;
  std::unique_ptr<Acceptor> acceptor;  // before server: hands connections to it
  std::unique_ptr<Housekeeper> housekeeper;
  std::unique_ptr<SelfProbe> probe;  // first to go
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
      {"eipc_streams_open", streams.size()},
      {"eipc_memory_reserved_bytes", static_cast<double>(services.memory.used())},
      {"eipc_heap_in_use_bytes", static_cast<double>(heap.in_use)},
      {"eipc_heap_held_bytes", static_cast<double>(heap.held)},
      {"process_resident_memory_bytes", static_cast<double>(ResidentBytes())},
      {"eipc_draining", streams.draining() ? 1 : 0},
  };
  if (acceptor != nullptr) {
    const Acceptor::Counts counts = acceptor->counts();
    values["eipc_connections_open"] = counts.open;
    values["eipc_connections_accepted"] = static_cast<double>(counts.accepted);
    values["eipc_connections_refused"] = static_cast<double>(counts.refused_total + counts.refused_peer);
    values["eipc_connections_silent"] = static_cast<double>(counts.silent);
    values["eipc_connections_flooding"] = static_cast<double>(counts.flooding);
    values["eipc_out_of_descriptors"] = static_cast<double>(counts.out_of_descriptors);
  }
  if (spans != nullptr) {
    const SpanLog::Counts counts = spans->counts();
    values["eipc_trace_spans_written"] = static_cast<double>(counts.written);
    values["eipc_trace_spans_dropped"] = static_cast<double>(counts.dropped + counts.lost);
  }
  if (audit != nullptr) values["eipc_audit_entries_lost"] = static_cast<double>(audit->counts().lost);
  if (options.gauges) values.merge(options.gauges());
  if (probe != nullptr) values["eipc_self_probe_failures"] = static_cast<double>(probe->failures());
  AddSurvival(&values);
  return values;
}

std::map<std::string, double> GrpcServer::Impl::SessionsByTenant() const {
  std::map<std::string, double> sessions;
  for (const SessionRegistry::Entry& entry : services.sessions.All()) sessions[entry.owner] += 1;
  return sessions;
}

void GrpcServer::Impl::AddSurvival(std::map<std::string, double>* values) const {
  if (services.journal == nullptr) return;
  const Recovery::Progress progress = services.recovery->progress();
  (*values)["eipc_journal_failures"] = static_cast<double>(services.journal->failures());
  (*values)["eipc_journal_failed_sessions"] = services.journal->failed_sessions();
  (*values)["eipc_sessions_recovered"] = progress.recovered;
  (*values)["eipc_sessions_to_recover"] = progress.found - progress.recovered - progress.left_alone;
  (*values)["eipc_sessions_left_alone"] = progress.left_alone;
}

// Ends streams whose client does not read, and sessions that nobody uses; gives back memory that is free.
void GrpcServer::Impl::KeepHouse() {
  const auto now = std::chrono::steady_clock::now();
  if (const int ended = streams.InterruptWritersSince(now - options.write_timeout); ended > 0) {
    Say(Event::Level::kWarning, "slow_readers_ended", {{"count", absl::StrCat(ended)}});
  }
  for (const SessionRegistry::Entry& entry : services.ReapIdleSessions(now)) {
    Audit({.action = "reap", .resource = entry.name, .tenant = entry.owner, .code = "OK"});
    Say(Event::Level::kInfo, "session_reaped", {{"session", entry.name}, {"tenant", entry.owner}});
  }
  if (acceptor != nullptr) {
    const int64_t floods = acceptor->counts().flooding;
    if (floods > floods_told) Say(Event::Level::kWarning, "floods_ended", {{"connections", absl::StrCat(floods - floods_told)}});
    floods_told = floods;
  }
  if (trim.Due(now, services.slots.busy() > 0)) ReturnFreeMemory();
}

void GrpcServer::Impl::UpdateReadiness() {
  const bool ready = !streams.draining() && !probe_fails && services.CheckRecovered().ok();
  grpc::HealthCheckServiceInterface* health = server->GetHealthCheckService();
  health->SetServingStatus("", ready);
  health->SetServingStatus(kServiceName, ready);
}

void GrpcServer::Impl::TakeWork() {
  UpdateReadiness();
  if (options.on_ready) options.on_ready(address);
}

absl::Status GrpcServer::Impl::Listen(const ListenAddress& listen) {
  EIPC_ASSIGN_OR_RETURN(acceptor, Acceptor::Listen(listen, options.connections));
  return absl::OkStatus();
}

void GrpcServer::Impl::Accept() {
  const auto hand_on = [this](int file) {
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
    connection.fd = file;
    hand_over->HandleNewConnection(&connection);
  };
  // Those that may be open at once are nothing to worry about.
  const auto unanswered = [counts = std::make_shared<UnansweredStreams>()](const std::string& client) {
    std::optional<int64_t> count = counts->Of(client);
    if (count) count = std::max<int64_t>(0, *count - kMostStreamsPerConnection);
    return count;
  };
  acceptor->Start(hand_on, unanswered);
}

GrpcServer::GrpcServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

GrpcServer::~GrpcServer() { Drain(std::chrono::milliseconds(0)); }

const std::string& GrpcServer::address() const { return impl_->address; }

bool GrpcServer::AwaitRecovery() {
  if (impl_->services.recovery != nullptr) impl_->services.recovery->Wait();
  return impl_->services.CheckRecovered().ok();
}

std::vector<absl::Status> GrpcServer::Check(const GrpcServerOptions& options) {
  std::vector<absl::Status> problems;
  const auto add = [&](absl::Status status) {
    if (!status.ok()) problems.push_back(std::move(status));
  };
  const bool known = !options.access_file.empty();
  const absl::StatusOr<AccessList> access = known ? AccessList::Load(options.access_file) : AccessList();
  add(access.status());
  add(CheckListen(options));
  add(Credentials(options.tls, access.ok() && access->has_tokens()).status());
  add(CheckMetrics(options));
  return problems;
}

absl::StatusOr<std::unique_ptr<GrpcServer>> GrpcServer::Start(const GrpcServerOptions& options) {
  for (const absl::Status& problem : Check(options)) return problem;
  EnablePlugins(options.reflection);
  auto impl = std::make_unique<Impl>(options);
  ServiceOptions service{&impl->services, &impl->streams, nullptr, options.events};
  if (!options.access_file.empty()) {
    EIPC_ASSIGN_OR_RETURN(impl->access, AccessSource::Open(options.access_file));
    service.access = impl->access;
  }
  ListenAddress listen;
  if (!options.listen.empty()) {
    EIPC_ASSIGN_OR_RETURN(listen, ParseListenAddress(options.listen));
    EIPC_RETURN_IF_ERROR(listen.path.empty() ? impl->Listen(listen) : PrepareUnixSocket(listen.path));
  }
  EIPC_ASSIGN_OR_RETURN(const auto credentials,
                        Credentials(options.tls, impl->access != nullptr && impl->access->Get()->has_tokens()));
  if (options.tenant_metrics) impl->metrics.CountTenants();
  impl->services.metrics = &impl->metrics;
  impl->services.cage_program = options.cage_program;
  if (!options.journal.folder.empty()) {
    EIPC_RETURN_IF_ERROR(impl->services.UseJournal(options.journal, options.events));
  }
  if (!options.trace_file.empty()) {
    EIPC_ASSIGN_OR_RETURN(impl->spans, SpanLog::Open(options.trace_file));
    impl->services.spans = impl->spans.get();
  }
  if (!options.audit_file.empty()) {
    EIPC_ASSIGN_OR_RETURN(impl->audit, AuditLog::Open(options.audit_file, options.events));
    service.audit = impl->audit.get();
  }
  if (!options.metrics.empty()) EIPC_RETURN_IF_ERROR(impl->metrics.Expose(options.metrics));
  impl->service = MakeSimulationService(std::move(service));
  grpc::ServerBuilder builder;
  SetUp(&builder, options);
  builder.RegisterService(impl->service.get());
  using Type = grpc::ServerBuilder::experimental_type::ExternalConnectionType;
  if (!listen.path.empty()) builder.AddListeningPort(options.listen, grpc::InsecureServerCredentials());
  if (!listen.host.empty()) {
    impl->hand_over = builder.experimental().AddExternalConnectionAcceptor(Type::FROM_FD, credentials);
  }
  impl->server = builder.BuildAndStart();
  if (impl->server == nullptr) return absl::UnavailableError("gRPC cannot start (do certificate and key belong together?)");
  impl->UpdateReadiness();
  impl->server->GetHealthCheckService()->SetServingStatus(kLiveness, true);
  impl->address = "in-process";
  Impl* const raw = impl.get();
  if (!listen.path.empty()) impl->address = options.listen;
  if (!listen.host.empty()) {
    impl->address = absl::StrCat(listen.host, ":", impl->acceptor->port());
    raw->Accept();
    impl->probe = std::make_unique<SelfProbe>(
        SelfProbe::Options{listen.host, impl->acceptor->port(), !options.tls.certificate.empty()}, [raw](bool healthy) {
          if (raw->streams.draining()) return;
          raw->Say(healthy ? Event::Level::kInfo : Event::Level::kError, healthy ? "self_probe_recovered" : "self_probe_failed",
                   {});
          raw->probe_fails = !healthy;
          raw->UpdateReadiness();
        });
  }
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

absl::Status GrpcServer::Reload() {
  absl::Status status = impl_->access == nullptr ? absl::OkStatus() : impl_->access->Reload();
  if (impl_->audit == nullptr) return status;
  status.Update(impl_->audit->Reopen());
  impl_->Audit({.action = "reload", .code = absl::StatusCodeToString(status.code()), .detail = std::string(status.message())});
  return status;
}

void GrpcServer::Drain(std::chrono::milliseconds grace) {
  if (impl_->server == nullptr) return;
  impl_->streams.Drain();
  impl_->UpdateReadiness();
  if (impl_->services.recovery != nullptr) impl_->services.recovery->Stop();
  if (impl_->acceptor != nullptr) impl_->acceptor->Stop();
  impl_->server->Shutdown(std::chrono::system_clock::now() + grace);
  impl_->metrics.SetGauges(nullptr);
  impl_->probe.reset();
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
