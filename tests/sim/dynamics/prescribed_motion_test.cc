// Each drive has a fate of its own, and what is driven stays rigid.

#include "sim/dynamics/prescribed_motion.h"

#include <gtest/gtest.h>

#include "sim/dynamics/achieved_pose.h"
#include "sim/sensor/sensors.h"
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
                  testing::AffineBox("stuck", Vec3(0.02, 0.03, 0.03), stiff), testing::AffineBox("loose", Vec3(0.02, 0.03, 0.03), stiff),
                  testing::StaticBox("wall", Vec3(0.02, 0.1, 0.1))};
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
        world.Step({kStep, {To(world, "blocked", {Vec3(x, 0, 0), kUpright}), To(world, "free", {Vec3(x, 1, 0), kUpright})}}, {}).ok());
    EXPECT_TRUE(testing::IsIntersectionFree(world)) << n;
    EXPECT_EQ(world.state().drives[Set(world, "free")].error_m, 0) << "step " << n << ": its way is free";
  }
  EXPECT_GT(world.state().drives[Set(world, "blocked")].error_m, 0.005);
  EXPECT_EQ(world.report().missed_targets, 1);
  EXPECT_NEAR(BodyPose(world.model(), world.state(), 3).position.x(), 0.019, 2e-3) << "the loose block has been pushed";
}

// A bar that turns about z meets a post half-way.
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
  all.box = BoundarySetSpec::Box{Vec3::Constant(-1), Vec3::Constant(1)};
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

}  // namespace
}  // namespace eipc
