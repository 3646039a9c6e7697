#include "server/rpc/grpc_server.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/impl/service_type.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/rpc/listen_address.h"
#include "server/rpc/service.h"
#include "server/rpc/services.h"
#include "server/rpc/stream_set.h"
#include "sim/base/status_macros.h"

namespace eipc::rpc {
namespace {

// What health checks call the service; "" stands for the server as a whole.
constexpr char kServiceName[] = "eipc.v1.SimulationService";
// gRPC's own threads beside those that serve calls.
constexpr int kSpareThreads = 4;

void SetUp(grpc::ServerBuilder* builder, const ServerLimits& limits) {
  builder->SetMaxReceiveMessageSize(limits.max_message_mib << 20);
  builder->SetMaxSendMessageSize(-1);
  // Two servers on one port would share it silently.
  builder->AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  grpc::ResourceQuota quota("eipc-server");
  quota.SetMaxThreads(limits.max_calls + kSpareThreads);
  builder->SetResourceQuota(quota);
  builder->SetSyncServerOption(grpc::ServerBuilder::SyncServerOption::NUM_CQS, 1);
  builder->SetSyncServerOption(grpc::ServerBuilder::SyncServerOption::MIN_POLLERS, 1);
  builder->SetSyncServerOption(grpc::ServerBuilder::SyncServerOption::MAX_POLLERS, 4);
}

// Process-wide switches of gRPC, thrown before the first server is built.
void EnablePlugins() {
  static std::once_flag once;
  std::call_once(once, [] {
    grpc::EnableDefaultHealthCheckService(true);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  });
}

}  // namespace

struct GrpcServer::Impl {
  explicit Impl(const GrpcServerOptions& options) : services(options.limits, MeshResolver(options.meshes)) {}

  Services services;
  StreamSet streams;
  std::unique_ptr<grpc::Service> service;
  std::string address;
  std::unique_ptr<grpc::Server> server;  // first to go
};

GrpcServer::GrpcServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

GrpcServer::~GrpcServer() { Drain(std::chrono::milliseconds(0)); }

const std::string& GrpcServer::address() const { return impl_->address; }

absl::StatusOr<std::unique_ptr<GrpcServer>> GrpcServer::Start(const GrpcServerOptions& options) {
  EnablePlugins();
  auto impl = std::make_unique<Impl>(options);
  impl->service = MakeSimulationService(&impl->services, &impl->streams);
  grpc::ServerBuilder builder;
  SetUp(&builder, options.limits);
  builder.RegisterService(impl->service.get());
  ListenAddress listen;
  int port = 0;
  if (!options.listen.empty()) {
    EIPC_ASSIGN_OR_RETURN(listen, ParseListenAddress(options.listen));
    builder.AddListeningPort(options.listen, grpc::InsecureServerCredentials(), &port);
  }
  impl->server = builder.BuildAndStart();
  if (impl->server == nullptr || (!options.listen.empty() && port == 0)) {
    return absl::UnavailableError(absl::StrCat("cannot listen on ", options.listen, " (is the port in use?)"));
  }
  impl->address = options.listen.empty() ? "in-process" : absl::StrCat(listen.host, ":", port);
  grpc::HealthCheckServiceInterface* health = impl->server->GetHealthCheckService();
  health->SetServingStatus(kServiceName, true);
  return std::unique_ptr<GrpcServer>(new GrpcServer(std::move(impl)));
}

void GrpcServer::Drain(std::chrono::milliseconds grace) {
  if (impl_->server == nullptr) return;
  impl_->server->GetHealthCheckService()->SetServingStatus(false);
  impl_->streams.Drain();
  impl_->server->Shutdown(std::chrono::system_clock::now() + grace);
  impl_->server.reset();
}

std::shared_ptr<grpc::Channel> GrpcServer::InProcessChannel() { return impl_->server->InProcessChannel({}); }

}  // namespace eipc::rpc
