#include "server/rpc/listen/service.h"

#include <grpcpp/server_context.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "eipc/v1/service.grpc.pb.h"
#include "server/rpc/handlers/audit_call.h"
#include "server/rpc/handlers/calls.h"
#include "server/rpc/handlers/reason.h"
#include "server/rpc/listen/stream_set.h"
#include "server/session/ids.h"
#include "server/session/queue_full.h"
#include "sim/base/status_macros.h"

namespace eipc::rpc {
namespace {

constexpr char kRequestIdKey[] = "x-request-id";
constexpr char kClientCertKey[] = "x-eipc-client-cert";
constexpr char kTraceparentKey[] = "traceparent";
constexpr size_t kMaxRequestId = 64;

grpc::Status ToGrpc(const absl::Status& wire) {
  if (wire.ok()) return grpc::Status::OK;
  // The code numbers are the same by definition.
  return grpc::Status(static_cast<grpc::StatusCode>(wire.code()), std::string(wire.message()));
}

// Whether a call was cancelled, for loops that ask every few microseconds: gRPC, which looks through its sockets to answer, is
// asked no more often than this. By any thread.
class CancelWatch {
 public:
  explicit CancelWatch(const grpc::ServerContext* context) : context_(context), asked_(Now()) {}
  bool Cancelled() {
    if (cancelled_.load(std::memory_order_relaxed)) return true;
    const int64_t now = Now();
    if (now - asked_.load(std::memory_order_relaxed) < kIntervalNs) return false;
    asked_.store(now, std::memory_order_relaxed);
    if (context_->IsCancelled()) cancelled_.store(true, std::memory_order_relaxed);
    return cancelled_.load(std::memory_order_relaxed);
  }

 private:
  static constexpr int64_t kIntervalNs = 2'000'000;
  static int64_t Now() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
  const grpc::ServerContext* const context_;
  std::atomic<int64_t> asked_;
  std::atomic<bool> cancelled_ = false;
};

StepBudget BudgetOf(grpc::ServerContext* context) {
  StepBudget budget;
  const std::chrono::system_clock::time_point deadline = context->deadline();
  const auto now = std::chrono::system_clock::now();
  // A call without a deadline has one in the far future, which the steady clock may not reach.
  if (deadline - now < std::chrono::hours(24 * 365)) budget.deadline = std::chrono::steady_clock::now() + (deadline - now);
  budget.cancelled = [watch = std::make_shared<CancelWatch>(context)] { return watch->Cancelled(); };
  return budget;
}

// The caller's, or one that nobody else has.
std::string RequestId(const grpc::ServerContext& context) {
  const auto found = context.client_metadata().find(kRequestIdKey);
  if (found == context.client_metadata().end()) return RandomHex128().substr(0, 16);
  return Printable(absl::string_view(found->second.data(), std::min(kMaxRequestId, found->second.size())));
}

// The caller's, or one of its own.
TraceContext TraceOf(const grpc::ServerContext& context) {
  const auto found = context.client_metadata().find(kTraceparentKey);
  if (found == context.client_metadata().end()) return NewTrace();
  return ParseTraceparent(absl::string_view(found->second.data(), found->second.size())).value_or(NewTrace());
}

std::optional<Caller> Identify(const AccessList& access, const grpc::ServerContext& context) {
  const auto header = context.client_metadata().find("authorization");
  if (header != context.client_metadata().end()) {
    absl::string_view value(header->second.data(), header->second.size());
    constexpr absl::string_view kBearer = "Bearer ";
    if (!absl::StartsWithIgnoreCase(value, kBearer)) return std::nullopt;
    value.remove_prefix(kBearer.size());
    return access.ByToken(value);
  }
  // The proxy in front names the owner of a certificate that it has verified. Nobody else can connect to the Unix socket.
  if (absl::StartsWith(context.peer(), "unix:")) {
    const auto names = context.client_metadata().equal_range(kClientCertKey);
    if (names.first == names.second || std::next(names.first) != names.second) return std::nullopt;
    return access.ByCertificate(absl::string_view(names.first->second.data(), names.first->second.size()));
  }
  const auto peer = context.auth_context();
  if (peer == nullptr || !peer->IsPeerAuthenticated()) return std::nullopt;
  for (const char* property : {"x509_subject_alternative_name", "x509_common_name"}) {
    for (const grpc::string_ref& name : peer->FindPropertyValues(property)) {
      if (auto caller = access.ByCertificate(absl::string_view(name.data(), name.size()))) return caller;
    }
  }
  return std::nullopt;
}

bool OnlyLooks(const std::string& method) { return absl::StartsWith(method, "Get") || absl::StartsWith(method, "List"); }

// Runs a call's body; memory that runs out is the caller's answer, not the server's end.
template <typename Body>
absl::Status Guarded(Body&& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError("OUT_OF_MEMORY: not enough memory for this call");
  } catch (const std::exception& error) {
    return absl::InternalError(absl::StrCat("INTERNAL: ", error.what()));
  }
}

class SimulationService final : public v1::SimulationService::Service {
 public:
  explicit SimulationService(ServiceOptions options) : options_(std::move(options)), services_(*options_.services) {}

  // One line a call: EIPC_UNARY(Name, Request, Response).
#define EIPC_UNARY(name, Request, Response)                                                              \
  grpc::Status name(grpc::ServerContext* context, const Request* request, Response* response) override { \
    return Call(#name, rpc::name, context, request, response);                                           \
  }
  EIPC_UNARY(GetServerInfo, v1::GetServerInfoRequest, v1::ServerInfo)
  EIPC_UNARY(CreateScene, v1::CreateSceneRequest, v1::SceneInfo)
  EIPC_UNARY(GetScene, v1::GetSceneRequest, v1::SceneInfo)
  EIPC_UNARY(ListScenes, v1::ListScenesRequest, v1::ListScenesResponse)
  EIPC_UNARY(DeleteScene, v1::DeleteSceneRequest, Empty)
  EIPC_UNARY(CreateSession, v1::CreateSessionRequest, v1::SessionInfo)
  EIPC_UNARY(ForkSession, v1::ForkSessionRequest, v1::SessionInfo)
  EIPC_UNARY(GetSession, v1::GetSessionRequest, v1::SessionInfo)
  EIPC_UNARY(ListSessions, v1::ListSessionsRequest, v1::ListSessionsResponse)
  EIPC_UNARY(Reset, v1::ResetRequest, v1::Observation)
  EIPC_UNARY(RestoreSession, v1::RestoreSessionRequest, v1::Observation)
  EIPC_UNARY(Step, v1::StepRequest, v1::StepResponse)
  EIPC_UNARY(StepBatch, v1::StepBatchRequest, v1::StepBatchResponse)
  EIPC_UNARY(GetState, v1::GetStateRequest, v1::Observation)
  EIPC_UNARY(DeleteSession, v1::DeleteSessionRequest, Empty)
  EIPC_UNARY(CreateSnapshot, v1::CreateSnapshotRequest, v1::SnapshotInfo)
  EIPC_UNARY(GetSnapshot, v1::GetSnapshotRequest, v1::SnapshotInfo)
  EIPC_UNARY(ListSnapshots, v1::ListSnapshotsRequest, v1::ListSnapshotsResponse)
  EIPC_UNARY(DeleteSnapshot, v1::DeleteSnapshotRequest, Empty)
  EIPC_UNARY(StartCreateScene, v1::CreateSceneRequest, v1::Operation)
  EIPC_UNARY(StartPrepareMesh, v1::PrepareMeshRequest, v1::Operation)
  EIPC_UNARY(StartStepBatch, v1::StepBatchRequest, v1::Operation)
  EIPC_UNARY(GetOperation, v1::GetOperationRequest, v1::Operation)
  EIPC_UNARY(ListOperations, v1::ListOperationsRequest, v1::ListOperationsResponse)
  EIPC_UNARY(CancelOperation, v1::CancelOperationRequest, v1::Operation)
  EIPC_UNARY(DeleteOperation, v1::DeleteOperationRequest, Empty)
#undef EIPC_UNARY

  grpc::Status StepStream(grpc::ServerContext* context,
                          grpc::ServerReaderWriter<v1::StepResponse, v1::StepRequest>* stream) override {
    return Run("StepStream", context, nullptr, nullptr, [&](const CallContext& call) {
      StreamSet::Stream entry(options_.streams, [context] { context->TryCancel(); });
      Admission admission(options_.access, call.caller());
      bool revoked = false;
      StepStreamEnds ends;
      ends.read = [&](v1::StepRequest* request) {
        if (!entry.Wait([&] { return stream->Read(request); })) return false;
        revoked = !admission.StillIn();
        return !revoked;
      };
      ends.write = [&](const v1::StepResponse& response) { return entry.Send([&] { return stream->Write(response); }); };
      const absl::Status status = rpc::StepStream(services_, call, ends);
      if (status.ok() && revoked)
        return absl::UnauthenticatedError("UNAUTHENTICATED: these credentials are not known here any more");
      if (status.ok() && context->IsCancelled()) return absl::CancelledError("CANCELLED: the stream was cancelled");
      if (status.ok() && options_.streams->draining()) return absl::UnavailableError("SERVER_STOPPING: the server is stopping");
      return status;
    });
  }
  grpc::Status GetRecording(grpc::ServerContext* context, const v1::GetRecordingRequest* request,
                            grpc::ServerWriter<v1::DataChunk>* writer) override {
    return Run("GetRecording", context, request, nullptr, [&](const CallContext& call) {
      StreamSet::Stream entry(options_.streams, [context] { context->TryCancel(); });
      return rpc::GetRecording(services_, call, *request,
                               [&](const v1::DataChunk& chunk) { return entry.Send([&] { return writer->Write(chunk); }); });
    });
  }
  grpc::Status UploadMesh(grpc::ServerContext* context, grpc::ServerReader<v1::UploadMeshRequest>* reader,
                          v1::MeshInfo* response) override {
    return Run("UploadMesh", context, nullptr, response, [&](const CallContext& call) {
      StreamSet::Stream entry(options_.streams, [context] { context->TryCancel(); });
      return rpc::UploadMesh(
          services_, call, [&](v1::UploadMeshRequest* request) { return entry.Wait([&] { return reader->Read(request); }); },
          response);
    });
  }

 private:
  template <typename Request, typename Response>
  grpc::Status Call(const char* method, absl::Status (*call)(Services&, const CallContext&, const Request&, Response*),
                    grpc::ServerContext* context, const Request* request, Response* response) {
    return Run(method, context, request, response, [&](const CallContext& c) {
      const absl::Status status = call(services_, c, *request, response);
      if (IsQueueFull(status)) services_.refusals.Hold(c.budget);
      return status;
    });
  }

  // Who calls, and whether they may.
  absl::Status Admit(const std::string& method, const grpc::ServerContext& context, CallContext* call) {
    if (!options_.access) return absl::OkStatus();
    const std::optional<Caller> caller = Identify(*options_.access->Get(), context);
    if (!caller) return absl::UnauthenticatedError("UNAUTHENTICATED: credentials are missing or not known here");
    call->tenant = caller->tenant;
    call->identity = caller->identity;
    call->role = caller->role;
    if (caller->role == Role::kOperator || OnlyLooks(method)) return absl::OkStatus();
    return absl::PermissionDeniedError(absl::StrCat("PERMISSION_DENIED: a viewer may not call ", method));
  }

  template <typename Body>
  grpc::Status Run(const std::string& method, grpc::ServerContext* context, const google::protobuf::Message* request,
                   const google::protobuf::Message* response, Body&& body) {
    const auto begin = std::chrono::steady_clock::now();
    if (services_.metrics != nullptr) services_.metrics->CallStarted(method);
    CallContext call(BudgetOf(context));
    const std::string id = RequestId(*context);
    if (services_.spans != nullptr) call.trace = TraceOf(*context);
    absl::Status status = Guarded([&]() -> absl::Status {
      EIPC_RETURN_IF_ERROR(Admit(method, *context, &call));
      if (options_.streams->draining() && !OnlyLooks(method) && !absl::StartsWith(method, "Step")) {
        return absl::UnavailableError("SERVER_STOPPING: the server is stopping");
      }
      return body(call);
    });
    status = ForWire(status);
    context->AddTrailingMetadata(kRequestIdKey, id);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const std::string code = absl::StatusCodeToString(status.code());
    if (services_.metrics != nullptr) {
      services_.metrics->CallHandled(method, code, seconds);
      if (!absl::IsUnauthenticated(status)) services_.metrics->TenantCalled(call.tenant, status);
    }
    if (options_.events) {
      options_.events({status.ok() ? Event::Level::kDebug : Event::Level::kInfo,
                       "call",
                       {{"method", method},
                        {"code", code},
                        {"ms", absl::StrCat(seconds * 1e3)},
                        {"tenant", call.tenant},
                        {"request_id", id},
                        {"peer", context->peer()},
                        {"error", std::string(status.message().substr(0, 200))}}});
    }
    if (options_.audit != nullptr && !absl::IsUnauthenticated(status)) {
      if (std::optional<AuditEntry> entry = AuditedCall(method, request, response)) {
        entry->tenant = call.tenant;
        if (options_.access != nullptr) entry->role = RoleName(call.role);
        entry->identity = call.identity;
        entry->peer = context->peer();
        entry->request_id = id;
        entry->code = code;
        options_.audit->Write(*entry);
      }
    }
    return ToGrpc(status);
  }

  const ServiceOptions options_;
  Services& services_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeSimulationService(ServiceOptions options) {
  return std::make_unique<SimulationService>(std::move(options));
}

}  // namespace eipc::rpc
