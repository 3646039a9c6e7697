#ifndef EIPC_SERVER_RPC_HANDLERS_CALLS_H_
#define EIPC_SERVER_RPC_HANDLERS_CALLS_H_

// The calls of eipc.v1.SimulationService, one file each: check, lease, call, write. They see messages but no gRPC: the context
// carries the caller, its deadline and its cancellation, and the status becomes the call's (server/rpc/listen).

#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "eipc/v1/service.pb.h"
#include "server/rpc/handlers/call_context.h"
#include "server/rpc/handlers/services.h"

namespace eipc::rpc {

using Empty = google::protobuf::Empty;

absl::Status GetServerInfo(Services&, const CallContext&, const v1::GetServerInfoRequest&, v1::ServerInfo*);

absl::Status CreateScene(Services&, const CallContext&, const v1::CreateSceneRequest&, v1::SceneInfo*);
absl::Status GetScene(Services&, const CallContext&, const v1::GetSceneRequest&, v1::SceneInfo*);
absl::Status ListScenes(Services&, const CallContext&, const v1::ListScenesRequest&, v1::ListScenesResponse*);
absl::Status DeleteScene(Services&, const CallContext&, const v1::DeleteSceneRequest&, Empty*);

absl::Status CreateSession(Services&, const CallContext&, const v1::CreateSessionRequest&, v1::SessionInfo*);
absl::Status ForkSession(Services&, const CallContext&, const v1::ForkSessionRequest&, v1::SessionInfo*);
absl::Status GetSession(Services&, const CallContext&, const v1::GetSessionRequest&, v1::SessionInfo*);
absl::Status ListSessions(Services&, const CallContext&, const v1::ListSessionsRequest&, v1::ListSessionsResponse*);
absl::Status Reset(Services&, const CallContext&, const v1::ResetRequest&, v1::Observation*);
absl::Status RestoreSession(Services&, const CallContext&, const v1::RestoreSessionRequest&, v1::Observation*);
// response->session_step is set on failure too, once the session is known.
absl::Status Step(Services&, const CallContext&, const v1::StepRequest&, v1::StepResponse*);
absl::Status StepBatch(Services&, const CallContext&, const v1::StepBatchRequest&, v1::StepBatchResponse*);
// The same. `refused`: a world was refused for want of room, so that the answer waits (refusal_pause.h).
absl::Status AnswerBatch(Services&, const CallContext&, const v1::StepBatchRequest&, v1::StepBatchResponse*, bool* refused);
absl::Status GetState(Services&, const CallContext&, const v1::GetStateRequest&, v1::Observation*);
absl::Status DeleteSession(Services&, const CallContext&, const v1::DeleteSessionRequest&, Empty*);

absl::Status CreateSnapshot(Services&, const CallContext&, const v1::CreateSnapshotRequest&, v1::SnapshotInfo*);
absl::Status GetSnapshot(Services&, const CallContext&, const v1::GetSnapshotRequest&, v1::SnapshotInfo*);
absl::Status ListSnapshots(Services&, const CallContext&, const v1::ListSnapshotsRequest&, v1::ListSnapshotsResponse*);
absl::Status DeleteSnapshot(Services&, const CallContext&, const v1::DeleteSnapshotRequest&, Empty*);

// UploadMesh, message by message: Add each in order, then Finish. Any failure ends the upload.
class MeshUpload {
 public:
  MeshUpload(Services* services, std::string tenant) : services_(services), tenant_(std::move(tenant)) {}
  absl::Status Add(const v1::UploadMeshRequest& piece);
  absl::Status Finish(v1::MeshInfo* response);

 private:
  absl::Status Begin(const v1::UploadMeshRequest& first);
  Services* const services_;
  const std::string tenant_;
  bool begun_ = false;
  std::string file_name_;
  std::string sha256_;
  size_t total_ = 0;
  std::optional<MeshStore::Room> room_;
  std::string data_;
};

// CreateScene that reports its progress.
absl::Status MakeScene(Services&, const CallContext&, const v1::CreateSceneRequest&, OperationRegistry::Progress* progress,
                       v1::SceneInfo*);
absl::Status StartCreateScene(Services&, const CallContext&, const v1::CreateSceneRequest&, v1::Operation*);
// Puts an uploaded mesh into `mesh`, which then needs nothing else, after asking `meter`. `path` is where the request has it.
absl::Status TakeUpload(Services&, const std::string& tenant, const std::string& path, MemoryMeter* meter, v1::Mesh* mesh);
absl::Status StartPrepareMesh(Services&, const CallContext&, const v1::PrepareMeshRequest&, v1::Operation*);
absl::Status StartStepBatch(Services&, const CallContext&, const v1::StepBatchRequest&, v1::Operation*);
absl::Status GetOperation(Services&, const CallContext&, const v1::GetOperationRequest&, v1::Operation*);
absl::Status ListOperations(Services&, const CallContext&, const v1::ListOperationsRequest&, v1::ListOperationsResponse*);
absl::Status CancelOperation(Services&, const CallContext&, const v1::CancelOperationRequest&, v1::Operation*);
absl::Status DeleteOperation(Services&, const CallContext&, const v1::DeleteOperationRequest&, Empty*);

// The answer to one request of a StepStream; a failure is in the response. False when the request was refused for want of room
// (server/session/queue_full.h): the answer then waits as refusal_pause.h has it.
bool AnswerStep(Services&, const CallContext&, const v1::StepRequest&, v1::StepResponse*);

// A copy of what the session has recorded, and the memory that was set aside for it.
struct RecordingCopy {
  std::string bytes;
  KeptMemory memory;
};
absl::StatusOr<RecordingCopy> GetRecording(Services&, const CallContext&, const v1::GetRecordingRequest&);
// Turns a piece of a recording, at first an empty one, into the one after it. False when there is none.
bool NextPiece(const std::string& recording, v1::DataChunk* piece);

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_HANDLERS_CALLS_H_
