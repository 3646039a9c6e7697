#include "sim/dynamics/drives.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/dynamics/achieved_pose.h"
#include "tests/support/scenes.h"

namespace eipc {
namespace {

using ::testing::HasSubstr;

constexpr double kStep = 0.01;

// A soft box whose lower face is held by a boundary set, and a kinematic plate with a trajectory, far from each other.
std::shared_ptr<const Model> Driven() {
  SceneSpec scene = testing::EmptyScene();
  scene.bodies = {testing::FullSpaceBox("box", Vec3(0.1, 0.1, 0.1), {2, 2, 2}, testing::SoftMaterial(1000, 1e5, 0.3)),
                  testing::KinematicBox("plate", Vec3(0.1, 0.1, 0.01))};
  BoundarySetSpec foot;
  foot.name = "foot";
  foot.box = SelectionBox{Vec3(-1, -1, -0.051), Vec3(1, 1, -0.049)};
  foot.frame = Pose{Vec3(0, 0, -0.05), Quat::Identity()};
  scene.bodies[0].boundary_sets = {foot};
  scene.bodies[1].pose.position.z() = 1;
  scene.bodies[1].trajectory.keys = {{0, scene.bodies[1].pose}, {1, {Vec3(0.5, 0, 1), Quat(Eigen::AngleAxisd(1, Vec3::UnitZ()))}}};
  return testing::Compile(scene);
}

double FootError(const World& world, const Pose& pose) {
  const BoundarySet& set = world.model().boundary_sets[world.model().FindBoundarySet("box", "foot")];
  double error = 0;
  for (size_t i = 0; i < set.nodes.size(); ++i) {
    error = std::max(error, (world.state().q.segment<3>(3 * set.nodes[i]) - pose.Apply(set.local_positions[i])).norm());
  }
  return error;
}

TEST(Drives, WithoutATargetASetStaysWhereItWasPlaced) {
  World world(Driven());
  const VecX before = world.state().q;
  EXPECT_EQ(testing::RunSteps(&world, 3, kStep), 0);
  const BoundarySet& foot = world.model().boundary_sets[world.model().FindBoundarySet("box", "foot")];
  EXPECT_EQ(foot.nodes.size(), 9u);
  for (int32_t node : foot.nodes) EXPECT_LT((world.state().q.segment<3>(3 * node) - before.segment<3>(3 * node)).norm(), 1e-16);
}

TEST(Drives, AKinematicBodyFollowsItsTrajectory) {
  World world(Driven());
  const int plate = world.model().FindBoundarySet("plate", "");
  ASSERT_GE(plate, 0);
  const BoundarySet& set = world.model().boundary_sets[plate];
  for (int k = 1; k <= 4; ++k) {
    testing::RunSteps(&world, 1, 0.25);
    const Pose pose = set.trajectory.At(0.25 * k);
    for (size_t i = 0; i < set.nodes.size(); ++i) {
      EXPECT_EQ(Vec3(world.state().q.segment<3>(3 * set.nodes[i])), pose.Apply(set.local_positions[i])) << "to the bit";
    }
    EXPECT_EQ(world.report().target_error_m, 0);
  }
}

TEST(Drives, AClientsTargetIsReachedAndKept) {
  World world(Driven());
  const int foot = world.model().FindBoundarySet("box", "foot");
  const Pose target = {Vec3(0.02, 0.01, -0.06), Quat(Eigen::AngleAxisd(0.2, Vec3::UnitY()))};
  ASSERT_TRUE(world.Step({kStep, {{foot, target}}}, {}).ok());
  EXPECT_EQ(world.report().outcome, StepOutcome::kConverged);
  EXPECT_EQ(FootError(world, target), 0);
  testing::RunSteps(&world, 5, kStep);
  EXPECT_EQ(FootError(world, target), 0) << "it stays without another command";
  const Pose achieved = AchievedPose(world.model(), world.state(), foot);
  EXPECT_LT((achieved.position - target.position).norm(), 1e-14);
  EXPECT_LT(achieved.rotation.angularDistance(target.rotation), 1e-7);
}

TEST(Drives, AClientsTargetOverridesTheTrajectory) {
  World world(Driven());
  const int plate = world.model().FindBoundarySet("plate", "");
  const Pose target = {Vec3(0, 0, 2), Quat::Identity()};
  ASSERT_TRUE(world.Step({kStep, {{plate, target}}}, {}).ok());
  testing::RunSteps(&world, 3, kStep);
  EXPECT_TRUE(world.state().drives[plate].by_client);
  EXPECT_EQ(world.state().drives[plate].commanded.position, target.position);
  world.Reset();
  testing::RunSteps(&world, 1, kStep);
  EXPECT_FALSE(world.state().drives[plate].by_client) << "Reset gives the trajectory its say again";
}

TEST(Drives, BadInputIsNamedAndChangesNothing) {
  World world(Driven());
  const std::string before = world.state().Digest();
  const Pose good;
  Pose far;
  far.position.x() = std::nan("");
  Pose stretched;
  stretched.rotation.w() = 2;
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<std::pair<StepInput, std::string>> cases = {
      {{0, {}}, "dt_s"},
      {{-1, {}}, "dt_s"},
      {{1.5, {}}, "dt_s"},
      {{std::nan(""), {}}, "dt_s"},
      {{infinity, {}}, "dt_s"},
      {{kStep, {{-1, good}}}, "targets[0]: no such boundary set"},
      {{kStep, {{0, good}, {7, good}}}, "targets[1]: no such boundary set"},
      {{kStep, {{0, good}, {0, good}}}, "targets[1]: this boundary set has another target"},
      {{kStep, {{0, far}}}, "targets[0].pose: must be finite"},
      {{kStep, {{0, stretched}}}, "targets[0].pose.quaternion: must have length 1, got 2"},
  };
  for (const auto& [input, message] : cases) {
    const absl::Status status = world.Step(input, {});
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr(message));
    EXPECT_EQ(world.state().Digest(), before);
  }
  EXPECT_TRUE(world.Step({kStep, {}}, {}).ok());
}

}  // namespace
}  // namespace eipc
