// Snapshots, forks, batches, trajectories, receipts, recordings and lists, without gRPC.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "server/rpc/handlers/calls.h"
#include "server/session/build_id.h"
#include "server/session/checksum.h"
#include "sim/dynamics/integrators.h"
#include "tests/conformance/test_scenes.h"

namespace eipc::rpc {
namespace {

using testing::BlockOnTable;
using testing::DrivenBlock;
using testing::FallingBlock;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class SnapshotCallsTest : public ::testing::Test {
 protected:
  explicit SnapshotCallsTest(const ServerLimits& limits = {}) : services_(limits, MeshResolver({"", "", true})) {}

  template <typename Request, typename Response>
  absl::StatusOr<Response> Ask(absl::Status (*call)(Services&, const CallContext&, const Request&, Response*),
                               const Request& request, const std::string& tenant = "") {
    CallContext context;
    context.tenant = tenant;
    Response response;
    const absl::Status status = call(services_, context, request, &response);
    if (!status.ok()) return status;
    return response;
  }
  std::string NewScene(const v1::Scene& scene, const std::string& tenant = "") {
    v1::CreateSceneRequest request;
    *request.mutable_scene() = scene;
    const auto info = Ask(CreateScene, request, tenant);
    EXPECT_TRUE(info.ok()) << info.status();
    return info->name();
  }
  v1::CreateSessionRequest Of(const v1::Scene& scene, int worlds = 1, const std::string& tenant = "") {
    v1::CreateSessionRequest request;
    request.set_scene(NewScene(scene, tenant));
    request.set_worlds(worlds);
    return request;
  }
  std::string NewSession(const v1::CreateSessionRequest& request, const std::string& tenant = "") {
    const auto info = Ask(CreateSession, request, tenant);
    EXPECT_TRUE(info.ok()) << info.status();
    return info.ok() ? info->name() : "";
  }
  static v1::StepRequest Steps(const std::string& session, int substeps = 1, int world = 0) {
    v1::StepRequest request;
    request.set_session(session);
    request.set_dt_s(0.01);
    request.set_substeps(substeps);
    request.set_world(world);
    request.mutable_observe()->set_state_digest(true);
    return request;
  }
  std::string StepTo(const std::string& session, int substeps, int world = 0) {
    const auto response = Ask(Step, Steps(session, substeps, world));
    EXPECT_TRUE(response.ok()) << response.status();
    return response.ok() ? response->observation().state_digest() : "";
  }
  std::string Digest(const std::string& session, int world = 0) {
    v1::GetStateRequest request;
    request.set_session(session);
    request.set_world(world);
    request.mutable_observe()->set_state_digest(true);
    const auto observation = Ask(GetState, request);
    EXPECT_TRUE(observation.ok()) << observation.status();
    return observation.ok() ? observation->state_digest() : "";
  }
  v1::SnapshotInfo Snapshot(const std::string& session, bool data = false) {
    v1::CreateSnapshotRequest request;
    request.set_session(session);
    request.set_include_data(data);
    const auto info = Ask(CreateSnapshot, request);
    EXPECT_TRUE(info.ok()) << info.status();
    return *info;
  }

  Services services_;
};

TEST_F(SnapshotCallsTest, ARestoredSessionGoesOnBitForBit) {
  const std::string session = NewSession(Of(BlockOnTable()));
  StepTo(session, 30);
  const v1::SnapshotInfo snapshot = Snapshot(session, true);
  EXPECT_EQ(snapshot.step(), 30);
  EXPECT_EQ(snapshot.state_digest(), Digest(session));
  EXPECT_EQ(snapshot.build(), BuildId());
  EXPECT_EQ(snapshot.size_bytes(), static_cast<int64_t>(snapshot.data().size()));
  const std::string end = StepTo(session, 20);

  v1::RestoreSessionRequest restore;
  restore.set_session(session);
  restore.set_snapshot(snapshot.name());
  restore.mutable_observe()->set_state_digest(true);
  EXPECT_EQ(Ask(RestoreSession, restore)->state_digest(), snapshot.state_digest());
  EXPECT_EQ(StepTo(session, 20), end);

  // From bytes, in a server that knows nothing but the scene, with other threads.
  Services other(ServerLimits(), MeshResolver({"", "", true}));
  v1::CreateSceneRequest scene;
  *scene.mutable_scene() = BlockOnTable();
  v1::SceneInfo scene_info;
  ASSERT_TRUE(CreateScene(other, {}, scene, &scene_info).ok());
  v1::CreateSessionRequest create;
  create.set_scene(scene_info.name());
  create.set_threads(2);
  create.set_snapshot_data(snapshot.data());
  v1::SessionInfo info;
  ASSERT_TRUE(CreateSession(other, {}, create, &info).ok());
  EXPECT_EQ(info.step(), 30);
  v1::StepResponse response;
  ASSERT_TRUE(Step(other, {}, Steps(info.name(), 20), &response).ok());
  EXPECT_EQ(response.observation().state_digest(), end);
}

TEST_F(SnapshotCallsTest, SnapshotsAreRefusedWithReasons) {
  const std::string session = NewSession(Of(FallingBlock()));
  std::string data = Snapshot(session, true).data();
  v1::RestoreSessionRequest restore;
  restore.set_session(NewSession(Of(BlockOnTable())));
  restore.set_snapshot_data(data);
  EXPECT_THAT(std::string(Ask(RestoreSession, restore).status().message()),
              StartsWith("SNAPSHOT_FOREIGN: the snapshot is of scene"));
  data[data.size() / 2] ^= 1;
  restore.set_session(session);
  restore.set_snapshot_data(data);
  EXPECT_THAT(std::string(Ask(RestoreSession, restore).status().message()), StartsWith("SNAPSHOT_CORRUPT: "));
  restore.set_snapshot("snapshots/nope");
  EXPECT_THAT(std::string(Ask(RestoreSession, restore).status().message()), StartsWith("SNAPSHOT_NOT_FOUND: "));
  restore.clear_source();
  EXPECT_EQ(Ask(RestoreSession, restore).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(SnapshotCallsTest, AForkIsManyCopiesThatGoTheirOwnWays) {
  const std::string session = NewSession(Of(BlockOnTable()));
  const std::string start = StepTo(session, 10);
  v1::ForkSessionRequest fork;
  fork.set_session(session);
  fork.set_worlds(3);
  const auto forked = Ask(ForkSession, fork);
  ASSERT_TRUE(forked.ok()) << forked.status();
  EXPECT_EQ(forked->worlds(), 3);
  EXPECT_EQ(forked->step(), 10);
  for (int world = 0; world < 3; ++world) EXPECT_EQ(Digest(forked->name(), world), start);
  const std::string next = StepTo(session, 5);
  EXPECT_EQ(StepTo(forked->name(), 5, 2), next);
  EXPECT_EQ(Digest(forked->name(), 1), start);
  fork.set_world(1);
  EXPECT_EQ(Ask(ForkSession, fork).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(SnapshotCallsTest, AForkGoesOnBitForBitUnderEveryIntegrator) {
  for (const Scheme& row : Integrators()) {
    v1::Scene scene = FallingBlock();
    auto integrator = v1::SolverSettings::INTEGRATOR_UNSPECIFIED;
    ASSERT_TRUE(v1::SolverSettings::Integrator_Parse(std::string(row.name), &integrator)) << row.name;
    scene.mutable_solver()->set_integrator(integrator);
    const std::string session = NewSession(Of(scene));
    const std::string start = StepTo(session, 12);  // it has landed
    v1::ForkSessionRequest fork;
    fork.set_session(session);
    const auto forked = Ask(ForkSession, fork);
    ASSERT_TRUE(forked.ok()) << row.name << forked.status();
    EXPECT_EQ(Digest(forked->name()), start) << row.name;
    const std::string next = StepTo(session, 4);
    EXPECT_NE(next, start) << row.name;
    EXPECT_EQ(Digest(forked->name()), start) << row.name;
    EXPECT_EQ(StepTo(forked->name(), 4), next) << row.name;
  }
}

TEST_F(SnapshotCallsTest, ABatchStepsWorldsWithAStatusEach) {
  const std::string session = NewSession(Of(FallingBlock(), 4));
  v1::StepBatchRequest batch;
  batch.set_session(session);
  batch.set_request_id("one");
  for (const int world : {2, 0, 3}) {
    *batch.add_steps() = Steps("", world + 1, world);
  }
  batch.mutable_steps(1)->set_dt_s(-1);
  batch.mutable_steps(2)->set_expected_step(7);
  const auto response = Ask(StepBatch, batch);
  ASSERT_TRUE(response.ok()) << response.status();
  ASSERT_EQ(response->responses_size(), 3);
  EXPECT_EQ(response->responses(0).status_code(), 0);
  EXPECT_EQ(response->responses(0).observation().step(), 3);
  EXPECT_EQ(response->responses(1).status_code(), static_cast<int>(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(response->responses(1).session_step(), 0);
  EXPECT_EQ(response->responses(2).status_code(), static_cast<int>(absl::StatusCode::kAborted));
  // Alone, a world gives the same bits.
  EXPECT_EQ(response->responses(0).observation().state_digest(), StepTo(NewSession(Of(FallingBlock())), 3));

  // A retry answers the same and moves nothing; another request under its id is refused.
  EXPECT_EQ(Ask(StepBatch, batch)->SerializeAsString(), response->SerializeAsString());
  EXPECT_EQ(Digest(session, 2), response->responses(0).observation().state_digest());
  batch.mutable_steps(0)->set_substeps(2);
  EXPECT_THAT(std::string(Ask(StepBatch, batch).status().message()), StartsWith("REQUEST_ID_REUSED"));

  batch.clear_request_id();
  batch.mutable_steps(1)->set_world(2);
  EXPECT_THAT(std::string(Ask(StepBatch, batch).status().message()), HasSubstr("steps[1].world: has a request"));
  batch.mutable_steps(1)->set_world(4);
  EXPECT_THAT(std::string(Ask(StepBatch, batch).status().message()), HasSubstr("steps[1].world: must be in [0, 3]"));
}

// A batch whose caller gives up before its end: what is repeated under its id steps the worlds that were not stepped, and no other.
TEST_F(SnapshotCallsTest, ABatchThatWasCutShortStepsNoWorldTwice) {
  ServerLimits limits;
  limits.solve_slots = 1;  // one world after the other
  Services services(limits, MeshResolver({"", "", true}));
  v1::CreateSceneRequest scene;
  *scene.mutable_scene() = FallingBlock();
  v1::SceneInfo scene_info;
  ASSERT_TRUE(CreateScene(services, {}, scene, &scene_info).ok());
  v1::CreateSessionRequest create;
  create.set_scene(scene_info.name());
  create.set_worlds(2);
  v1::SessionInfo session;
  ASSERT_TRUE(CreateSession(services, {}, create, &session).ok());
  const std::shared_ptr<const Session> peek = services.sessions.Peek(session.name());
  v1::StepBatchRequest batch;
  batch.set_session(session.name());
  batch.set_request_id("one");
  *batch.add_steps() = Steps("", 1, 0);
  *batch.add_steps() = Steps("", 6, 1);
  StepBudget gives_up;
  bool gone = false;
  gives_up.cancelled = [&] { return gone = gone || peek->world(1).state().step >= 3; };
  v1::StepBatchResponse response;
  const absl::Status cut = StepBatch(services, gives_up, batch, &response);
  EXPECT_EQ(cut.code(), absl::StatusCode::kCancelled);
  EXPECT_THAT(std::string(cut.message()), HasSubstr("1 of 2 worlds were stepped"));
  EXPECT_EQ(peek->world(0).state().step, 1);
  EXPECT_EQ(peek->world(1).state().step, 0);  // all or nothing
  v1::StepBatchRequest other = batch;
  other.mutable_steps(1)->set_substeps(5);
  EXPECT_THAT(std::string(StepBatch(services, {}, other, &response).message()), StartsWith("REQUEST_ID_REUSED"));
  response.Clear();
  ASSERT_TRUE(StepBatch(services, {}, batch, &response).ok());
  EXPECT_EQ(response.responses(0).observation().step(), 1);
  EXPECT_EQ(response.responses(1).observation().step(), 6);
  EXPECT_EQ(peek->world(0).state().step, 1);
  v1::StepBatchResponse again;
  ASSERT_TRUE(StepBatch(services, {}, batch, &again).ok());
  EXPECT_EQ(again.SerializeAsString(), response.SerializeAsString());
  EXPECT_EQ(peek->world(1).state().step, 6);
}

TEST_F(SnapshotCallsTest, SetpointsMoveFramesDuringARequest) {
  const std::string session = NewSession(Of(DrivenBlock()));
  v1::StepRequest request = Steps(session, 10);
  request.mutable_observe()->set_boundary_poses(true);
  v1::TargetTrajectory& plate = *request.add_trajectories();
  plate.set_body("plate");
  v1::Keyframe& first = *plate.mutable_trajectory()->add_keyframes();
  first.mutable_pose()->mutable_position_m()->set_x(1);
  v1::Keyframe& last = *plate.mutable_trajectory()->add_keyframes();
  last.set_time_s(0.05);
  last.mutable_pose()->mutable_position_m()->set_x(1.02);
  const auto together = Ask(Step, request);
  ASSERT_TRUE(together.ok()) << together.status();

  // The same as a target a step, each the pose at the end of it.
  const std::string apart = NewSession(Of(DrivenBlock()));
  std::string digest;
  for (int i = 1; i <= 10; ++i) {
    v1::StepRequest one = Steps(apart);
    v1::TargetPose& target = *one.add_targets();
    target.set_body("plate");
    const double s = i * 0.01 / 0.05;
    target.mutable_pose()->mutable_position_m()->set_x(s < 1 ? (1 - s) * 1.0 + s * 1.02 : 1.02);
    digest = Ask(Step, one)->observation().state_digest();
  }
  EXPECT_EQ(together->observation().state_digest(), digest);

  v1::TargetPose& both = *request.add_targets();
  both.set_body("plate");
  both.mutable_pose();
  EXPECT_THAT(std::string(Ask(Step, request).status().message()), HasSubstr("trajectories[0]: this frame has a target"));
  request.clear_targets();
  request.mutable_trajectories(0)->mutable_trajectory()->mutable_keyframes(1)->set_time_s(0);
  EXPECT_THAT(std::string(Ask(Step, request).status().message()), HasSubstr("keyframes[1].time_s: must be later"));
  request.mutable_trajectories(0)->clear_trajectory();
  EXPECT_THAT(std::string(Ask(Step, request).status().message()), HasSubstr("must have at least one keyframe"));
}

TEST_F(SnapshotCallsTest, AReceiptSumsUpTheRequest) {
  const std::string session = NewSession(Of(BlockOnTable()));
  v1::StepRequest request = Steps(session, 40);
  request.mutable_observe()->set_step_receipt(true);
  const auto response = Ask(Step, request);
  ASSERT_TRUE(response.ok()) << response.status();
  const v1::StepReceipt& receipt = response->observation().step_receipt();
  EXPECT_EQ(receipt.first_step(), 0);
  EXPECT_EQ(receipt.step(), 40);
  EXPECT_EQ(receipt.build(), BuildId());
  EXPECT_EQ(receipt.state_digest(), response->observation().state_digest());
  EXPECT_EQ(receipt.outcome(), v1::CONVERGED);
  EXPECT_GE(receipt.newton_iterations(), 40);
  EXPECT_GT(receipt.min_distance_m(), 0);
  EXPECT_LT(receipt.min_distance_m(), 1e-3);  // it has touched the table
  EXPECT_GT(receipt.min_ccd_fraction(), 0);

  // The worst over the steps, taken one by one.
  const std::string apart = NewSession(Of(BlockOnTable()));
  double min_distance = 1, residual = 0;
  int iterations = 0;
  for (int i = 0; i < 40; ++i) {
    v1::StepRequest one = Steps(apart);
    one.mutable_observe()->set_step_receipt(true);
    const v1::StepReceipt part = Ask(Step, one)->observation().step_receipt();
    min_distance = std::min(min_distance, part.min_distance_m());
    residual = std::max(residual, part.residual_m_s());
    iterations += part.newton_iterations();
  }
  EXPECT_EQ(receipt.min_distance_m(), min_distance);
  EXPECT_EQ(receipt.residual_m_s(), residual);
  EXPECT_EQ(receipt.newton_iterations(), iterations);
}

TEST_F(SnapshotCallsTest, RecordingsComeInCheckedPieces) {
  v1::CreateSessionRequest create = Of(FallingBlock());
  v1::GetRecordingRequest request;
  request.set_session(NewSession(create));
  EXPECT_THAT(std::string(GetRecording(services_, {}, request).status().message()), StartsWith("NOT_RECORDED: "));
  create.set_record(true);
  const std::string session = NewSession(create);
  StepTo(session, 5);
  request.set_session(session);
  const auto recording = GetRecording(services_, {}, request);
  ASSERT_TRUE(recording.ok());
  std::string bytes;
  v1::DataChunk piece;
  while (NextPiece(recording->bytes, &piece)) {
    EXPECT_EQ(piece.offset(), static_cast<int64_t>(bytes.size()));
    EXPECT_EQ(piece.total_bytes(), static_cast<int64_t>(recording->bytes.size()));
    EXPECT_EQ(piece.crc32(), Crc32(piece.data()));
    bytes += piece.data();
  }
  EXPECT_EQ(bytes, recording->bytes);
  LogReader reader(bytes);
  const auto header = reader.Next();
  ASSERT_TRUE(header.ok() && header->has_value());
  v1::Scene scene;
  EXPECT_TRUE(scene.ParseFromString(std::get<LogHeader>(**header).payload));
  EXPECT_EQ(scene.display_name(), "falling block");
}

TEST_F(SnapshotCallsTest, ListsComeInPages) {
  const v1::CreateSessionRequest create = Of(FallingBlock());
  std::set<std::string> names, seen;
  for (int i = 0; i < 5; ++i) names.insert(NewSession(create));
  v1::ListSessionsRequest request;
  request.set_page_size(2);
  int pages = 0;
  do {
    const auto page = Ask(ListSessions, request);
    ASSERT_TRUE(page.ok());
    for (const v1::SessionInfo& info : page->sessions()) seen.insert(info.name());
    request.set_page_token(page->next_page_token());
    ++pages;
  } while (!request.page_token().empty());
  EXPECT_EQ(pages, 3);
  EXPECT_EQ(seen, names);
  for (int i = 0; i < 3; ++i) Snapshot(*names.begin());
  v1::ListSnapshotsRequest snapshots;
  snapshots.set_page_size(2);
  const auto page = Ask(ListSnapshots, snapshots);
  EXPECT_EQ(page->snapshots_size(), 2);
  snapshots.set_page_token(page->next_page_token());
  EXPECT_EQ(Ask(ListSnapshots, snapshots)->snapshots_size(), 1);
}

TEST_F(SnapshotCallsTest, ValidatingASessionCreatesNone) {
  v1::CreateSessionRequest create = Of(FallingBlock(), 7);
  create.set_validate_only(true);
  const auto info = Ask(CreateSession, create);
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_EQ(info->name(), "");
  EXPECT_EQ(info->worlds(), 7);
  EXPECT_EQ(Ask(ListSessions, v1::ListSessionsRequest())->sessions_size(), 0);
  create.set_worlds(100000);
  EXPECT_EQ(Ask(CreateSession, create).status().code(), absl::StatusCode::kInvalidArgument);
  create.set_worlds(1);
  create.set_idle_timeout_s(std::nan(""));
  EXPECT_EQ(Ask(CreateSession, create).status().code(), absl::StatusCode::kInvalidArgument);
}

// One tenant's things do not exist for another: the same error as for a name that never was.
TEST_F(SnapshotCallsTest, TenantsSeeNothingOfEachOther) {
  const std::string session = NewSession(Of(FallingBlock(), 1, "a"), "a");
  v1::StepRequest step = Steps(session);
  EXPECT_TRUE(Ask(Step, step, "a").ok());
  const absl::Status theirs = Ask(Step, step, "b").status();
  v1::StepRequest never = Steps("sessions/0-1-00000000000000000000000000000000");
  absl::Status unknown = Ask(Step, never, "b").status();
  EXPECT_EQ(theirs.code(), unknown.code());
  EXPECT_EQ(theirs.message().substr(0, 30), unknown.message().substr(0, 30));

  v1::GetSessionRequest get;
  get.set_session(session);
  EXPECT_TRUE(Ask(GetSession, get, "a").ok());
  EXPECT_EQ(Ask(GetSession, get, "b").status().code(), absl::StatusCode::kNotFound);
  v1::DeleteSessionRequest remove;
  remove.set_session(session);
  EXPECT_EQ(Ask(DeleteSession, remove, "b").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Ask(ListSessions, v1::ListSessionsRequest(), "b")->sessions_size(), 0);
  EXPECT_EQ(Ask(ListScenes, v1::ListScenesRequest(), "b")->scenes_size(), 0);
  v1::CreateSessionRequest create = Of(FallingBlock(), 1, "a");
  EXPECT_EQ(Ask(CreateSession, create, "b").status().code(), absl::StatusCode::kNotFound);
  v1::CreateSnapshotRequest snapshot;
  snapshot.set_session(session);
  const std::string name = Ask(CreateSnapshot, snapshot, "a")->name();
  v1::GetSnapshotRequest get_snapshot;
  get_snapshot.set_name(name);
  get_snapshot.set_include_data(true);
  EXPECT_EQ(Ask(GetSnapshot, get_snapshot, "b").status().code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(Ask(GetSnapshot, get_snapshot, "a").ok());
}

class BudgetedCallsTest : public SnapshotCallsTest {
 protected:
  static ServerLimits Limits() {
    ServerLimits limits;
    limits.memory_bytes = 4 << 20;
    limits.session_memory_bytes = 3 << 20;
    return limits;
  }
  BudgetedCallsTest() : SnapshotCallsTest(Limits()) {}
};

TEST_F(BudgetedCallsTest, MemoryIsRefusedBeforeItIsUsedAndGivenBack) {
  v1::CreateSessionRequest create = Of(FallingBlock());
  std::vector<std::string> names;
  absl::Status status;
  while (status.ok()) {
    const auto info = Ask(CreateSession, create);
    status = info.status();
    if (status.ok()) names.push_back(info->name());
    ASSERT_LT(names.size(), 60u);
  }
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), StartsWith("MEMORY_BUDGET: "));
  EXPECT_LE(services_.memory.used(), 4 << 20);
  v1::DeleteSessionRequest remove;
  remove.set_session(names.back());
  ASSERT_TRUE(Ask(DeleteSession, remove).ok());
  EXPECT_TRUE(Ask(CreateSession, create).ok());
  create.set_worlds(200);
  EXPECT_THAT(std::string(Ask(CreateSession, create).status().message()), HasSubstr("gives one at most"));
}

}  // namespace
}  // namespace eipc::rpc
