#include "server/rpc/listen/method_table.h"

#include <algorithm>
#include <map>

#include "server/rpc/handlers/audit_call.h"
#include "server/rpc/handlers/calls.h"
#include "server/rpc/listen/message_codec.h"

namespace eipc::rpc {
namespace {

using Kind = Method::Kind;
using Size = Method::Size;

template <typename Response>
Method::Answer Written(absl::Status status, const Response& response) {
  Method::Answer answer;
  if (status.ok()) status = SerializeMessage(response, &answer.bytes);
  answer.status = std::move(status);
  return answer;
}

Method::Answer Refused(absl::Status status) {
  Method::Answer answer;
  answer.status = std::move(status);
  return answer;
}

template <typename Request, typename Response, absl::Status (*kCall)(Services&, const CallContext&, const Request&, Response*)>
Method::Answer Serve(const Method::Input& input) {
  Parsed<Request> request;
  if (absl::Status status = request.Parse(&input.services.memory, input.request); !status.ok()) return Refused(std::move(status));
  Response response;
  absl::Status status = kCall(input.services, input.context, *request, &response);
  Method::Answer answer = Written(std::move(status), response);
  if (input.audited != nullptr) answer.audit = AuditedCall(input.audited, request.get(), &response);
  return answer;
}

// A call that waits for an operation is polled: no thread waits for it.
Method::Answer ServeGetOperation(const Method::Input& input) {
  Parsed<v1::GetOperationRequest> request;
  if (absl::Status status = request.Parse(&input.services.memory, input.request); !status.ok()) return Refused(std::move(status));
  constexpr double kLongestWaitS = 600;
  const double wait_s = std::min(kLongestWaitS, (*request).wait_s());
  const bool waits = wait_s > 0;
  if (waits) request.get()->set_wait_s(0);
  v1::Operation response;
  absl::Status status = GetOperation(input.services, input.context, *request, &response);
  const bool pending = status.ok() && waits && !response.done() && std::chrono::duration<double>(input.waited).count() < wait_s;
  Method::Answer answer = Written(std::move(status), response);
  answer.pending = pending && answer.status.ok();
  return answer;
}

// What is refused of a batch is in its answer.
Method::Answer ServeStepBatch(const Method::Input& input) {
  Parsed<v1::StepBatchRequest> request;
  if (absl::Status status = request.Parse(&input.services.memory, input.request); !status.ok()) return Refused(std::move(status));
  v1::StepBatchResponse response;
  bool refused = false;
  absl::Status status = AnswerBatch(input.services, input.context, *request, &response, &refused);
  Method::Answer answer = Written(std::move(status), response);
  answer.refused = refused;
  return answer;
}

#define EIPC_PATH(name) "/eipc.v1.SimulationService/" #name
// Reads; or writes and is refused while the server stops; or steps, which is allowed until then.
#define EIPC_READ(name, Request, Response) \
  { EIPC_PATH(name), #name, Kind::kUnary, true, true, Size::kSmall, Serve<v1::Request, Response, rpc::name> }
#define EIPC_WRITE(name, size, Request, Response) \
  { EIPC_PATH(name), #name, Kind::kUnary, false, false, Size::size, Serve<v1::Request, Response, rpc::name> }
#define EIPC_STEP(name, size, Request, Response) \
  { EIPC_PATH(name), #name, Kind::kUnary, false, true, Size::size, Serve<v1::Request, Response, rpc::name> }

constexpr Method kMethods[] = {
    EIPC_READ(GetServerInfo, GetServerInfoRequest, v1::ServerInfo),
    EIPC_WRITE(CreateScene, kAny, CreateSceneRequest, v1::SceneInfo),
    EIPC_READ(GetScene, GetSceneRequest, v1::SceneInfo),
    EIPC_READ(ListScenes, ListScenesRequest, v1::ListScenesResponse),
    EIPC_WRITE(DeleteScene, kSmall, DeleteSceneRequest, Empty),
    EIPC_WRITE(CreateSession, kAny, CreateSessionRequest, v1::SessionInfo),
    EIPC_WRITE(ForkSession, kSmall, ForkSessionRequest, v1::SessionInfo),
    EIPC_READ(GetSession, GetSessionRequest, v1::SessionInfo),
    EIPC_READ(ListSessions, ListSessionsRequest, v1::ListSessionsResponse),
    EIPC_WRITE(Reset, kSmall, ResetRequest, v1::Observation),
    EIPC_WRITE(RestoreSession, kAny, RestoreSessionRequest, v1::Observation),
    EIPC_STEP(Step, kSmall, StepRequest, v1::StepResponse),
    {EIPC_PATH(StepBatch), "StepBatch", Kind::kUnary, false, true, Size::kSmall, ServeStepBatch},
    EIPC_READ(GetState, GetStateRequest, v1::Observation),
    EIPC_WRITE(DeleteSession, kSmall, DeleteSessionRequest, Empty),
    EIPC_WRITE(CreateSnapshot, kSmall, CreateSnapshotRequest, v1::SnapshotInfo),
    EIPC_READ(GetSnapshot, GetSnapshotRequest, v1::SnapshotInfo),
    EIPC_READ(ListSnapshots, ListSnapshotsRequest, v1::ListSnapshotsResponse),
    EIPC_WRITE(DeleteSnapshot, kSmall, DeleteSnapshotRequest, Empty),
    EIPC_WRITE(StartCreateScene, kAny, CreateSceneRequest, v1::Operation),
    EIPC_WRITE(StartPrepareMesh, kAny, PrepareMeshRequest, v1::Operation),
    EIPC_WRITE(StartStepBatch, kSmall, StepBatchRequest, v1::Operation),
    {EIPC_PATH(GetOperation), "GetOperation", Kind::kUnary, true, true, Size::kSmall, ServeGetOperation},
    EIPC_READ(ListOperations, ListOperationsRequest, v1::ListOperationsResponse),
    EIPC_WRITE(CancelOperation, kSmall, CancelOperationRequest, v1::Operation),
    EIPC_WRITE(DeleteOperation, kSmall, DeleteOperationRequest, Empty),
    {EIPC_PATH(StepStream), "StepStream", Kind::kStepStream, false, true, Size::kSmall, nullptr},
    {EIPC_PATH(GetRecording), "GetRecording", Kind::kGetRecording, true, true, Size::kSmall, nullptr},
    {EIPC_PATH(UploadMesh), "UploadMesh", Kind::kUploadMesh, false, false, Size::kSmall, nullptr},
    {"/grpc.health.v1.Health/Check", "HealthCheck", Kind::kHealthCheck, true, true, Size::kSmall, nullptr},
    {"/grpc.health.v1.Health/Watch", "HealthWatch", Kind::kHealthWatch, true, true, Size::kSmall, nullptr},
    {"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", "ServerReflectionInfo", Kind::kReflection, true, true,
     Size::kSmall, nullptr},
};
#undef EIPC_STEP
#undef EIPC_WRITE
#undef EIPC_READ
#undef EIPC_PATH

}  // namespace

const Method* FindMethod(absl::string_view path) {
  static const auto* const methods = [] {
    auto* map = new std::map<absl::string_view, const Method*>;
    for (const Method& method : kMethods) map->emplace(method.path, &method);
    return map;
  }();
  const auto found = methods->find(path);
  return found == methods->end() ? nullptr : found->second;
}

}  // namespace eipc::rpc
