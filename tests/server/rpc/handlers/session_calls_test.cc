#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <thread>
#include <utility>
#include <vector>

#include "server/rpc/handlers/calls.h"
#include "server/session/queue_full.h"
#include "tests/conformance/test_scenes.h"

namespace eipc::rpc {
namespace {

using testing::BlockOnTable;
using testing::DrivenBlock;
using testing::FallingBlock;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

class SessionCallsTest : public ::testing::Test {
 protected:
  static ServerLimits Limits() {
    ServerLimits limits;
    limits.max_sessions = 3;
    return limits;
  }
  SessionCallsTest() : services_(Limits(), MeshResolver({"", "", true})) {}

  std::string NewScene(const v1::Scene& scene) {
    v1::CreateSceneRequest request;
    *request.mutable_scene() = scene;
    v1::SceneInfo info;
    const absl::Status status = CreateScene(services_, {}, request, &info);
    EXPECT_TRUE(status.ok()) << status;
    return info.name();
  }
  std::string NewSession(const v1::Scene& scene) {
    v1::CreateSessionRequest request;
    request.set_scene(NewScene(scene));
    v1::SessionInfo info;
    const absl::Status status = CreateSession(services_, {}, request, &info);
    EXPECT_TRUE(status.ok()) << status;
    return info.name();
  }
  static v1::StepRequest Request(const std::string& session, int substeps = 1) {
    v1::StepRequest request;
    request.set_session(session);
    request.set_dt_s(0.01);
    request.set_substeps(substeps);
    request.mutable_observe()->set_state_digest(true);
    return request;
  }
  absl::StatusOr<v1::StepResponse> Take(const v1::StepRequest& request, const StepBudget& budget = {}) {
    v1::StepResponse response;
    const absl::Status status = Step(services_, budget, request, &response);
    if (!status.ok()) return status;
    return response;
  }
  v1::Observation State(const std::string& session) {
    v1::GetStateRequest request;
    request.set_session(session);
    request.mutable_observe()->set_state_digest(true);
    v1::Observation observation;
    EXPECT_TRUE(GetState(services_, {}, request, &observation).ok());
    return observation;
  }
  void ExpectRefused(const v1::StepRequest& request, absl::StatusCode code, const std::string& text) {
    const std::string before = State(request.session()).state_digest();
    const absl::Status status = Take(request).status();
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(text));
    EXPECT_EQ(State(request.session()).state_digest(), before);
  }

  Services services_;
};

TEST_F(SessionCallsTest, StepsAndObserves) {
  const std::string session = NewSession(BlockOnTable());
  EXPECT_EQ(State(session).step(), 0);
  v1::StepRequest request = Request(session, 50);
  request.mutable_observe()->set_poses(true);
  request.mutable_observe()->set_contact_wrenches(true);
  request.mutable_observe()->set_contact_counts(true);
  request.mutable_observe()->set_min_distance(true);
  const auto response = Take(request);
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(response->session_step(), 50);
  const v1::Observation& seen = response->observation();
  EXPECT_EQ(seen.step(), 50);
  ASSERT_THAT(seen.bodies(), SizeIs(2));
  // It lies on the table by now: the table carries its weight.
  ASSERT_GE(seen.contact_wrenches_size(), 2);
  double vertical = 0;
  for (const v1::ContactWrench& wrench : seen.contact_wrenches()) {
    if (wrench.body() == "block") vertical += wrench.normal_force_n().z() + wrench.friction_force_n().z();
  }
  EXPECT_NEAR(vertical, 9.81, 0.5);
  EXPECT_GT(seen.contact_counts().point_triangle(), 0);
  EXPECT_GT(seen.min_distance_m(), 0);
  EXPECT_LT(seen.min_distance_m(), 1e-3);
}

TEST_F(SessionCallsTest, ResetGoesBack) {
  const std::string session = NewSession(FallingBlock());
  const std::string start = State(session).state_digest();
  ASSERT_TRUE(Take(Request(session, 3)).ok());
  EXPECT_NE(State(session).state_digest(), start);
  v1::ResetRequest request;
  request.set_session(session);
  request.mutable_observe()->set_state_digest(true);
  v1::Observation observation;
  ASSERT_TRUE(Reset(services_, {}, request, &observation).ok());
  EXPECT_EQ(observation.state_digest(), start);
  EXPECT_EQ(observation.step(), 0);
}

TEST_F(SessionCallsTest, TargetsMoveFrames) {
  const std::string session = NewSession(DrivenBlock());
  v1::StepRequest request = Request(session);
  v1::TargetPose& plate = *request.add_targets();
  plate.set_body("plate");
  plate.mutable_pose()->mutable_position_m()->set_x(1.01);
  request.mutable_observe()->set_boundary_poses(true);
  const auto response = Take(request);
  ASSERT_TRUE(response.ok()) << response.status();
  for (const v1::BoundaryPose& pose : response->observation().boundary_poses()) {
    if (pose.body() == "plate") {
      EXPECT_NEAR(pose.achieved().position_m().x(), 1.01, 1e-6);
    }
  }
}

TEST_F(SessionCallsTest, BadCommandsChangeNothing) {
  const std::string session = NewSession(DrivenBlock());
  v1::StepRequest request = Request(session);
  v1::TargetPose& target = *request.add_targets();
  target.set_body("sofa");
  target.mutable_pose();
  ExpectRefused(request, absl::StatusCode::kNotFound, "TARGET_NOT_FOUND: targets[0].body: no body 'sofa'; there are: block, plate");
  target.set_body("block");
  ExpectRefused(request, absl::StatusCode::kNotFound, "it has: top");
  target.set_boundary_set("top");
  target.mutable_pose()->mutable_position_m()->set_x(std::numeric_limits<double>::infinity());
  ExpectRefused(request, absl::StatusCode::kInvalidArgument, "targets[0].pose.position_m.x: must be finite, got inf");
  v1::StepRequest no_dt = Request(session);
  no_dt.set_dt_s(0);
  ExpectRefused(no_dt, absl::StatusCode::kInvalidArgument, "dt_s: must be finite and > 0, got 0");
  v1::StepRequest substeps = Request(session, -1);
  ExpectRefused(substeps, absl::StatusCode::kInvalidArgument, "substeps");
  // A bad observation is refused before the world moves, too.
  v1::StepRequest observe = Request(session);
  observe.mutable_observe()->add_bodies("sofa");
  ExpectRefused(observe, absl::StatusCode::kNotFound, "observe.bodies[0]");
}

TEST_F(SessionCallsTest, MissingSessionsAndScenes) {
  EXPECT_THAT(std::string(Take(Request("sessions/nope")).status().message()), StartsWith("SESSION_NOT_FOUND: "));
  v1::CreateSessionRequest create;
  create.set_scene("scenes/nope");
  v1::SessionInfo info;
  const absl::Status status = CreateSession(services_, {}, create, &info);
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), StartsWith("SCENE_NOT_FOUND: "));
  create.set_scene(NewScene(FallingBlock()));
  create.set_threads(-1);
  EXPECT_EQ(CreateSession(services_, {}, create, &info).code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(SessionCallsTest, BoundsSessions) {
  v1::CreateSessionRequest create;
  create.set_scene(NewScene(FallingBlock()));
  v1::SessionInfo info;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(CreateSession(services_, {}, create, &info).ok());
  const absl::Status status = CreateSession(services_, {}, create, &info);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), StartsWith("TOO_MANY_SESSIONS: "));
}

TEST_F(SessionCallsTest, ARetryIsAnsweredWithTheSameBytes) {
  const std::string session = NewSession(FallingBlock());
  v1::StepRequest request = Request(session);
  request.set_request_id("one");
  request.set_expected_step(0);
  request.mutable_observe()->set_solver_report(true);  // its wall time would differ in another step
  const auto first = Take(request);
  const auto again = Take(request);
  ASSERT_TRUE(first.ok() && again.ok());
  EXPECT_EQ(first->observation().step(), 1);
  EXPECT_EQ(first->observation().solver_report().wall_time_s(), again->observation().solver_report().wall_time_s());
  EXPECT_EQ(first->observation().state_digest(), again->observation().state_digest());
  EXPECT_EQ(State(session).step(), 1);

  v1::StepRequest other = request;
  other.set_dt_s(0.02);
  ExpectRefused(other, absl::StatusCode::kInvalidArgument, "REQUEST_ID_REUSED");
  other.set_request_id("two");
  ExpectRefused(other, absl::StatusCode::kAborted, "STEP_MISMATCH: expected_step is 0, but the session is at step 1");
}

TEST_F(SessionCallsTest, CancellationStopsBetweenIterations) {
  const std::string session = NewSession(FallingBlock());
  ASSERT_TRUE(Take(Request(session)).ok());
  const std::string before = State(session).state_digest();
  std::atomic<int> polls = 0;
  StepBudget budget;
  budget.cancelled = [&] { return ++polls > 1; };
  EXPECT_EQ(Take(Request(session), budget).status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(State(session).state_digest(), before);
}

TEST_F(SessionCallsTest, DeletingEndsAStepAndSparesOthers) {
  const std::string doomed = NewSession(FallingBlock());
  const std::string other = NewSession(FallingBlock());
  std::atomic<bool> stepping = false;
  std::thread stepper([&] {
    StepBudget budget;
    budget.cancelled = [&] {
      stepping = true;
      return false;
    };
    const absl::Status status = Take(Request(doomed, Limits().max_substeps), budget).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kCancelled);
    EXPECT_THAT(std::string(status.message()), StartsWith("SESSION_DELETED: "));
  });
  while (!stepping) std::this_thread::yield();
  EXPECT_TRUE(Take(Request(other)).ok());
  v1::DeleteSessionRequest request;
  request.set_session(doomed);
  Empty empty;
  EXPECT_TRUE(DeleteSession(services_, {}, request, &empty).ok());
  stepper.join();
  EXPECT_EQ(DeleteSession(services_, {}, request, &empty).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(State(other).step(), 1);
}

TEST_F(SessionCallsTest, AStreamAnswersEveryRequest) {
  const std::string session = NewSession(FallingBlock());
  std::vector<v1::StepRequest> requests(6, Request(session));
  requests[2].set_dt_s(-1);
  requests[4].set_session("sessions/nope");
  std::vector<v1::StepResponse> responses(6);
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(AnswerStep(services_, {}, requests[i], &responses[i]));
  const int codes[] = {0, 0, 3, 0, 5, 0};
  const int steps[] = {1, 2, 2, 3, -1, 4};
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(responses[i].status_code(), codes[i]) << i;
    EXPECT_EQ(responses[i].session_step(), steps[i]) << i;
    EXPECT_EQ(responses[i].has_observation(), codes[i] == 0) << i;
    if (codes[i] == 0) {
      EXPECT_EQ(responses[i].observation().step(), steps[i]);
    }
  }
  EXPECT_THAT(responses[2].status_message(), StartsWith("INVALID_REQUEST: dt_s: "));
}

// The answers of steps and batches that are refused for want of a slot have to wait.
TEST(Overload, RefusalsOfStepsAndBatchesAreReported) {
  ServerLimits limits;
  limits.solve_slots = 1;
  limits.max_waiting_solves = 0;
  Services services(limits, MeshResolver({"", "", true}));
  v1::CreateSceneRequest scene;
  *scene.mutable_scene() = FallingBlock();
  v1::SceneInfo scene_info;
  ASSERT_TRUE(CreateScene(services, {}, scene, &scene_info).ok());
  v1::CreateSessionRequest create;
  create.set_scene(scene_info.name());
  v1::SessionInfo session;
  ASSERT_TRUE(CreateSession(services, {}, create, &session).ok());
  const auto slot = services.slots.Take({}, {});

  v1::StepRequest step;
  step.set_session(session.name());
  step.set_dt_s(0.01);
  v1::StepResponse refused;
  EXPECT_FALSE(AnswerStep(services, {}, step, &refused)) << "the stream has to pause";
  EXPECT_THAT(refused.status_message(), StartsWith("QUEUE_FULL: "));

  v1::StepBatchRequest batch;
  batch.set_session(session.name());
  batch.add_steps()->set_dt_s(0.01);
  v1::StepBatchResponse batch_response;
  bool batch_refused = false;
  EXPECT_TRUE(AnswerBatch(services, {}, batch, &batch_response, &batch_refused).ok());
  EXPECT_TRUE(batch_refused);
  EXPECT_THAT(batch_response.responses(0).status_message(), StartsWith("QUEUE_FULL: "));
}

// Threads of the process, by the kernel.
int ThreadsOfTheProcess() {
  int threads = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) threads += entry.exists() ? 1 : 0;
  return threads;
}

// What a session asks for is a share of the threads that there are.
TEST_F(SessionCallsTest, NoRequestMakesThreads) {
  const int before = ThreadsOfTheProcess();
  v1::CreateSessionRequest create;
  create.set_scene(NewScene(BlockOnTable()));
  create.set_worlds(64);
  create.set_threads(8);
  v1::SessionInfo info;
  ASSERT_TRUE(CreateSession(services_, {}, create, &info).ok());
  v1::StepBatchRequest batch;
  batch.set_session(info.name());
  for (int i = 0; i < 64; ++i) {
    batch.add_steps()->set_dt_s(0.01);
    batch.mutable_steps(i)->set_world(i);
  }
  v1::StepBatchResponse response;
  ASSERT_TRUE(StepBatch(services_, {}, batch, &response).ok());
  for (const v1::StepResponse& one : response.responses()) EXPECT_EQ(one.status_code(), 0) << one.status_message();
  EXPECT_EQ(ThreadsOfTheProcess(), before);
}

StepBudget SomeSeconds() {
  StepBudget budget;
  budget.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  return budget;
}

// Work that takes long has slots of its own: neither does a step wait for it, nor it for steps.
TEST_F(SessionCallsTest, StepsAndOtherWorkDoNotWaitForEachOther) {
  const std::string session = NewSession(FallingBlock());
  {
    std::vector<SolveSlots::Slot> all;
    for (int i = 0; i < Limits().job_slots; ++i) {
      all.push_back(*services_.jobs.Take({}, {}));
      all.push_back(*services_.compilations.Take({}, {}));
    }
    EXPECT_TRUE(Take(Request(session), SomeSeconds()).ok());
  }
  std::vector<SolveSlots::Slot> all;
  for (int i = 0; i < Limits().solve_slots; ++i) all.push_back(*services_.slots.Take({}, {}));
  v1::CreateSceneRequest request;
  *request.mutable_scene() = DrivenBlock();
  v1::SceneInfo info;
  const absl::Status made = CreateScene(services_, SomeSeconds(), request, &info);
  EXPECT_TRUE(made.ok()) << made;
}

// As many viewers as may wait for a session do not keep its operator from it.
TEST_F(SessionCallsTest, ViewersDoNotFillTheOperatorsQueue) {
  const std::string session = NewSession(FallingBlock());
  std::vector<std::thread> viewers;
  std::atomic<int> answered = 0;
  {
    const auto lease = services_.sessions.Acquire(session, {});
    ASSERT_TRUE(lease.ok());
    for (int i = 0; i < Limits().max_waiting_calls; ++i) {
      viewers.emplace_back([&] {
        v1::GetStateRequest request;
        request.set_session(session);
        v1::Observation observation;
        absl::Status status;
        do {  // the test below may be in the last place for a moment
          status = GetState(services_, {}, request, &observation);
        } while (IsQueueFull(status));
        answered += status.ok() ? 1 : 0;
      });
    }
    // All of them wait once one more is refused.
    StepBudget gone;
    gone.cancelled = [] { return true; };
    absl::Status refused;
    do {
      refused = services_.sessions.Acquire(session, gone, "", FifoGate::Use::kRead).status();
    } while (!IsQueueFull(refused));
    EXPECT_EQ(services_.sessions.Acquire(session, gone).status().code(), absl::StatusCode::kCancelled) << "it may wait";
  }
  EXPECT_TRUE(Take(Request(session)).ok());
  for (std::thread& viewer : viewers) viewer.join();
  EXPECT_EQ(answered, Limits().max_waiting_calls);
}

// Of three sessions that the server holds, each of two tenants may have one.
TEST_F(SessionCallsTest, ATenantsShareIsNobodyElses) {
  services_.SetQuotas(TenantShares(services_.limits, 2));
  const auto create = [this](const std::string& tenant) {
    CallContext context;
    context.tenant = tenant;
    v1::CreateSceneRequest scene;
    *scene.mutable_scene() = FallingBlock();
    v1::SceneInfo scene_info;
    EXPECT_TRUE(CreateScene(services_, context, scene, &scene_info).ok());
    v1::CreateSessionRequest request;
    request.set_scene(scene_info.name());
    v1::SessionInfo info;
    return CreateSession(services_, context, request, &info);
  };
  EXPECT_TRUE(create("lab").ok());
  const absl::Status refused = create("lab");
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(refused.message()), StartsWith("TENANT_QUOTA: 1 more sessions: you hold 1 of the 1 "));
  EXPECT_TRUE(create("fab").ok());

  CallContext context;
  context.tenant = "lab";
  v1::ServerInfo info;
  ASSERT_TRUE(GetServerInfo(services_, context, {}, &info).ok());
  EXPECT_EQ(info.quotas().sessions().limit(), 1);
  EXPECT_EQ(info.quotas().sessions().used(), 1);
  EXPECT_EQ(info.quotas().scenes().used(), 1);
  EXPECT_GT(info.quotas().memory_bytes().used(), 0);
  EXPECT_FALSE(info.quotas().memory_bytes().has_limit());
}

}  // namespace
}  // namespace eipc::rpc
