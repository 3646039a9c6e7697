// The calls over gRPC: in-process, and over loopback where transport matters.

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "eipc/v1/service.grpc.pb.h"
#include "server/rpc/listen/grpc_server.h"
#include "tests/conformance/every_call.h"
#include "tests/conformance/test_scenes.h"

namespace eipc::rpc {
namespace {

using testing::FallingBlock;
using ::testing::HasSubstr;
using testing::kSubstepsForHours;
using ::testing::StartsWith;
using Stub = v1::SimulationService::Stub;

class ServiceTest : public ::testing::Test {
 protected:
  explicit ServiceTest(const std::string& listen = "") {
    GrpcServerOptions options;
    options.listen = listen;
    options.limits.max_sessions = 8;
    options.limits.max_substeps = kSubstepsForHours;
    auto server = GrpcServer::Start(options);
    EXPECT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    grpc::ChannelArguments arguments;
    arguments.SetMaxSendMessageSize(-1);
    auto channel = listen.empty() ? server_->InProcessChannel()
                                  : grpc::CreateCustomChannel(server_->address(), grpc::InsecureChannelCredentials(), arguments);
    stub_ = v1::SimulationService::NewStub(channel);
  }

  grpc::Status Create(const v1::Scene& scene, v1::SceneInfo* info) {
    grpc::ClientContext context;
    v1::CreateSceneRequest request;
    *request.mutable_scene() = scene;
    return stub_->CreateScene(&context, request, info);
  }
  std::string NewSession(const v1::Scene& scene) {
    v1::SceneInfo info;
    EXPECT_TRUE(Create(scene, &info).ok());
    grpc::ClientContext context;
    v1::CreateSessionRequest request;
    request.set_scene(info.name());
    v1::SessionInfo session;
    const grpc::Status status = stub_->CreateSession(&context, request, &session);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return session.name();
  }
  static v1::StepRequest Request(const std::string& session, int substeps = 1) {
    v1::StepRequest request;
    request.set_session(session);
    request.set_dt_s(0.001);
    request.set_substeps(substeps);
    return request;
  }
  grpc::Status Take(const v1::StepRequest& request, v1::StepResponse* response) {
    grpc::ClientContext context;
    return stub_->Step(&context, request, response);
  }
  v1::Observation State(const std::string& session) {
    grpc::ClientContext context;
    v1::GetStateRequest request;
    request.set_session(session);
    v1::Observation observation;
    const grpc::Status status = stub_->GetState(&context, request, &observation);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return observation;
  }

  std::unique_ptr<GrpcServer> server_;
  std::unique_ptr<Stub> stub_;
};

class LoopbackTest : public ServiceTest {
 protected:
  LoopbackTest() : ServiceTest("127.0.0.1:0") {}
};

TEST_F(ServiceTest, EveryCall) {
  const auto statuses = testing::MakeEveryCall(server_->InProcessChannel());
  for (const std::string& name : testing::CallsOfTheService()) {
    ASSERT_TRUE(statuses.contains(name)) << name << " was not called";
    EXPECT_TRUE(statuses.at(name).ok()) << name << ": " << statuses.at(name).error_message();
  }
}

TEST_F(ServiceTest, AUsedSceneStays) {
  const std::string session = NewSession(FallingBlock());
  v1::SceneInfo scene;
  ASSERT_TRUE(Create(FallingBlock(), &scene).ok());
  v1::DeleteSceneRequest request;
  request.set_name(scene.name());
  google::protobuf::Empty empty;
  grpc::ClientContext context;
  const grpc::Status status = stub_->DeleteScene(&context, request, &empty);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(status.error_message(), StartsWith("SCENE_IN_USE: "));
}

TEST_F(ServiceTest, StatusesTravel) {
  v1::StepResponse response;
  const grpc::Status missing = Take(Request("sessions/none"), &response);
  EXPECT_EQ(missing.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_THAT(missing.error_message(), StartsWith("SESSION_NOT_FOUND: "));
  v1::Scene scene = FallingBlock();
  scene.mutable_bodies(0)->mutable_material()->set_youngs_modulus_pa(-5);
  scene.mutable_bodies(0)->mutable_material()->set_density_kg_m3(0);
  v1::SceneInfo info;
  const grpc::Status invalid = Create(scene, &info);
  EXPECT_EQ(invalid.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(invalid.error_message(), HasSubstr("\nbodies[0].material.youngs_modulus_pa: must be > 0, got -5"));
}

TEST_F(ServiceTest, AStreamKeepsOrderUnderPipelining) {
  const std::string session = NewSession(FallingBlock());
  grpc::ClientContext context;
  auto stream = stub_->StepStream(&context);
  constexpr int kRequests = 40;
  std::thread writer([&] {
    for (int i = 0; i < kRequests; ++i) {
      v1::StepRequest request = Request(session);
      request.set_expected_step(i);
      ASSERT_TRUE(stream->Write(request));
    }
    stream->WritesDone();
  });
  v1::StepResponse response;
  int received = 0;
  while (stream->Read(&response)) {
    EXPECT_EQ(response.status_code(), 0) << response.status_message();
    EXPECT_EQ(response.observation().step(), ++received);
  }
  writer.join();
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_EQ(received, kRequests);
}

TEST_F(ServiceTest, AFailedRequestLeavesTheStreamOpen) {
  const std::string session = NewSession(FallingBlock());
  grpc::ClientContext context;
  auto stream = stub_->StepStream(&context);
  v1::StepRequest wrong = Request(session);
  wrong.add_targets()->set_body("sofa");
  v1::StepResponse response;
  ASSERT_TRUE(stream->Write(wrong) && stream->Read(&response));
  EXPECT_EQ(response.status_code(), static_cast<int>(grpc::StatusCode::NOT_FOUND));
  EXPECT_THAT(response.status_message(), StartsWith("TARGET_NOT_FOUND: "));
  EXPECT_EQ(response.session_step(), 0);
  ASSERT_TRUE(stream->Write(Request(session)) && stream->Read(&response));
  EXPECT_EQ(response.status_code(), 0);
  EXPECT_EQ(response.session_step(), 1);
  stream->WritesDone();
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_F(LoopbackTest, CancellingACallStopsItsSteps) {
  const std::string session = NewSession(FallingBlock());
  grpc::ClientContext context;
  std::thread caller([&] {
    v1::StepResponse response;
    const grpc::Status status = stub_->Step(&context, Request(session, kSubstepsForHours), &response);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::CANCELLED);
  });
  while (true) {  // until it runs: another call has to wait for the session
    grpc::ClientContext probe;
    probe.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(20));
    v1::GetStateRequest request;
    request.set_session(session);
    v1::Observation observation;
    if (stub_->GetState(&probe, request, &observation).error_code() == grpc::StatusCode::DEADLINE_EXCEEDED) break;
  }
  context.TryCancel();
  caller.join();
  // The session is free again, at a whole step.
  const int64_t step = State(session).step();
  EXPECT_LT(step, kSubstepsForHours);
  v1::StepResponse response;
  ASSERT_TRUE(Take(Request(session), &response).ok());
  EXPECT_EQ(response.observation().step(), step + 1);
}

TEST_F(LoopbackTest, ADeadlineStopsItsSteps) {
  const std::string session = NewSession(FallingBlock());
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(50));
  v1::StepResponse response;
  EXPECT_EQ(stub_->Step(&context, Request(session, kSubstepsForHours), &response).error_code(),
            grpc::StatusCode::DEADLINE_EXCEEDED);
  const int64_t step = State(session).step();
  EXPECT_LT(step, kSubstepsForHours);
  EXPECT_EQ(State(session).step(), step);
}

TEST_F(LoopbackTest, AMessageTooLargeIsRefusedAndNothingElse) {
  const std::string session = NewSession(FallingBlock());
  v1::Scene huge = FallingBlock();
  huge.set_description(std::string(100 << 20, 'x'));
  v1::SceneInfo info;
  const grpc::Status status = Create(huge, &info);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED) << status.error_message();
  v1::StepResponse response;
  EXPECT_TRUE(Take(Request(session), &response).ok());
  EXPECT_EQ(response.observation().step(), 1);
}

TEST_F(LoopbackTest, DrainingEndsStreamsAndCallsWithinItsGrace) {
  const std::string idle_session = NewSession(FallingBlock());
  const std::string busy_session = NewSession(FallingBlock());
  grpc::ClientContext idle_context;
  auto idle = stub_->StepStream(&idle_context);
  v1::StepResponse response;
  ASSERT_TRUE(idle->Write(Request(idle_session)) && idle->Read(&response));
  std::atomic<bool> cancelled = false;
  std::thread busy([&] {
    v1::StepResponse late;
    const grpc::Status status = Take(Request(busy_session, kSubstepsForHours), &late);
    EXPECT_NE(status.error_code(), grpc::StatusCode::OK);
    cancelled = true;
  });
  server_->Drain(std::chrono::milliseconds(200));
  busy.join();
  EXPECT_TRUE(cancelled);
  EXPECT_FALSE(idle->Read(&response));
  EXPECT_FALSE(idle->Finish().ok());
}

// A stream that nobody writes to holds nothing up: were it waited for, this test would last an hour.
TEST_F(LoopbackTest, DrainingDoesNotWaitForIdleStreams) {
  const std::string session = NewSession(FallingBlock());
  grpc::ClientContext context;
  auto stream = stub_->StepStream(&context);
  v1::StepResponse response;
  ASSERT_TRUE(stream->Write(Request(session)) && stream->Read(&response));
  server_->Drain(std::chrono::hours(1));
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_FALSE(stream->Finish().ok());
}

TEST(GrpcServer, RefusesAPortInUseAndOtherHosts) {
  GrpcServerOptions options;
  options.listen = "127.0.0.1:0";
  const auto first = GrpcServer::Start(options);
  ASSERT_TRUE(first.ok());
  options.listen = (*first)->address();
  EXPECT_EQ(GrpcServer::Start(options).status().code(), absl::StatusCode::kUnavailable);
  options.listen = "0.0.0.0:0";
  EXPECT_EQ(GrpcServer::Start(options).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace eipc::rpc
