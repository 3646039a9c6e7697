// What every eipc server promises its clients, tested from outside. Runs against a server of this build, or against any other:
//
//   EIPC_CONFORMANCE_ADDRESS=127.0.0.1:50051 build/release/tests/conformance_test
//
// It creates scenes and sessions of its own, deletes them again, and touches no others. Each test states the promise it checks.

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/client_unary_call.h>
#include <grpcpp/support/byte_buffer.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "eipc/v1/service.grpc.pb.h"
#include "tests/conformance/server_process.h"
#include "tests/conformance/test_scenes.h"

namespace eipc::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;
using Stub = v1::SimulationService::Stub;

class Conformance : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const char* given = std::getenv("EIPC_CONFORMANCE_ADDRESS");
    if (given == nullptr) server_ = new ServerProcess({"--listen", "127.0.0.1:0"});
    grpc::ChannelArguments arguments;
    arguments.SetMaxSendMessageSize(-1);
    channel_ = new std::shared_ptr<grpc::Channel>(
        grpc::CreateCustomChannel(given == nullptr ? server_->address() : given, grpc::InsecureChannelCredentials(), arguments));
    ASSERT_TRUE((*channel_)->WaitForConnected(std::chrono::system_clock::now() + std::chrono::seconds(10)));
  }
  static void TearDownTestSuite() {
    delete channel_;
    delete server_;
  }
  Conformance() : stub_(v1::SimulationService::NewStub(*channel_)) {}
  ~Conformance() override {
    for (const std::string& session : sessions_) (void)DeleteSession(session);
    for (const std::string& scene : scenes_) (void)DeleteScene(scene);
  }

  template <typename Request, typename Response>
  grpc::Status Call(grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*), const Request& request,
                    Response* response) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    return (stub_.get()->*method)(&context, request, response);
  }
  grpc::Status CreateScene(const v1::Scene& scene, v1::SceneInfo* info) {
    v1::CreateSceneRequest request;
    *request.mutable_scene() = scene;
    const grpc::Status status = Call(&Stub::CreateScene, request, info);
    if (status.ok()) scenes_.push_back(info->name());
    return status;
  }
  grpc::Status DeleteScene(const std::string& name) {
    v1::DeleteSceneRequest request;
    request.set_name(name);
    google::protobuf::Empty empty;
    return Call(&Stub::DeleteScene, request, &empty);
  }
  std::string NewSession(const v1::Scene& scene, int threads = 1) {
    v1::SceneInfo info;
    const grpc::Status created = CreateScene(scene, &info);
    EXPECT_TRUE(created.ok()) << created.error_message();
    v1::CreateSessionRequest request;
    request.set_scene(info.name());
    request.set_threads(threads);
    v1::SessionInfo session;
    const grpc::Status status = Call(&Stub::CreateSession, request, &session);
    EXPECT_TRUE(status.ok()) << status.error_message();
    sessions_.push_back(session.name());
    return session.name();
  }
  grpc::Status DeleteSession(const std::string& name) {
    v1::DeleteSessionRequest request;
    request.set_session(name);
    google::protobuf::Empty empty;
    return Call(&Stub::DeleteSession, request, &empty);
  }
  static v1::StepRequest StepOf(const std::string& session, int substeps = 1) {
    v1::StepRequest request;
    request.set_session(session);
    request.set_dt_s(0.01);
    request.set_substeps(substeps);
    request.mutable_observe()->set_state_digest(true);
    return request;
  }
  v1::StepResponse Take(const v1::StepRequest& request) {
    v1::StepResponse response;
    const grpc::Status status = Call(&Stub::Step, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }
  grpc::Status Refused(const v1::StepRequest& request) {
    v1::StepResponse response;
    return Call(&Stub::Step, request, &response);
  }
  v1::Observation State(const std::string& session) {
    v1::GetStateRequest request;
    request.set_session(session);
    request.mutable_observe()->set_state_digest(true);
    v1::Observation observation;
    const grpc::Status status = Call(&Stub::GetState, request, &observation);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return observation;
  }

  static ServerProcess* server_;
  static std::shared_ptr<grpc::Channel>* channel_;
  std::unique_ptr<Stub> stub_;
  std::vector<std::string> sessions_;
  std::vector<std::string> scenes_;
};

ServerProcess* Conformance::server_ = nullptr;
std::shared_ptr<grpc::Channel>* Conformance::channel_ = nullptr;

grpc::ByteBuffer Bytes(const std::string& text) {
  const grpc::Slice slice(text);
  return grpc::ByteBuffer(&slice, 1);
}

std::string Text(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  (void)buffer.Dump(&slices);
  std::string text;
  for (const grpc::Slice& slice : slices) text.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return text;
}

// --- the server ---

TEST_F(Conformance, HealthSaysServing) {
  for (const std::string& service : {std::string(), std::string("eipc.v1.SimulationService")}) {
    grpc::ClientContext context;
    grpc::ByteBuffer response;
    // HealthCheckRequest { service = 1 }, HealthCheckResponse { status = 1: SERVING = 1 }.
    const std::string request = service.empty() ? "" : std::string("\x0a") + static_cast<char>(service.size()) + service;
    const grpc::internal::RpcMethod method("/grpc.health.v1.Health/Check", grpc::internal::RpcMethod::NORMAL_RPC);
    const grpc::Status status = grpc::internal::BlockingUnaryCall<grpc::ByteBuffer, grpc::ByteBuffer>(
        channel_->get(), method, &context, Bytes(request), &response);
    ASSERT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(Text(response), "\x08\x01");
  }
}

TEST_F(Conformance, ReflectionNamesTheService) {
  grpc::ClientContext context;
  const grpc::internal::RpcMethod method("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
                                         grpc::internal::RpcMethod::BIDI_STREAMING);
  const std::unique_ptr<grpc::ClientReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>> stream(
      grpc::internal::ClientReaderWriterFactory<grpc::ByteBuffer, grpc::ByteBuffer>::Create(channel_->get(), method, &context));
  // ServerReflectionRequest { list_services = 7 }.
  ASSERT_TRUE(stream->Write(Bytes("\x3a\x01*")));
  grpc::ByteBuffer response;
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_THAT(Text(response), HasSubstr("eipc.v1.SimulationService"));
  stream->WritesDone();
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_F(Conformance, AMessageTooLargeIsRefusedAndTheServerGoesOn) {
  const std::string session = NewSession(FallingBlock());
  v1::Scene huge = FallingBlock();
  huge.set_description(std::string(100 << 20, 'x'));
  v1::SceneInfo info;
  EXPECT_EQ(CreateScene(huge, &info).error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(Take(StepOf(session)).observation().step(), 1);
}

TEST_F(Conformance, ErrorsStartWithAStableReason) {
  for (const std::string& message : {Refused(StepOf("sessions/none")).error_message(), DeleteScene("scenes/none").error_message(),
                                     Refused(v1::StepRequest()).error_message()}) {
    EXPECT_THAT(message, MatchesRegex("[A-Z][A-Z0-9_]*: .+"));
  }
}

// --- scenes ---

TEST_F(Conformance, TheSameSceneHasTheSameName) {
  v1::SceneInfo first, second, other;
  ASSERT_TRUE(CreateScene(BlockOnTable(), &first).ok());
  ASSERT_TRUE(CreateScene(BlockOnTable(), &second).ok());
  ASSERT_TRUE(CreateScene(FallingBlock(), &other).ok());
  EXPECT_THAT(first.name(), StartsWith("scenes/"));
  EXPECT_EQ(first.name(), second.name());
  EXPECT_NE(first.name(), other.name());
}

TEST_F(Conformance, ASceneComesBackAsItWasSent) {
  v1::SceneInfo info;
  ASSERT_TRUE(CreateScene(BlockOnTable(), &info).ok());
  v1::GetSceneRequest request;
  request.set_name(info.name());
  request.set_include_scene(true);
  request.set_include_topology(true);
  v1::SceneInfo found;
  ASSERT_TRUE(Call(&Stub::GetScene, request, &found).ok());
  EXPECT_EQ(found.scene().SerializeAsString(), BlockOnTable().SerializeAsString());
  ASSERT_EQ(found.body_infos_size(), 2);
  for (const v1::BodyInfo& body : found.body_infos()) {
    EXPECT_EQ(body.surface_cells().shape(0), body.surface_triangles());
    EXPECT_EQ(body.surface_positions().shape(0), body.surface_vertices());
  }
  EXPECT_NEAR(found.body_infos(0).mass_kg(), 1, 1e-9);
}

TEST_F(Conformance, ListingFindsEveryScene) {
  std::vector<std::string> created(3);
  for (int i = 0; i < 3; ++i) {
    v1::SceneInfo info;
    ASSERT_TRUE(CreateScene(FallingBlock(1, 1 + i), &info).ok());
    created[i] = info.name();
  }
  std::vector<std::string> listed;
  v1::ListScenesRequest request;
  request.set_page_size(1);
  do {
    v1::ListScenesResponse response;
    ASSERT_TRUE(Call(&Stub::ListScenes, request, &response).ok());
    EXPECT_LE(response.scenes_size(), 1);
    for (const v1::SceneInfo& info : response.scenes()) listed.push_back(info.name());
    request.set_page_token(response.next_page_token());
  } while (!request.page_token().empty());
  for (const std::string& name : created) EXPECT_THAT(listed, ::testing::Contains(name).Times(1));
}

TEST_F(Conformance, EveryProblemOfASceneIsReportedWithItsPath) {
  v1::Scene scene = BlockOnTable();
  scene.mutable_bodies(0)->mutable_material()->set_youngs_modulus_pa(-5);
  scene.mutable_bodies(0)->mutable_material()->set_density_kg_m3(0);
  scene.mutable_bodies(1)->mutable_static_body()->mutable_surface()->mutable_arrays()->mutable_cells()->set_dtype(v1::FLOAT64);
  v1::SceneInfo info;
  const grpc::Status status = CreateScene(scene, &info);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), StartsWith("SCENE_INVALID: "));
  EXPECT_THAT(status.error_message(), HasSubstr("bodies[0].material.youngs_modulus_pa: must be > 0, got -5"));
  EXPECT_THAT(status.error_message(), HasSubstr("bodies[0].material.density_kg_m3: "));
  EXPECT_THAT(status.error_message(), HasSubstr("bodies[1].static_body.surface.arrays.cells: "));
}

TEST_F(Conformance, AnIntersectingStartIsRefused) {
  v1::Scene scene = BlockOnTable();
  scene.mutable_bodies(0)->mutable_pose()->mutable_position_m()->set_z(-0.01);
  v1::SceneInfo info;
  EXPECT_EQ(CreateScene(scene, &info).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(Conformance, ASceneInUseIsNotDeleted) {
  v1::SceneInfo info;
  ASSERT_TRUE(CreateScene(FallingBlock(), &info).ok());
  const std::string session = NewSession(FallingBlock());
  EXPECT_EQ(DeleteScene(info.name()).error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  ASSERT_TRUE(DeleteSession(session).ok());
  EXPECT_TRUE(DeleteScene(info.name()).ok());
  EXPECT_EQ(DeleteScene(info.name()).error_code(), grpc::StatusCode::NOT_FOUND);
}

// --- stepping ---

TEST_F(Conformance, FreeFallIsBackwardEuler) {
  const std::string session = NewSession(FallingBlock());
  v1::StepRequest request = StepOf(session, 20);
  request.mutable_observe()->set_poses(true);
  request.mutable_observe()->set_twists(true);
  const v1::StepResponse response = Take(request);
  const v1::BodyObservation& body = response.observation().bodies(0);
  EXPECT_NEAR(body.pose().position_m().z(), 1.05 - 9.81 * 1e-4 * 20 * 21 / 2, 1e-6);
  EXPECT_NEAR(body.linear_velocity_m_s().z(), -9.81 * 0.2, 1e-4);
  EXPECT_NEAR(body.pose().quaternion().w(), 1, 1e-6);
}

TEST_F(Conformance, TheSameInputsGiveTheSameBits) {
  const std::string together = NewSession(BlockOnTable());
  const std::string one_by_one = NewSession(BlockOnTable());
  const std::string two_threads = NewSession(BlockOnTable(), 2);
  const std::string digest = Take(StepOf(together, 12)).observation().state_digest();
  for (int i = 0; i < 12; ++i) Take(StepOf(one_by_one));
  EXPECT_THAT(digest, MatchesRegex("[0-9a-f]{16}"));
  EXPECT_EQ(State(one_by_one).state_digest(), digest);
  EXPECT_EQ(Take(StepOf(two_threads, 12)).observation().state_digest(), digest);
}

TEST_F(Conformance, ResetRestoresTheStartBitForBit) {
  const std::string session = NewSession(BlockOnTable());
  const std::string start = State(session).state_digest();
  const std::string first = Take(StepOf(session, 5)).observation().state_digest();
  v1::ResetRequest request;
  request.set_session(session);
  v1::Observation observation;
  ASSERT_TRUE(Call(&Stub::Reset, request, &observation).ok());
  EXPECT_EQ(observation.step(), 0);
  EXPECT_EQ(State(session).state_digest(), start);
  EXPECT_EQ(Take(StepOf(session, 5)).observation().state_digest(), first);
}

TEST_F(Conformance, ExpectedStepGuardsAgainstLostAnswers) {
  const std::string session = NewSession(FallingBlock());
  v1::StepRequest request = StepOf(session);
  request.set_expected_step(0);
  Take(request);
  const grpc::Status status = Refused(request);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::ABORTED);
  EXPECT_THAT(status.error_message(), StartsWith("STEP_MISMATCH: "));
  EXPECT_THAT(status.error_message(), HasSubstr("at step 1"));
  EXPECT_EQ(State(session).step(), 1);
}

TEST_F(Conformance, ARetryIsAnsweredWithoutStepping) {
  const std::string session = NewSession(FallingBlock());
  v1::StepRequest request = StepOf(session);
  request.set_request_id("a");
  request.set_expected_step(0);
  const v1::StepResponse first = Take(request);
  const v1::StepResponse again = Take(request);
  EXPECT_EQ(first.observation().step(), 1);
  EXPECT_EQ(again.observation().step(), 1);
  EXPECT_EQ(again.observation().state_digest(), first.observation().state_digest());
  EXPECT_EQ(State(session).step(), 1);
  request.set_dt_s(0.02);
  EXPECT_EQ(Refused(request).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(Conformance, ABadCommandIsRefusedAndMovesNothing) {
  const std::string session = NewSession(DrivenBlock());
  const std::string before = State(session).state_digest();
  v1::StepRequest request = StepOf(session);
  v1::TargetPose& target = *request.add_targets();
  target.set_body("sofa");
  target.mutable_pose();
  const grpc::Status unknown = Refused(request);
  EXPECT_EQ(unknown.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_THAT(unknown.error_message(), HasSubstr("block, plate"));
  target.set_body("plate");
  target.mutable_pose()->mutable_position_m()->set_x(std::nan(""));
  EXPECT_EQ(Refused(request).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  v1::StepRequest no_dt = StepOf(session);
  no_dt.clear_dt_s();
  EXPECT_EQ(Refused(no_dt).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(State(session).state_digest(), before);
}

TEST_F(Conformance, ACommandedFrameStaysWhereItWasCommanded) {
  const std::string session = NewSession(DrivenBlock());
  v1::StepRequest request = StepOf(session);
  v1::TargetPose& target = *request.add_targets();
  target.set_body("plate");
  target.mutable_pose()->mutable_position_m()->set_x(1.005);
  Take(request);
  v1::StepRequest without = StepOf(session, 3);
  without.mutable_observe()->set_boundary_poses(true);
  without.mutable_observe()->add_bodies("plate");
  const v1::StepResponse response = Take(without);
  ASSERT_EQ(response.observation().boundary_poses_size(), 1);
  EXPECT_NEAR(response.observation().boundary_poses(0).commanded().position_m().x(), 1.005, 1e-12);
  EXPECT_NEAR(response.observation().boundary_poses(0).achieved().position_m().x(), 1.005, 1e-6);
}

TEST_F(Conformance, CancellationLeavesAWholeStep) {
  const std::string session = NewSession(FallingBlock());
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(50));
  v1::StepResponse response;
  EXPECT_EQ(stub_->Step(&context, StepOf(session, 100000), &response).error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  const v1::Observation stopped = State(session);
  ASSERT_LT(stopped.step(), 100000);
  // Bit-equal to a session that took as many steps undisturbed.
  const std::string other = NewSession(FallingBlock());
  if (stopped.step() > 0) Take(StepOf(other, static_cast<int>(stopped.step())));
  EXPECT_EQ(State(other).state_digest(), stopped.state_digest());
}

TEST_F(Conformance, AStreamAnswersEveryRequestOnceAndInOrder) {
  const std::string session = NewSession(FallingBlock());
  grpc::ClientContext context;
  const auto stream = stub_->StepStream(&context);
  for (int i = 0; i < 8; ++i) {
    v1::StepRequest request = StepOf(session);
    if (i == 3) request.set_dt_s(-1);
    ASSERT_TRUE(stream->Write(request));
  }
  stream->WritesDone();
  std::vector<int64_t> steps;
  std::vector<int> codes;
  v1::StepResponse response;
  while (stream->Read(&response)) {
    steps.push_back(response.session_step());
    codes.push_back(response.status_code());
  }
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_EQ(steps, (std::vector<int64_t>{1, 2, 3, 3, 4, 5, 6, 7}));
  EXPECT_EQ(codes, (std::vector<int>{0, 0, 0, 3, 0, 0, 0, 0}));
}

TEST_F(Conformance, ADeletedSessionIsGone) {
  const std::string session = NewSession(FallingBlock());
  ASSERT_TRUE(DeleteSession(session).ok());
  EXPECT_EQ(Refused(StepOf(session)).error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(DeleteSession(session).error_code(), grpc::StatusCode::NOT_FOUND);
}

// --- observations ---

TEST_F(Conformance, OnlyWhatIsAskedForIsSent) {
  const std::string session = NewSession(BlockOnTable());
  v1::StepRequest request = StepOf(session);
  request.clear_observe();
  const v1::Observation bare = Take(request).observation();
  EXPECT_EQ(bare.bodies_size(), 0);
  EXPECT_FALSE(bare.has_energies() || bare.has_solver_report() || bare.has_min_distance_m() || bare.has_contact_counts());
  request.mutable_observe()->set_surface_positions(true);
  request.mutable_observe()->set_positions_dtype(v1::FLOAT32);
  request.mutable_observe()->add_bodies("block");
  const v1::Observation block = Take(request).observation();
  ASSERT_EQ(block.bodies_size(), 1);
  EXPECT_EQ(block.bodies(0).surface_positions().data().size(), 8u * 3 * 4);
  EXPECT_FALSE(block.bodies(0).has_pose());
}

TEST_F(Conformance, ContactForcesComeInOppositePairsAndCarryTheWeight) {
  const std::string session = NewSession(BlockOnTable());
  v1::StepRequest request = StepOf(session, 100);
  request.mutable_observe()->set_contact_wrenches(true);
  request.mutable_observe()->set_min_distance(true);
  const v1::Observation seen = Take(request).observation();
  double on_block[3] = {0, 0, 0};
  double on_table[3] = {0, 0, 0};
  for (const v1::ContactWrench& wrench : seen.contact_wrenches()) {
    double* sum = wrench.body() == "block" ? on_block : on_table;
    sum[0] += wrench.normal_force_n().x() + wrench.friction_force_n().x();
    sum[1] += wrench.normal_force_n().y() + wrench.friction_force_n().y();
    sum[2] += wrench.normal_force_n().z() + wrench.friction_force_n().z();
  }
  EXPECT_NEAR(on_block[2], 9.81, 0.2);
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(on_block[k] + on_table[k], 0, 1e-9);
  EXPECT_GT(seen.min_distance_m(), 0);
}

}  // namespace
}  // namespace eipc::testing
