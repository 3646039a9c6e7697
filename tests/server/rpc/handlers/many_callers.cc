#include "tests/server/rpc/handlers/many_callers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/session/access.h"
#include "server/session/checksum.h"
#include "tests/conformance/test_scenes.h"

namespace eipc::rpc::testing {

v1::Scene RandomScene(Engine* random) {
  const int which = static_cast<int>((*random)() % kScenes);
  if (which == 0) return eipc::testing::DrivenBlock();
  v1::Scene scene = eipc::testing::BlockOnTable();
  scene.mutable_bodies(0)->mutable_material()->set_density_kg_m3(1000 + which);
  return scene;
}

Caller::Caller(Services* services, Ledger* ledger, Digests* digests, std::string tenant, StepBudget budget, uint64_t seed)
    : services_(*services), ledger_(ledger), digests_(digests), context_(std::move(budget)), random_(seed) {
  context_.tenant = std::move(tenant);
}

void Caller::Act() {
  using Action = void (Caller::*)();
  static const std::vector<Action> all = {
      &Caller::MakeScene,   &Caller::SeeScenes,     &Caller::DropScene,    &Caller::MakeSession,   &Caller::StartFromSnapshot,
      &Caller::Fork,        &Caller::TakeStep,      &Caller::TakeStream,   &Caller::TakeBatch,     &Caller::TakeReset,
      &Caller::TakeRestore, &Caller::SeeState,      &Caller::SeeSessions,  &Caller::DropSession,   &Caller::DropWhatAppears,
      &Caller::Reap,        &Caller::MakeSnapshot,  &Caller::SeeSnapshots, &Caller::DropSnapshot,  &Caller::StartScene,
      &Caller::StartBatch,  &Caller::SeeOperations, &Caller::EndOperation, &Caller::ReadRecording, &Caller::Upload,
  };
  // More often: what meets most of the others.
  static const std::vector<Action> busy = {&Caller::MakeSession, &Caller::TakeStep, &Caller::TakeBatch, &Caller::DropWhatAppears};
  const std::vector<Action>& actions = Chance(3) ? busy : all;
  (this->*actions[random_() % actions.size()])();
}

template <typename Request, typename Response>
bool Caller::Call(const char* name, absl::Status (*call)(Services&, const CallContext&, const Request&, Response*),
                  const Request& request, Response* response) {
  return Check(name, call(services_, context_, request, response));
}

bool Caller::Check(const char* name, const absl::Status& status) {
  if (status.ok()) return true;
  switch (status.code()) {
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kCancelled:
    case absl::StatusCode::kResourceExhausted:
      return false;
    case absl::StatusCode::kUnavailable:
      EXPECT_TRUE(absl::StartsWith(status.message(), "SERVER_STOPPING: ")) << name << ": " << status;
      return false;
    case absl::StatusCode::kFailedPrecondition:
      EXPECT_TRUE(absl::StartsWith(status.message(), "SCENE_IN_USE: ") ||
                  absl::StartsWith(status.message(), "OPERATION_RUNNING: ") || absl::StartsWith(status.message(), "NOT_RECORDED: "))
          << name << ": " << status;
      return false;
    default:
      ADD_FAILURE() << name << ": " << status;
      return false;
  }
}

bool Caller::CheckSession(const char* name, const std::string& session, const absl::Status& status) {
  if (!session.empty() && (absl::IsNotFound(status) || absl::StartsWith(status.message(), "SESSION_DELETED: "))) {
    EXPECT_TRUE(ledger_->Doomed(session)) << name << ": nobody deleted " << session << ", but: " << status;
  }
  return Check(name, status);
}

void Caller::Note(const std::string& session, const v1::Observation& observation) {
  digests_->Saw(ledger_->SceneOf(session), observation.step(), observation.state_digest());
}

v1::StepRequest Caller::StepOf(const std::string& session) {
  v1::StepRequest request;
  request.set_session(session);
  request.set_dt_s(kDt);
  request.set_substeps(1 + static_cast<int>(random_() % 2));
  request.mutable_observe()->set_state_digest(true);
  if (Chance(2)) request.set_request_id(absl::StrCat("r", random_()));
  return request;
}

v1::StepBatchRequest Caller::BatchOf(const std::string& session) {
  v1::StepBatchRequest request;
  request.set_session(session);
  v1::GetSessionRequest get;
  get.set_session(session);
  v1::SessionInfo info;
  (void)GetSession(services_, context_, get, &info);
  for (int world = 0; world < std::max(1, info.worlds()); ++world) {
    v1::StepRequest& step = *request.add_steps() = StepOf(session);
    step.set_world(world);
    step.clear_request_id();
  }
  if (Chance(2)) request.set_request_id(absl::StrCat("b", random_()));
  return request;
}

v1::CreateSessionRequest Caller::SessionOf(const std::string& scene) {
  v1::CreateSessionRequest request;
  request.set_scene(scene);
  request.set_threads(1 + static_cast<int>(random_() % 2));
  request.set_worlds(1 + static_cast<int>(random_() % 3));
  request.set_record(Chance(2));
  if (Chance(3)) request.set_idle_timeout_s(3600);
  return request;
}

void Caller::MakeScene() {
  v1::CreateSceneRequest request;
  *request.mutable_scene() = RandomScene(&random_);
  v1::SceneInfo info;
  if (Call("CreateScene", CreateScene, request, &info)) ledger_->Add("scene", info.name());
}

void Caller::SeeScenes() {
  v1::GetSceneRequest get;
  get.set_name(Any("scene"));
  get.set_include_topology(true);
  v1::SceneInfo info;
  if (Call("GetScene", GetScene, get, &info)) {
    EXPECT_EQ(info.name(), get.name());
  }
  v1::ListScenesResponse list;
  Call("ListScenes", ListScenes, {}, &list);
  v1::ServerInfo server;
  Call("GetServerInfo", GetServerInfo, {}, &server);
}

void Caller::DropScene() {
  v1::DeleteSceneRequest request;
  request.set_name(Any("scene"));
  Empty empty;
  Call("DeleteScene", DeleteScene, request, &empty);
}

void Caller::MakeSession() {
  const v1::CreateSessionRequest request = SessionOf(Any("scene"));
  v1::SessionInfo info;
  if (!Call("CreateSession", CreateSession, request, &info)) return;
  EXPECT_EQ(info.scene(), request.scene());
  EXPECT_EQ(info.step(), 0);
  ledger_->AddSession(info.name(), info.scene(), info.idle_timeout_s() > 0);
  // Most live shortly: some steps before others see them.
  for (int i = 0; i < 2; ++i) TakeStepOf(info.name());
}

void Caller::StartFromSnapshot() {
  v1::GetSnapshotRequest get;
  get.set_name(Any("snapshot"));
  v1::SnapshotInfo snapshot;
  if (!Call("GetSnapshot", GetSnapshot, get, &snapshot)) return;
  v1::CreateSessionRequest request = SessionOf(snapshot.scene());
  request.set_snapshot(snapshot.name());
  v1::SessionInfo info;
  if (Call("CreateSession", CreateSession, request, &info)) {
    ledger_->AddSession(info.name(), info.scene(), info.idle_timeout_s() > 0);
  }
}

void Caller::Fork() {
  v1::ForkSessionRequest request;
  request.set_session(Any("session"));
  request.set_record(Chance(2));
  v1::SessionInfo info;
  if (Call("ForkSession", ForkSession, request, &info)) ledger_->AddSession(info.name(), info.scene(), false);
}

void Caller::TakeStep() { TakeStepOf(Any("session")); }

void Caller::TakeStepOf(const std::string& session) {
  const v1::StepRequest request = StepOf(session);
  v1::StepResponse response;
  if (!CheckSession("Step", request.session(), Step(services_, context_, request, &response))) return;
  EXPECT_EQ(response.session_step(), response.observation().step());
  Note(request.session(), response.observation());
}

void Caller::TakeStream() {
  const std::string session = Any("session");
  const int wanted = static_cast<int>(random_() % 4);
  for (int i = 0; i < wanted; ++i) {
    v1::StepResponse response;
    AnswerStep(services_, context_, StepOf(session), &response);
    const absl::Status status(static_cast<absl::StatusCode>(response.status_code()), response.status_message());
    if (CheckSession("StepStream", session, status)) Note(session, response.observation());
  }
}

void Caller::TakeBatch() {
  const v1::StepBatchRequest request = BatchOf(Any("session"));
  v1::StepBatchResponse response;
  if (!CheckSession("StepBatch", request.session(), StepBatch(services_, context_, request, &response))) return;
  EXPECT_EQ(response.responses_size(), request.steps_size());
  for (const v1::StepResponse& each : response.responses()) {
    const absl::Status status(static_cast<absl::StatusCode>(each.status_code()), each.status_message());
    if (CheckSession("StepBatch", request.session(), status)) Note(request.session(), each.observation());
  }
}

void Caller::TakeReset() {
  v1::ResetRequest request;
  request.set_session(Any("session"));
  request.mutable_observe()->set_state_digest(true);
  v1::Observation observation;
  if (!CheckSession("Reset", request.session(), Reset(services_, context_, request, &observation))) return;
  EXPECT_EQ(observation.step(), 0);
  Note(request.session(), observation);
}

void Caller::TakeRestore() {
  v1::GetSnapshotRequest get;
  get.set_name(Any("snapshot"));
  get.set_include_data(Chance(2));
  v1::SnapshotInfo snapshot;
  if (!Call("GetSnapshot", GetSnapshot, get, &snapshot)) return;
  v1::RestoreSessionRequest request;
  request.set_session(Any("session"));
  if (ledger_->SceneOf(request.session()) != snapshot.scene()) return;
  if (get.include_data()) {
    request.set_snapshot_data(snapshot.data());
  } else {
    request.set_snapshot(snapshot.name());
  }
  request.mutable_observe()->set_state_digest(true);
  v1::Observation observation;
  if (!Call("RestoreSession", RestoreSession, request, &observation)) return;
  EXPECT_EQ(observation.state_digest(), snapshot.state_digest());
  Note(request.session(), observation);
}

void Caller::SeeState() {
  v1::GetStateRequest request;
  request.set_session(Any("session"));
  request.mutable_observe()->set_state_digest(true);
  request.mutable_observe()->set_surface_positions(true);
  v1::Observation observation;
  if (CheckSession("GetState", request.session(), GetState(services_, context_, request, &observation))) {
    Note(request.session(), observation);
  }
}

void Caller::SeeSessions() {
  v1::GetSessionRequest request;
  request.set_session(Any("session"));
  v1::SessionInfo info;
  CheckSession("GetSession", request.session(), GetSession(services_, context_, request, &info));
  v1::ListSessionsResponse list;
  Call("ListSessions", ListSessions, {}, &list);
}

void Caller::DropSession() {
  v1::DeleteSessionRequest request;
  request.set_session(Any("session"));
  ledger_->Doom(request.session());
  Empty empty;
  Call("DeleteSession", DeleteSession, request, &empty);
}

// Deletes a session that a list shows: its creator may not have its answer yet.
void Caller::DropWhatAppears() {
  v1::ListSessionsResponse list;
  if (!Call("ListSessions", ListSessions, {}, &list) || list.sessions().empty()) return;
  v1::DeleteSessionRequest request;
  request.set_session(list.sessions(static_cast<int>(random_() % list.sessions_size())).name());
  ledger_->Doom(request.session());
  Empty empty;
  Call("DeleteSession", DeleteSession, request, &empty);
}

// Two hours from now, so that every session that has a timeout (an hour) and is not in use goes.
void Caller::Reap() { services_.ReapIdleSessions(std::chrono::steady_clock::now() + std::chrono::hours(2)); }

void Caller::MakeSnapshot() {
  v1::CreateSnapshotRequest request;
  request.set_session(Any("session"));
  request.set_include_data(Chance(2));
  v1::SnapshotInfo info;
  if (!CheckSession("CreateSnapshot", request.session(), CreateSnapshot(services_, context_, request, &info))) return;
  digests_->Saw(info.scene(), info.step(), info.state_digest());
  ledger_->Add("snapshot", info.name());
}

void Caller::SeeSnapshots() {
  v1::GetSnapshotRequest get;
  get.set_name(Any("snapshot"));
  v1::SnapshotInfo info;
  if (Call("GetSnapshot", GetSnapshot, get, &info)) digests_->Saw(info.scene(), info.step(), info.state_digest());
  v1::ListSnapshotsResponse list;
  Call("ListSnapshots", ListSnapshots, {}, &list);
}

void Caller::DropSnapshot() {
  v1::DeleteSnapshotRequest request;
  request.set_name(Any("snapshot"));
  Empty empty;
  Call("DeleteSnapshot", DeleteSnapshot, request, &empty);
}

void Caller::StartScene() {
  v1::CreateSceneRequest request;
  *request.mutable_scene() = RandomScene(&random_);
  v1::Operation operation;
  if (Call("StartCreateScene", StartCreateScene, request, &operation)) ledger_->Add("operation", operation.name());
}

void Caller::StartBatch() {
  v1::Operation operation;
  if (Call("StartStepBatch", StartStepBatch, BatchOf(Any("session")), &operation)) ledger_->Add("operation", operation.name());
}

void Caller::SeeOperations() {
  v1::GetOperationRequest get;
  get.set_name(Any("operation"));
  get.set_wait_s(Chance(2) ? 1e-3 : 0);
  v1::Operation operation;
  if (Call("GetOperation", GetOperation, get, &operation) && operation.done()) {
    Check("operation", absl::Status(static_cast<absl::StatusCode>(operation.status_code()), operation.status_message()));
  }
  v1::ListOperationsResponse list;
  Call("ListOperations", ListOperations, {}, &list);
}

void Caller::EndOperation() {
  v1::CancelOperationRequest cancel;
  cancel.set_name(Any("operation"));
  v1::Operation operation;
  if (Chance(2)) Call("CancelOperation", CancelOperation, cancel, &operation);
  v1::DeleteOperationRequest request;
  request.set_name(cancel.name());
  Empty empty;
  Call("DeleteOperation", DeleteOperation, request, &empty);
}

void Caller::ReadRecording() {
  v1::GetRecordingRequest request;
  request.set_session(Any("session"));
  const auto recording = GetRecording(services_, context_, request);
  if (!CheckSession("GetRecording", request.session(), recording.status())) return;
  int64_t bytes = 0;
  v1::DataChunk piece;
  while (NextPiece(recording->bytes, &piece)) {
    EXPECT_EQ(piece.offset(), bytes);
    bytes += static_cast<int64_t>(piece.data().size());
  }
  EXPECT_EQ(bytes, static_cast<int64_t>(recording->bytes.size()));
}

void Caller::Upload() {
  const std::string file =
      absl::StrCat("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 ", 1 + random_() % 3, "\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n");
  v1::UploadMeshRequest request;
  request.set_file_name("tet.obj");
  request.set_total_bytes(static_cast<int64_t>(file.size()));
  request.set_sha256(Sha256Hex(file));
  request.set_data(file);
  request.set_crc32(Crc32(file));
  MeshUpload upload(&services_, context_.tenant);
  v1::MeshInfo info;
  absl::Status status = upload.Add(request);
  if (status.ok()) status = upload.Finish(&info);
  if (Check("UploadMesh", status)) {
    EXPECT_EQ(info.triangles(), 4);
  }
}

}  // namespace eipc::rpc::testing
