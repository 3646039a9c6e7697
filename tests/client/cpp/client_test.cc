#include "client/cpp/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/client/cpp/client_fixture.h"
#include "tests/conformance/test_scenes.h"

namespace eipc::client {
namespace {

using ::testing::SizeIs;
using ::testing::StartsWith;

TEST_F(ClientTest, Scenes) {
  const auto scene = client_.CreateScene(Source(testing::DrivenBlock()));
  ASSERT_TRUE(scene.ok()) << scene.status();
  ASSERT_THAT(scene->bodies, SizeIs(2));
  EXPECT_EQ(scene->bodies[0].name, "block");
  EXPECT_THAT(scene->bodies[0].boundary_sets, ::testing::ElementsAre("top"));
  EXPECT_EQ(client_.GetScene(scene->name)->display_name, "driven block");
  EXPECT_EQ(client_.ValidateScene(Source(testing::DrivenBlock()))->name, scene->name);
  EXPECT_FALSE(client_.ListScenes()->empty());
  EXPECT_TRUE(client_.DeleteScene(scene->name).ok());
  EXPECT_EQ(client_.GetScene(scene->name).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(ClientTest, ErrorsCarryCodeAndReason) {
  v1::Scene scene = testing::FallingBlock();
  scene.mutable_bodies(0)->mutable_material()->set_density_kg_m3(0);
  const absl::Status status = client_.CreateScene(Source(scene)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), StartsWith("SCENE_INVALID: "));
  EXPECT_EQ(Client::Connect("127.0.0.1:1", {.connect_timeout = std::chrono::milliseconds(100)}).status().code(),
            absl::StatusCode::kUnavailable);
}

TEST_F(ClientTest, StepsWithTargets) {
  Session session = NewSession(testing::DrivenBlock());
  StepOptions options;
  options.targets = {{"plate", "", {.position_m = {1.01, 0, 0}}}};
  options.observe = {.twists = true, .surface_positions = true, .solver_report = true, .boundary_poses = true};
  const auto now = session.Step(0.01, options);
  ASSERT_TRUE(now.ok()) << now.status();
  EXPECT_EQ(now->step, 1);
  EXPECT_EQ(now->solver.outcome, StepOutcome::kConverged);
  const BodyState* plate = now->Find("plate");
  ASSERT_NE(plate, nullptr);
  ASSERT_THAT(plate->surface_positions, SizeIs(8));
  EXPECT_NEAR(plate->surface_positions[0][0], 1.01, 1e-6);
  EXPECT_THAT(plate->surface_positions.flat(), SizeIs(24));
  EXPECT_EQ(now->Find("sofa"), nullptr);

  StepOptions stale;
  stale.expected_step = 0;
  EXPECT_EQ(session.Step(0.01, stale).status().code(), absl::StatusCode::kAborted);
  EXPECT_EQ(session.GetState()->step, 1);
  EXPECT_EQ(session.Reset()->step, 0);
  EXPECT_TRUE(session.Delete().ok());
  EXPECT_EQ(session.GetState().status().code(), absl::StatusCode::kNotFound);
}

// A finger of a block that slides along x, 1 m from the others.
TEST_F(ClientTest, DrivesAreCommandedAndReport) {
  v1::Scene scene = testing::DrivenBlock();
  v1::Body& finger = *scene.add_bodies();
  finger.set_name("finger");
  *finger.mutable_affine()->mutable_surface() = scene.bodies(1).kinematic().surface();
  finger.mutable_pose()->mutable_position_m()->set_z(2);
  finger.mutable_material()->set_density_kg_m3(1000);
  finger.mutable_material()->set_youngs_modulus_pa(1e8);
  finger.mutable_slider()->mutable_axis()->set_x(1);
  finger.mutable_slider()->set_max_force_n(6);
  Session session = NewSession(scene);
  StepOptions options;
  options.drives = {{"finger", "", DriveMode::kForce, {{0, 1}, {0.02, 3}}}};
  options.substeps = 4;
  const auto now = session.Step(0.01, options);
  ASSERT_TRUE(now.ok()) << now.status();
  ASSERT_THAT(now->boundary_poses, SizeIs(1));  // not asked for
  ASSERT_TRUE(now->boundary_poses[0].drive.has_value());
  EXPECT_EQ(now->boundary_poses[0].drive->mode, DriveMode::kForce);
  EXPECT_NEAR(now->boundary_poses[0].drive->effort_n, 3, 1e-9);
  EXPECT_GT(now->boundary_poses[0].drive->velocity_m_s, 0);
  options.drives[0].keys = {{0, 7}};
  EXPECT_EQ(session.Step(0.01, options).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(ClientTest, Float32Positions) {
  Session session = NewSession(testing::FallingBlock());
  const auto wide = session.GetState({.surface_positions = true});
  const auto narrow = session.GetState({.surface_positions = true, .float32_positions = true});
  ASSERT_TRUE(wide.ok() && narrow.ok());
  ASSERT_EQ(wide->bodies[0].surface_positions.size(), narrow->bodies[0].surface_positions.size());
  for (size_t i = 0; i < wide->bodies[0].surface_positions.flat().size(); ++i) {
    EXPECT_NEAR(wide->bodies[0].surface_positions.flat()[i], narrow->bodies[0].surface_positions.flat()[i], 1e-6);
  }
}

TEST_F(ClientTest, Streams) {
  Session session = NewSession(testing::FallingBlock());
  StepStream stream = session.OpenStream();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(stream.Send(0.01).ok());
  ASSERT_TRUE(stream.Send(-1).ok());
  for (int i = 1; i <= 3; ++i) EXPECT_EQ(stream.Receive()->step, i);
  EXPECT_EQ(stream.Receive().status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(stream.Step(0.01)->step, 4);
  EXPECT_TRUE(stream.Finish().ok());
  EXPECT_FALSE(stream.Step(0.01).ok());
}

TEST_F(ClientTest, AStreamMayBeDroppedMidway) {
  Session session = NewSession(testing::FallingBlock());
  {
    StepStream stream = session.OpenStream();
    ASSERT_TRUE(stream.Send(0.01).ok());
  }
  // The session lives on.
  EXPECT_TRUE(session.Step(0.01).ok());
}

TEST_F(ClientTest, SnapshotsForksAndBatches) {
  const auto scene = client_.CreateScene(Source(testing::BlockOnTable()));
  ASSERT_TRUE(scene.ok()) << scene.status();
  auto session = client_.CreateSession(scene->name, SessionOptions{.record = true});
  ASSERT_TRUE(session.ok()) << session.status();
  const StepOptions step = {.observe = {.state_digest = true}, .substeps = 10};
  ASSERT_TRUE(session->Step(0.01, step).ok());
  const auto snapshot = session->Snapshot();
  ASSERT_TRUE(snapshot.ok()) << snapshot.status();
  const std::string end = session->Step(0.01, step)->state_digest;
  ASSERT_TRUE(session->Restore(*snapshot).ok());
  EXPECT_EQ(session->Step(0.01, step)->state_digest, end);
  EXPECT_EQ(session->Restore(snapshot->substr(1)).status().code(), absl::StatusCode::kInvalidArgument);

  auto started = client_.CreateSession(scene->name, {.worlds = 2, .snapshot = *snapshot});
  ASSERT_TRUE(started.ok()) << started.status();
  StepOptions second = step;
  second.world = 1;
  second.expected_step = 3;
  const auto results = started->StepBatch(0.01, {step, second});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ((*results)[0]->state_digest, end);
  EXPECT_EQ((*results)[1].status().code(), absl::StatusCode::kAborted);

  auto fork = session->Fork(2);
  ASSERT_TRUE(fork.ok()) << fork.status();
  EXPECT_EQ(fork->GetState({.state_digest = true})->state_digest, end);
  EXPECT_EQ(client_.FindSession(fork->name())->name(), fork->name());
  EXPECT_GT(session->Recording()->size(), 1000u);
  EXPECT_EQ(fork->Recording().status().code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace eipc::client
