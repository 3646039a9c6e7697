#include "server/session/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "server/os/thread_scheduling.h"
#include "server/session/memory_budget.h"
#include "server/session/session_registry.h"
#include "sim/dynamics/materials.h"
#include "sim/scene/compile_scene.h"
#include "tests/support/scenes.h"

namespace eipc {
namespace {

using ::testing::HasSubstr;

// A soft block of one tetrahedron, 1 m above the origin.
SceneSpec FallingTet() {
  SceneSpec spec;
  spec.name = "falling tet";
  BodySpec body;
  body.name = "tet";
  body.kind = BodyKind::kFullSpace;
  body.mesh.vertices = {Vec3(0, 0, 0), Vec3(0.1, 0, 0), Vec3(0, 0.1, 0), Vec3(0, 0, 0.1)};
  body.mesh.tets = {{0, 1, 2, 3}};
  body.pose.position = Vec3(0, 0, 1);
  body.material.density_kg_m3 = 1000;
  body.material.youngs_modulus_pa = 1e5;
  body.material.poissons_ratio = 0.4;
  spec.bodies.push_back(body);
  return spec;
}

class SessionTest : public ::testing::Test {
 protected:
  SessionTest() : scenes_(4, 1000), slots_(2, 16) {
    auto model = CompileScene(FallingTet());
    EXPECT_TRUE(model.ok()) << model.status();
    EXPECT_TRUE(scenes_.Add({"scenes/a", *model, "payload"}).ok());
  }
  std::unique_ptr<Session> NewSession() { return std::make_unique<Session>(*scenes_.PinScene("scenes/a"), 1); }
  static StepCommand Steps(int substeps) {
    StepCommand command;
    command.dt_s = 0.01;
    command.substeps = substeps;
    return command;
  }

  SceneRegistry scenes_;
  SolveSlots slots_;
};

TEST_F(SessionTest, TakesSubsteps) {
  const auto session = NewSession();
  ASSERT_TRUE(session->Step(Steps(5), {}, &slots_).ok());
  EXPECT_EQ(session->world().state().step, 5);
  EXPECT_NEAR(session->world().state().time_s, 0.05, 1e-15);
  EXPECT_EQ(slots_.busy(), 0);
}

// The tool is driven into the table and back within one request: its last step says nothing of that, the request's report does.
TEST_F(SessionTest, TheReportOfARequestIsThatOfAllItsSteps) {
  SceneSpec spec = testing::EmptyScene();
  spec.bodies = {testing::KinematicBox("tool", Vec3(0.02, 0.02, 0.02)), testing::StaticBox("table", Vec3(0.2, 0.2, 0.02))};
  spec.bodies[0].pose.position.z() = 0.03;
  ASSERT_TRUE(scenes_.Add({"scenes/tool", testing::Compile(spec), "payload"}).ok());
  Session session(*scenes_.PinScene("scenes/tool"), {});
  StepCommand command = Steps(4);
  const auto at = [](double z) { return Pose{Vec3(0, 0, z), Quat::Identity()}; };
  command.trajectories = {{0, {{{0, at(0.03)}, {0.01, at(0.025)}, {0.02, at(0)}, {0.03, at(0.025)}, {0.04, at(0.03)}}}}};
  StepSummary summary;
  ASSERT_TRUE(session.Step(command, {}, &slots_, 0, &summary).ok());
  EXPECT_EQ(session.world().state().drives[0].error_m, 0) << "it has come back";
  EXPECT_EQ(summary.steps, 4);
  EXPECT_EQ(summary.report.missed_targets, 1);
  EXPECT_NEAR(summary.report.target_error_m, 0.02, 1e-3);
  EXPECT_EQ(session.world().report().missed_targets, 1);
  EXPECT_EQ(summary.report.outcome, StepOutcome::kConverged) << "there was nothing to solve";
  ASSERT_TRUE(session.Step(Steps(1), {}, &slots_, 0, &summary).ok());
  EXPECT_EQ(session.world().report().missed_targets, 0) << "the next request has a report of its own";
}

TEST_F(SessionTest, RefusesAnotherStepThanExpected) {
  const auto session = NewSession();
  StepCommand command = Steps(1);
  command.expected_step = 0;
  ASSERT_TRUE(session->Step(command, {}, &slots_).ok());
  const absl::Status status = session->Step(command, {}, &slots_);
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_EQ(status.message(), "STEP_MISMATCH: expected_step is 0, but the session is at step 1");
  EXPECT_EQ(session->world().state().step, 1);
}

TEST_F(SessionTest, CancellationLeavesTheLastWholeStep) {
  const auto reference = NewSession();
  ASSERT_TRUE(reference->Step(Steps(2), {}, &slots_).ok());

  const auto session = NewSession();
  // Trips at some poll within the third step, wherever that is.
  StepBudget budget;
  budget.cancelled = [&] { return session->world().state().step == 2; };
  const absl::Status status = session->Step(Steps(5), budget, &slots_);
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled);
  EXPECT_THAT(std::string(status.message()), HasSubstr("session at step 2, 2 of 5 substeps taken"));
  EXPECT_EQ(session->world().state().Digest(), reference->world().state().Digest());

  // And goes on from there as if nothing had happened.
  ASSERT_TRUE(session->Step(Steps(3), {}, &slots_).ok());
  ASSERT_TRUE(reference->Step(Steps(3), {}, &slots_).ok());
  EXPECT_EQ(session->world().state().Digest(), reference->world().state().Digest());
}

TEST_F(SessionTest, ADeadlineLeavesTheLastWholeStep) {
  const auto session = NewSession();
  ASSERT_TRUE(session->Step(Steps(1), {}, &slots_).ok());
  const std::string digest = session->world().state().Digest();
  StepBudget late;
  late.deadline = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  EXPECT_EQ(session->Step(Steps(1), late, &slots_).code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(session->world().state().Digest(), digest);
}

TEST_F(SessionTest, ResetGoesBackToTheStartAndForgetsRequests) {
  const auto session = NewSession();
  const std::string start = session->world().state().Digest();
  ASSERT_TRUE(session->Step(Steps(3), {}, &slots_).ok());
  session->retries().Remember("a", "request", "response");
  EXPECT_NE(session->world().state().Digest(), start);
  ASSERT_TRUE(session->Reset().ok());
  EXPECT_EQ(session->world().state().Digest(), start);
  EXPECT_EQ(*session->retries().Find("a", "request"), nullptr);
}

// A world with materials of its own has a model of its own.
TEST_F(SessionTest, TheModelsOfWorldsWithMaterialsAreInItsMemory) {
  constexpr int64_t kSession = 1000;
  const std::shared_ptr<const Model> model = (*scenes_.Find("scenes/a"))->model;
  State stiffer = InitialState(*model);
  stiffer.materials = {MaterialOfScene(*model, 0)};
  stiffer.materials[0].youngs_modulus_pa *= 2;
  const int64_t each = EstimateMaterialsBytes(*model, stiffer);
  ASSERT_GT(each, 0);
  EXPECT_EQ(EstimateMaterialsBytes(*model, InitialState(*model)), 0);

  MemoryBudget budget(kSession + each, 0);
  Quotas quotas;
  const TenantMemory memory(&budget, &quotas);
  {
    Session session(*scenes_.PinScene("scenes/a"), Session::Options{.worlds = 2});
    session.Keep({}, *memory.Take("", kSession, "the session"));
    EXPECT_EQ(budget.used(), kSession);
    for (int i = 0; i < 2; ++i) {  // once, for as long as the session lives
      ASSERT_TRUE(session.Restore(0, stiffer).ok());
      ASSERT_TRUE(session.Reset(0).ok());
      EXPECT_EQ(budget.used(), kSession + each);
    }
    const absl::Status refused = session.Restore(1, stiffer);
    EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_THAT(std::string(refused.message()), HasSubstr("the model of a world with materials of its own"));
    EXPECT_TRUE(session.world(1).state().materials.empty()) << "nothing happened";
  }
  EXPECT_EQ(budget.used(), 0);

  // A session that comes back has its worlds before it has its memory.
  Session back(*scenes_.PinScene("scenes/a"), Session::Options{.worlds = 2});
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(back.Restore(i, stiffer).ok());
  back.Keep({}, *memory.Take("", kSession, "the session"));
  EXPECT_EQ(budget.used(), kSession + 2 * each) << "it is there already, so it may be more than fits";
  EXPECT_EQ(quotas.held("", Resource::kMemoryBytes), kSession + 2 * each);
}

TEST_F(SessionTest, ASessionKeepsItsSceneFromBeingDeleted) {
  auto session = NewSession();
  EXPECT_EQ(scenes_.Delete("scenes/a").code(), absl::StatusCode::kFailedPrecondition);
  session.reset();
  EXPECT_TRUE(scenes_.Delete("scenes/a").ok());
}

TEST_F(SessionTest, DeletingASessionEndsItsStep) {
  ServerLimits limits;
  SessionRegistry sessions(limits);
  const std::string name = *sessions.Add(NewSession());
  std::atomic<bool> stepping = false;
  std::thread stepper([&] {
    const auto lease = sessions.Acquire(name, {});
    ASSERT_TRUE(lease.ok());
    StepBudget budget;
    budget.cancelled = [&] {
      stepping = true;
      return lease->removed();
    };
    EXPECT_EQ((*lease)->Step(Steps(1 << 30), budget, &slots_).code(), absl::StatusCode::kCancelled);
  });
  while (!stepping) std::this_thread::yield();
  EXPECT_TRUE(sessions.Remove(name, {}).ok());
  EXPECT_EQ(slots_.busy(), 0);
  stepper.join();
}

// Sessions of one model, stepped at once through two slots, give the bits of one stepped alone.
TEST_F(SessionTest, SessionsDoNotDisturbOneAnother) {
  const auto alone = NewSession();
  ASSERT_TRUE(alone->Step(Steps(20), {}, &slots_).ok());
  ServerLimits limits;
  SessionRegistry sessions(limits);
  std::vector<std::string> names;
  for (int i = 0; i < 4; ++i) names.push_back(*sessions.Add(NewSession()));
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 10; ++i) {
        const auto lease = sessions.Acquire(names[t % 4], {});
        ASSERT_TRUE(lease.ok());
        EXPECT_TRUE((*lease)->Step(Steps(1), {}, &slots_).ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& name : names) {
    EXPECT_EQ((*sessions.Acquire(name, {}))->world().state().Digest(), alone->world().state().Digest());
  }
}

std::chrono::steady_clock::duration skipped{};
std::chrono::steady_clock::time_point SkippingNow() { return std::chrono::steady_clock::now() + skipped; }

// What takes long yields to calls (thread_scheduling.h); what does not saves the system calls.
TEST_F(SessionTest, StepsAfterALongOneAreBatchWork) {
  const auto session = std::make_unique<Session>(*scenes_.PinScene("scenes/a"), Session::Options{.now = SkippingNow});
  std::thread([&] {
    UseShortTimeSlices();
    int policy = -1;
    bool slow = false;
    StepBudget budget;
    budget.cancelled = [&] {
      policy = sched_getscheduler(0);
      if (std::exchange(slow, false)) skipped += std::chrono::milliseconds(2);
      return false;
    };
    ASSERT_TRUE(session->Step(Steps(1), budget, &slots_).ok());
    EXPECT_EQ(policy, SCHED_OTHER);
    slow = true;
    ASSERT_TRUE(session->Step(Steps(1), budget, &slots_).ok());
    ASSERT_TRUE(session->Step(Steps(1), budget, &slots_).ok());
    EXPECT_EQ(policy, SCHED_BATCH);
    EXPECT_EQ(sched_getscheduler(0), SCHED_OTHER);
  }).join();
}

}  // namespace
}  // namespace eipc
