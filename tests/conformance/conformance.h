#ifndef EIPC_TESTS_CONFORMANCE_CONFORMANCE_H_
#define EIPC_TESTS_CONFORMANCE_CONFORMANCE_H_

// What every eipc server promises its clients, tested from outside. Runs against a server of this build, or against any other:
//
//   EIPC_CONFORMANCE_ADDRESS=127.0.0.1:50051 build/release/tests/conformance_test
//
// It creates scenes and sessions of its own, deletes them again, and touches no others. Each test states the promise it checks.

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "eipc/v1/service.grpc.pb.h"
#include "tests/conformance/server_process.h"
#include "tests/conformance/test_scenes.h"

namespace eipc::testing {

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
    channel_ = nullptr;
    server_ = nullptr;
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

  static inline ServerProcess* server_ = nullptr;
  static inline std::shared_ptr<grpc::Channel>* channel_ = nullptr;
  std::unique_ptr<Stub> stub_;
  std::vector<std::string> sessions_;
  std::vector<std::string> scenes_;
};

}  // namespace eipc::testing

#endif  // EIPC_TESTS_CONFORMANCE_CONFORMANCE_H_
