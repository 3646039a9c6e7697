#include "tests/conformance/every_call.h"

#include <google/protobuf/descriptor.h>

#include <chrono>

#include "eipc/v1/service.grpc.pb.h"
#include "tests/conformance/test_scenes.h"

namespace eipc::testing {
namespace {

using Stub = v1::SimulationService::Stub;
using google::protobuf::Empty;

// The vertices and triangles of a tetrahedron, its SHA-256 and CRC-32.
constexpr char kTetrahedron[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
constexpr char kTetrahedronSha256[] = "f9b17db5d06be9905fcbeed0cce385041eefe029d4d9db8c6b1634ed3f8a679b";
constexpr uint32_t kTetrahedronCrc32 = 0x6fa1fae4;

class Round {
 public:
  explicit Round(const std::shared_ptr<grpc::Channel>& channel) : stub_(v1::SimulationService::NewStub(channel)) {}

  std::map<std::string, grpc::Status> Run() {
    Scenes();
    Sessions();
    Steps();
    Snapshots();
    Operations();
    Leave();
    return statuses_;
  }

 private:
  struct Context : grpc::ClientContext {
    Context() { set_deadline(std::chrono::system_clock::now() + std::chrono::minutes(1)); }
  };

  void Note(const std::string& name, const grpc::Status& status) {
    const auto [entry, fresh] = statuses_.try_emplace(name, status);
    if (entry->second.ok()) entry->second = status;
  }
  template <typename Request, typename Response>
  Response Call(const char* name, grpc::Status (Stub::*call)(grpc::ClientContext*, const Request&, Response*),
                const Request& request) {
    Context context;
    Response response;
    Note(name, (stub_.get()->*call)(&context, request, &response));
    return response;
  }
  template <typename Request>
  static Request InSession(const std::string& session) {
    Request request;
    request.set_session(session);
    return request;
  }
  template <typename Request>
  static Request Named(const std::string& name) {
    Request request;
    request.set_name(name);
    return request;
  }
  v1::StepRequest StepOf() const {
    v1::StepRequest request = InSession<v1::StepRequest>(session_);
    request.set_dt_s(0.001);
    return request;
  }

  void Scenes() {
    Call("GetServerInfo", &Stub::GetServerInfo, v1::GetServerInfoRequest());
    v1::CreateSceneRequest create;
    *create.mutable_scene() = FallingBlock();
    scene_ = Call("CreateScene", &Stub::CreateScene, create).name();
    Call("GetScene", &Stub::GetScene, Named<v1::GetSceneRequest>(scene_));
    Call("ListScenes", &Stub::ListScenes, v1::ListScenesRequest());
    Context context;
    v1::MeshInfo info;
    const auto upload = stub_->UploadMesh(&context, &info);
    v1::UploadMeshRequest piece;
    piece.set_file_name("tetrahedron.obj");
    piece.set_total_bytes(sizeof(kTetrahedron) - 1);
    piece.set_sha256(kTetrahedronSha256);
    piece.set_data(kTetrahedron);
    piece.set_crc32(kTetrahedronCrc32);
    upload->Write(piece);
    upload->WritesDone();
    Note("UploadMesh", upload->Finish());
    upload_ = info.reference();
  }
  void Sessions() {
    v1::CreateSessionRequest create;
    create.set_scene(scene_);
    create.set_record(true);
    session_ = Call("CreateSession", &Stub::CreateSession, create).name();
    Call("GetSession", &Stub::GetSession, InSession<v1::GetSessionRequest>(session_));
    Call("ListSessions", &Stub::ListSessions, v1::ListSessionsRequest());
    const auto fork = Call("ForkSession", &Stub::ForkSession, InSession<v1::ForkSessionRequest>(session_));
    Call("DeleteSession", &Stub::DeleteSession, InSession<v1::DeleteSessionRequest>(fork.name()));
  }
  void Steps() {
    Call("Step", &Stub::Step, StepOf());
    Call("StepBatch", &Stub::StepBatch, Batch());
    {
      Context context;
      const auto stream = stub_->StepStream(&context);
      v1::StepResponse response;
      for (int i = 0; i < 3 && stream->Write(StepOf()) && stream->Read(&response); ++i) {
        Note("StepStream", grpc::Status(static_cast<grpc::StatusCode>(response.status_code()), response.status_message()));
      }
      stream->WritesDone();
      Note("StepStream", stream->Finish());
    }
    Call("GetState", &Stub::GetState, InSession<v1::GetStateRequest>(session_));
    {
      Context context;
      const auto recording = stub_->GetRecording(&context, InSession<v1::GetRecordingRequest>(session_));
      v1::DataChunk chunk;
      int64_t bytes = 0;
      while (recording->Read(&chunk)) bytes += static_cast<int64_t>(chunk.data().size());
      Note("GetRecording", recording->Finish());
      if (bytes == 0) Note("GetRecording", grpc::Status(grpc::StatusCode::DATA_LOSS, "an empty recording"));
    }
    Call("Reset", &Stub::Reset, InSession<v1::ResetRequest>(session_));
  }
  v1::StepBatchRequest Batch() const {
    v1::StepBatchRequest request = InSession<v1::StepBatchRequest>(session_);
    *request.add_steps() = StepOf();
    return request;
  }
  void Snapshots() {
    const auto snapshot = Call("CreateSnapshot", &Stub::CreateSnapshot, InSession<v1::CreateSnapshotRequest>(session_));
    Call("GetSnapshot", &Stub::GetSnapshot, Named<v1::GetSnapshotRequest>(snapshot.name()));
    Call("ListSnapshots", &Stub::ListSnapshots, v1::ListSnapshotsRequest());
    auto restore = InSession<v1::RestoreSessionRequest>(session_);
    restore.set_snapshot(snapshot.name());
    Call("RestoreSession", &Stub::RestoreSession, restore);
    Call("DeleteSnapshot", &Stub::DeleteSnapshot, Named<v1::DeleteSnapshotRequest>(snapshot.name()));
  }
  void Operations() {
    v1::CreateSceneRequest scene;
    *scene.mutable_scene() = FallingBlock();
    EndOperation(Call("StartCreateScene", &Stub::StartCreateScene, scene).name());
    EndOperation(Call("StartStepBatch", &Stub::StartStepBatch, Batch()).name());
    v1::PrepareMeshRequest prepare;
    prepare.mutable_mesh()->set_file(upload_);
    const std::string prepared = Call("StartPrepareMesh", &Stub::StartPrepareMesh, prepare).name();
    Call("ListOperations", &Stub::ListOperations, v1::ListOperationsRequest());
    Call("CancelOperation", &Stub::CancelOperation, Named<v1::CancelOperationRequest>(prepared));
    EndOperation(prepared);
  }
  void EndOperation(const std::string& name) {
    auto get = Named<v1::GetOperationRequest>(name);
    get.set_wait_s(60);
    Call("GetOperation", &Stub::GetOperation, get);
    Call("DeleteOperation", &Stub::DeleteOperation, Named<v1::DeleteOperationRequest>(name));
  }
  void Leave() {
    Call("DeleteSession", &Stub::DeleteSession, InSession<v1::DeleteSessionRequest>(session_));
    Call("DeleteScene", &Stub::DeleteScene, Named<v1::DeleteSceneRequest>(scene_));
  }

  const std::unique_ptr<Stub> stub_;
  std::string scene_, session_, upload_;
  std::map<std::string, grpc::Status> statuses_;
};

}  // namespace

std::set<std::string> CallsOfTheService() {
  const auto* service = google::protobuf::DescriptorPool::generated_pool()->FindServiceByName("eipc.v1.SimulationService");
  std::set<std::string> names;
  for (int i = 0; i < service->method_count(); ++i) names.insert(service->method(i)->name());
  return names;
}

std::map<std::string, grpc::Status> MakeEveryCall(const std::shared_ptr<grpc::Channel>& channel) { return Round(channel).Run(); }

}  // namespace eipc::testing
