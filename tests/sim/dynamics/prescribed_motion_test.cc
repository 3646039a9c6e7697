// Each drive has a fate of its own, and what is driven stays rigid.

#include "sim/dynamics/prescribed_motion.h"

#include <gtest/gtest.h>

#include "sim/dynamics/achieved_pose.h"
#include "sim/material/stable_neo_hookean.h"
#include "sim/sensor/body_motion.h"
#include "tests/support/scenes.h"

namespace eipc {
namespace {

constexpr double kStep = 0.02;
const Quat kUpright = Quat::Identity();

// Two arms that push against a stiff block each. Behind one of the blocks is a wall.
SceneSpec TwoArms() {
  SceneSpec scene = testing::EmptyScene();
  scene.solver.newton_tolerance_m_s = 1e-4;
  scene.contact.stiffness = 1e9;
  const MaterialSpec stiff = testing::StiffMaterial(500, 1e12);
  scene.bodies = {testing::KinematicBox("blocked", Vec3(0.02, 0.04, 0.04)), testing::KinematicBox("free", Vec3(0.02, 0.04, 0.04)),
                  testing::AffineBox("stuck", Vec3(0.02, 0.03, 0.03), stiff),
                  testing::AffineBox("loose", Vec3(0.02, 0.03, 0.03), stiff), testing::StaticBox("wall", Vec3(0.02, 0.1, 0.1))};
  scene.bodies[0].pose.position = Vec3(-0.025, 0, 0);
  scene.bodies[1].pose.position = Vec3(-0.025, 1, 0);
  scene.bodies[3].pose.position = Vec3(0, 1, 0);
  scene.bodies[4].pose.position = Vec3(0.025, 0, 0);
  return scene;
}

int Set(const World& world, const char* body) { return world.model().FindBoundarySet(body, ""); }

Target To(const World& world, const char* body, const Pose& pose) { return {static_cast<int32_t>(Set(world, body)), pose}; }

double LargestRigidError(const World& world, const char* body) {
  const BoundarySet& set = world.model().boundary_sets[Set(world, body)];
  const Pose pose = AchievedPose(world.model(), world.state(), Set(world, body));
  double error = 0;
  for (size_t i = 0; i < set.nodes.size(); ++i) {
    error = std::max(error, (world.state().q.segment<3>(3 * set.nodes[i]) - pose.Apply(set.local_positions[i])).norm());
  }
  return error;
}

TEST(PrescribedMotion, ABlockedArmDoesNotStopAnother) {
  World world(testing::Compile(TwoArms()));
  for (int n = 1; n <= 12; ++n) {
    const double x = -0.025 + 0.002 * n;
    ASSERT_TRUE(
        world.Step({kStep, {To(world, "blocked", {Vec3(x, 0, 0), kUpright}), To(world, "free", {Vec3(x, 1, 0), kUpright})}}, {})
            .ok());
    EXPECT_TRUE(testing::IsIntersectionFree(world)) << n;
    EXPECT_EQ(world.state().drives[Set(world, "free")].error_m, 0) << "step " << n << ": its path is free";
  }
  EXPECT_GT(world.state().drives[Set(world, "blocked")].error_m, 0.005);
  EXPECT_EQ(world.report().missed_targets, 1);
  EXPECT_NEAR(BodyPose(world.model(), world.state(), 3).position.x(), 0.019, 2e-3) << "the loose block has been pushed";
}

// Nothing moves any more between an arm and a wall: there is nothing to wait for.
TEST(PrescribedMotion, IsGivenUpAtOnceWhereAllIsAtRest) {
  World world(testing::Compile(TwoArms()));
  for (int n = 1; n <= 12; ++n) {
    ASSERT_TRUE(world.Step({kStep, {To(world, "blocked", {Vec3(-0.025 + 0.002 * n, 0, 0), kUpright})}}, {}).ok());
    EXPECT_LT(world.report().newton_iterations, 20) << n;
  }
  EXPECT_EQ(world.report().missed_targets, 1);
}

// A plate runs into a soft block that is free to go, and is stopped a ten-thousandth of a micrometre before it. Each iteration
// doubles that, which is far below what moves at the tolerance.
TEST(PrescribedMotion, IsNotGivenUpWhereGapsStillOpen) {
  for (const double speed : {0.1, 1.0}) {
    SceneSpec scene = testing::EmptyScene();
    scene.gravity = Vec3(0, 0, -9.81);
    scene.contact.dhat_m = 1e-6;
    scene.friction.dynamic_coefficient = 0.3;
    scene.solver.newton_tolerance_m_s = 1e-4;
    scene.bodies = {testing::KinematicBox("plate", Vec3(0.02, 0.014, 0.014)),
                    testing::FullSpaceBox("block", Vec3::Constant(0.02), {2, 2, 2},
                                          testing::SoftMaterial(50, 1e5, 0.3, &StableNeoHookean::kDescriptor)),
                    testing::StaticSheet("floor", 0.6)};
    scene.bodies[0].pose.position = Vec3(-0.0215, 0.001, 0.002);
    scene.bodies[2].pose.position = Vec3(0.011, 0.007, -0.01 - 0.7e-6);
    World world(testing::Compile(scene));
    for (int n = 1; n <= 15; ++n) {
      const Pose at = {Vec3(-0.0215 + 0.01 * speed * n, 0.001, 0.002), kUpright};
      ASSERT_TRUE(world.Step({0.01, {To(world, "plate", at)}}, {}).ok());
      EXPECT_EQ(world.report().missed_targets, 0) << speed << " m/s, step " << n;
      EXPECT_TRUE(testing::IsIntersectionFree(world)) << n;
    }
    EXPECT_GT(BodyPose(world.model(), world.state(), 1).position.x(), 0.1 * speed) << "it is pushed along";
  }
}

// A bar that turns about z meets a post at half of its turn.
TEST(PrescribedMotion, ABlockedBodyThatTurnsStaysRigid) {
  SceneSpec scene = testing::EmptyScene();
  scene.solver.newton_tolerance_m_s = 1e-4;
  scene.contact.stiffness = 1e9;
  scene.bodies = {testing::KinematicBox("bar", Vec3(0.2, 0.01, 0.02)),
                  testing::FullSpaceBox("post", Vec3(0.02, 0.02, 0.02), {1, 1, 1}, testing::SoftMaterial(500, 1e6, 0.3))};
  const Vec3 outward(std::cos(0.5), std::sin(0.5), 0), along(-std::sin(0.5), std::cos(0.5), 0);
  scene.bodies[1].pose = {0.08 * outward + 0.017 * along, Quat(Eigen::AngleAxisd(0.5, Vec3::UnitZ()))};
  BoundarySetSpec all;  // the post is held
  all.name = "all";
  all.box = SelectionBox{Vec3::Constant(-1), Vec3::Constant(1)};
  scene.bodies[1].boundary_sets = {all};
  World world(testing::Compile(scene));
  int missed = 0;
  for (int n = 1; n <= 8; ++n) {
    const Pose pose = {Vec3::Zero(), Quat(Eigen::AngleAxisd(0.1 * n, Vec3::UnitZ()))};
    ASSERT_TRUE(world.Step({kStep, {To(world, "bar", pose)}}, {}).ok());
    EXPECT_TRUE(testing::IsIntersectionFree(world)) << n;
    EXPECT_LT(LargestRigidError(world, "bar"), 1e-12) << "step " << n;
    missed += world.report().missed_targets;
  }
  EXPECT_GE(missed, 2);
  const Pose achieved = AchievedPose(world.model(), world.state(), Set(world, "bar"));
  const double angle = 2 * std::atan2(achieved.rotation.z(), achieved.rotation.w());
  EXPECT_GT(angle, 0.35) << "as far as the post lets it";
  EXPECT_LT(angle, 0.6);
  EXPECT_LT(achieved.position.norm(), 1e-9) << "it stops along its path";
  // Back where it came from it moves at once.
  ASSERT_TRUE(world.Step({kStep, {To(world, "bar", {Vec3::Zero(), kUpright})}}, {}).ok());
  EXPECT_EQ(world.report().missed_targets, 0);
}

// Where the first of two stages ends, or the midpoint is, the bar is as rigid as at the end: what stops it later finds it so.
int TurnABar(IntegratorKind integrator, bool fixed_post) {
  SceneSpec scene = testing::EmptyScene();
  scene.solver.newton_tolerance_m_s = 1e-4;
  scene.dynamics.integrator = integrator;
  const MaterialSpec stiff = testing::StiffMaterial(500, 1e8);
  const Vec3 size = Vec3::Constant(0.02);
  scene.bodies = {testing::KinematicBox("bar", Vec3(0.2, 0.01, 0.02)),
                  fixed_post ? testing::StaticBox("outer", size) : testing::AffineBox("outer", size, stiff),
                  testing::AffineBox("inner", 0.5 * size, stiff)};
  const auto about_z = [](double angle) { return Quat(Eigen::AngleAxisd(angle, Vec3::UnitZ())); };
  const Vec3 outward(std::cos(0.9), std::sin(0.9), 0);
  scene.bodies[1].pose = {0.098 * outward, about_z(0.9)};
  scene.bodies[2].pose = {0.03 * outward, about_z(1.2)};
  World world(testing::Compile(scene));
  int missed = 0;
  for (int n = 1; n <= 2; ++n) {
    EXPECT_TRUE(world.Step({kStep, {To(world, "bar", {Vec3::Zero(), about_z(1.5 * n)})}}, {}).ok());
    EXPECT_TRUE(testing::IsIntersectionFree(world)) << n;
    EXPECT_LT(LargestRigidError(world, "bar"), 1e-11) << "integrator " << static_cast<int>(integrator) << ", step " << n;
    missed += world.report().missed_targets;
  }
  return missed;
}

TEST(PrescribedMotion, ABarThatTurnsStaysRigidInEveryStage) {
  for (const IntegratorKind integrator : {IntegratorKind::kTrBdf2, IntegratorKind::kSdirk2, IntegratorKind::kImplicitMidpoint}) {
    TurnABar(integrator, false);
    EXPECT_GT(TurnABar(integrator, true), 0) << "it cannot pass";
  }
}

// The arm's own gap to the block stays wide; the gap that it closes is the one behind the block.
TEST(PrescribedMotion, GapsThatADriveClosesThroughAnotherBodyCount) {
  World world(testing::Compile(TwoArms()));
  for (int n = 1; n <= 40; ++n) {
    ASSERT_TRUE(world.Step({kStep, {To(world, "blocked", {Vec3(0.02, 0, 0), kUpright})}}, {}).ok());
    ASSERT_TRUE(testing::IsIntersectionFree(world)) << n;
    ASSERT_GT(world.report().min_distance_m, 0.5 * PrescribedMotion::kTightestGap * world.model().contact.dhat_m) << n;
  }
  EXPECT_EQ(world.report().missed_targets, 1);
}

// A step that is taken again because it wakes a body takes its drives from the start again.
TEST(PrescribedMotion, ADriveArrivesInAStepThatWakesABody) {
  SceneSpec scene = testing::EmptyScene();
  scene.gravity = Vec3(0, 0, -9.81);
  scene.solver.newton_tolerance_m_s = 1e-5;
  scene.dynamics.sleep.after_s = 0.05;
  scene.friction.dynamic_coefficient = 0.3;
  scene.bodies = {testing::AffineBox("block", Vec3(0.04, 0.04, 0.04), testing::StiffMaterial(500, 1e8)),
                  testing::KinematicBox("plate", Vec3(0.02, 0.1, 0.02)), testing::StaticSheet("floor", 1)};
  scene.bodies[0].pose.position.z() = 0.0207;
  scene.bodies[1].pose.position = Vec3(-0.06, 0, 0.03);
  World world(testing::Compile(scene));
  for (int n = 0; n < 100 && world.report().sleeping_bodies == 0; ++n) testing::RunSteps(&world, 1, kStep);
  ASSERT_GT(world.report().sleeping_bodies, 0);
  int woken = 0;
  for (int n = 1; n <= 8; ++n) {
    ASSERT_TRUE(world.Step({kStep, {To(world, "plate", {Vec3(-0.06 + 0.008 * n, 0, 0.03), kUpright})}}, {}).ok());
    woken += world.report().wake_retries;
    EXPECT_EQ(world.report().missed_targets, 0) << "step " << n;
    EXPECT_TRUE(testing::IsIntersectionFree(world)) << n;
  }
  EXPECT_GT(woken, 0);
}

// No force acts between a tool and a table, so it is collision detection that stops the tool.
TEST(PrescribedMotion, AToolStopsAtTheTable) {
  SceneSpec scene = testing::EmptyScene();
  scene.bodies = {testing::KinematicBox("tool", Vec3(0.02, 0.02, 0.04)), testing::StaticBox("table", Vec3(0.2, 0.2, 0.02)),
                  testing::KinematicBox("other", Vec3(0.02, 0.02, 0.02))};
  scene.bodies[0].pose.position.z() = 0.05;
  scene.bodies[2].pose.position = Vec3(0.05, 0, 0.05);
  World world(testing::Compile(scene));
  const double top = 0.01 + 0.02;  // of the table, and half the tool
  double lowest = 1;
  for (int n = 1; n <= 60; ++n) {
    const Pose below = {Vec3(0, 0, std::max(-0.05, 0.05 - 0.005 * n)), kUpright};
    ASSERT_TRUE(world.Step({kStep, {To(world, "tool", below)}}, {}).ok());
    ASSERT_TRUE(testing::IsIntersectionFree(world)) << n;
    const double z = BodyPose(world.model(), world.state(), 0).position.z();
    EXPECT_GE(z, top);
    EXPECT_EQ(world.report().missed_targets, below.position.z() < top + 1e-12 ? 1 : 0) << n;
    EXPECT_EQ(world.report().outcome, StepOutcome::kConverged) << "there is nothing to solve";
    EXPECT_TRUE(world.contact_forces().stencils.empty()) << "no force acts between them";
    lowest = std::min(lowest, world.report().min_distance_m);
  }
  EXPECT_LT(lowest, 0.2 * world.model().contact.dhat_m);
  EXPECT_GT(lowest, 0.5 * PrescribedMotion::kTightestGap * world.model().contact.dhat_m);
  // Two kinematic bodies stop each other too; away from the table the tool moves freely.
  ASSERT_TRUE(world.Step({kStep, {To(world, "tool", {Vec3(0, 0, 0.06), kUpright})}}, {}).ok());
  EXPECT_EQ(world.report().missed_targets, 0);
  ASSERT_TRUE(world.Step({kStep, {To(world, "other", {Vec3(-0.05, 0, 0.06), kUpright})}}, {}).ok());
  EXPECT_EQ(world.report().missed_targets, 1);
  EXPECT_GT(BodyPose(world.model(), world.state(), 2).position.x(), 0.02);
  ASSERT_TRUE(testing::IsIntersectionFree(world));
}

// Tools that reach a table from different heights are blocked one after another. That takes many moves, but none of those of
// another drive, and none of the iterations that the free bodies have.
TEST(PrescribedMotion, ManyBlockedToolsDoNotStopAnother) {
  constexpr int kTools = 16;
  SceneSpec scene = testing::EmptyScene();
  scene.gravity = Vec3(0, 0, -9.81);
  scene.bodies = {testing::KinematicBox("free", Vec3(0.02, 0.02, 0.02)), testing::StaticBox("table", Vec3(3, 0.2, 0.02)),
                  testing::AffineBox("falling", Vec3(0.02, 0.02, 0.02), testing::StiffMaterial(500, 1e8))};
  scene.bodies[0].pose.position = Vec3(0, 1, 0.03);
  scene.bodies[2].pose.position = Vec3(0, 2, 0.03);
  std::vector<Pose> goals;
  for (int i = 0; i < kTools; ++i) {
    scene.bodies.push_back(testing::KinematicBox("tool" + std::to_string(i), Vec3(0.02, 0.02, 0.02)));
    scene.bodies.back().pose.position = Vec3(0.05 * i - 0.4, 0, 0.0215 + 0.00013 * i);
    goals.push_back({Vec3(0.05 * i - 0.4, 0, 0.0115), kUpright});
  }
  World world(testing::Compile(scene));
  std::vector<Target> targets = {To(world, "free", {Vec3(0, 1, 0.02), kUpright})};
  for (int i = 0; i < kTools; ++i) targets.push_back(To(world, scene.bodies[3 + i].name.c_str(), goals[i]));
  ASSERT_TRUE(world.Step({kStep, targets}, {}).ok());
  EXPECT_EQ(world.state().drives[Set(world, "free")].error_m, 0) << "its path is free";
  EXPECT_EQ(world.report().missed_targets, kTools);
  EXPECT_EQ(world.report().outcome, StepOutcome::kConverged);
  EXPECT_NEAR(BodyPose(world.model(), world.state(), 2).position.z(), 0.03 - 9.81 * kStep * kStep, 1e-8) << "it falls";
  EXPECT_TRUE(testing::IsIntersectionFree(world));
}

// Each of the pins closes the gap behind the block by a small part of the whole, and no other drive does more.
TEST(PrescribedMotion, ManyPinsThatPushOneBlockAreStopped) {
  constexpr int kRows = 5;
  constexpr double kPitch = 0.03;
  SceneSpec scene = testing::EmptyScene();
  scene.solver.newton_tolerance_m_s = 1e-4;
  scene.bodies = {testing::AffineBox("block", Vec3(0.02, kRows * kPitch, kRows * kPitch), testing::StiffMaterial(500, 1e8)),
                  testing::StaticBox("wall", Vec3(0.02, 1, 1))};
  scene.bodies[1].pose.position.x() = 0.0255;
  for (int i = 0; i < kRows * kRows; ++i) {
    const int row = i / kRows;
    scene.bodies.push_back(testing::KinematicBox("pin" + std::to_string(i), Vec3(0.02, 0.01, 0.01)));
    scene.bodies.back().pose.position = Vec3(-0.0208, kPitch * (row - 2), kPitch * (i % kRows - 2));
  }
  World world(testing::Compile(scene));
  for (int n = 1; n <= 4; ++n) {
    std::vector<Target> targets;
    for (int i = 0; i < kRows * kRows; ++i) {
      const Vec3 at = scene.bodies[2 + i].pose.position + Vec3(0.003 * n, 0, 0);
      targets.push_back(To(world, scene.bodies[2 + i].name.c_str(), {at, kUpright}));
    }
    ASSERT_TRUE(world.Step({kStep, targets}, {}).ok());
    EXPECT_TRUE(testing::IsIntersectionFree(world)) << n;
    EXPECT_EQ(world.report().outcome, StepOutcome::kConverged) << n;
  }
  EXPECT_EQ(world.report().missed_targets, kRows * kRows);
}

// The parts of a step divide the path to a client's target, whatever their number.
TEST(PrescribedMotion, AClientsTargetIsApproachedAtAConstantSpeedInParts) {
  SceneSpec scene = testing::EmptyScene();
  scene.gravity = Vec3(0, 0, -9.81);
  scene.dynamics.substep_newton_iterations = 1;  // so that every step is cut as finely as may be
  scene.dynamics.max_step_halvings = 3;
  scene.bodies = {testing::KinematicBox("plate", Vec3(0.1, 0.1, 0.02)),
                  testing::FullSpaceBox("block", Vec3(0.04, 0.04, 0.04), {1, 1, 1}, testing::SoftMaterial(500, 2e4, 0.3))};
  scene.bodies[1].pose.position.z() = 0.0305;
  World world(testing::Compile(scene));
  for (int n = 1; n <= 3; ++n) {
    ASSERT_TRUE(world.Step({kStep, {To(world, "plate", {Vec3(0, 0, 0.008 * n), kUpright})}}, {}).ok());
    ASSERT_EQ(world.report().substeps, 8);
    EXPECT_EQ(world.report().missed_targets, 0);
    const int32_t node = world.model().boundary_sets[0].nodes[0];
    EXPECT_NEAR(world.state().v[3 * node + 2], 0.4, 1e-9) << "in the last part of step " << n;
  }
}

TEST(PrescribedMotion, APairThatIsDisabledPasses) {
  SceneSpec scene = testing::EmptyScene();
  scene.bodies = {testing::KinematicBox("tool", Vec3(0.02, 0.02, 0.02)), testing::StaticBox("table", Vec3(0.2, 0.2, 0.02))};
  scene.bodies[0].pose.position.z() = 0.03;
  scene.contact_pairs.push_back({"tool", "table", false, {}});
  World world(testing::Compile(scene));
  ASSERT_TRUE(world.Step({kStep, {To(world, "tool", {Vec3(0, 0, -0.03), kUpright})}}, {}).ok());
  EXPECT_EQ(world.report().missed_targets, 0);
}

}  // namespace
}  // namespace eipc
