#include "sim/dynamics/placement.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "sim/dynamics/world.h"
#include "sim/sensor/body_motion.h"
#include "tests/support/bag_of_cloth.h"
#include "tests/support/scenes.h"

namespace eipc {
namespace {

// A soft box, an affine one that moves and turns, a table, a tool, and a box that is held.
SceneSpec Boxes() {
  SceneSpec scene = testing::EmptyScene();
  const MaterialSpec soft = testing::SoftMaterial(500, 5e4, 0.4);
  scene.bodies = {testing::EmbeddedBox("soft", Vec3(0.1, 0.06, 0.05), {2, 2, 2}, soft),
                  testing::AffineBox("stiff", Vec3(0.04, 0.04, 0.04), testing::StiffMaterial(800, 1e6)),
                  testing::StaticBox("table", Vec3(1, 1, 0.1)), testing::KinematicBox("tool", Vec3(0.02, 0.02, 0.02))};
  scene.bodies[0].pose.position = Vec3(0, 0, 0.1);
  scene.bodies[1].pose.position = Vec3(0.2, 0, 0.1);
  scene.bodies[1].linear_velocity = Vec3(1, 0, 0);
  scene.bodies[1].angular_velocity = Vec3(0, 0, 2);
  scene.bodies[2].pose.position = Vec3(0, 0, -0.05);
  scene.bodies[3].pose.position = Vec3(-0.2, 0, 0.2);
  return scene;
}

Quat About(const Vec3& axis, double angle) { return Quat(Eigen::AngleAxisd(angle, axis)); }

// The first start that is free, or the failure.
absl::StatusOr<State> PlacedStart(const Model& model, const StartOrder& order) {
  StartDraws draws(&model, order);
  while (draws.Left()) {
    if (std::optional<State> state = draws.Next()) return *std::move(state);
  }
  return draws.Failure();
}

StartOrder Ranges(uint64_t seed) {
  StartOrder order;
  PlacementRange soft;
  soft.body = 0;
  soft.translation = {Vec3(-0.1, -0.1, 0), Vec3(0.1, 0.1, 0.1)};
  soft.max_angle = M_PI;
  PlacementRange stiff;
  stiff.body = 1;
  stiff.translation = {Vec3(-0.2, -0.2, 0), Vec3(0.2, 0.2, 0)};
  stiff.axis = Vec3::UnitZ();
  stiff.max_angle = 0.5;
  stiff.linear_velocity = PlacementRange::Bounds{Vec3(-1, 0, 0), Vec3(1, 0, 0.5)};
  order.ranges = {soft, stiff};
  order.seed = seed;
  order.attempts = 1000;
  return order;
}

TEST(Placement, MovesABodyRigidlyAboutItsCentre) {
  const auto model = testing::Compile(Boxes());
  const Quat turn = About(Vec3(1, 2, 3).normalized(), 0.7);
  const auto start = PlacedStart(*model, {{{0, Vec3(0.01, 0.02, 0.2), turn, {}, {}}}, {}, 0, 1});
  ASSERT_TRUE(start.ok()) << start.status();
  const Pose pose = BodyPose(*model, *start, 0);
  EXPECT_LT((pose.position - Vec3(0.01, 0.02, 0.3)).norm(), 1e-12);
  EXPECT_LT(pose.rotation.angularDistance(turn), 1e-12);
  const State plain = InitialState(*model);
  const IndexRange& others = model->bodies[1].nodes;
  EXPECT_EQ(start->q.segment(3 * others.begin, 3 * others.size()), plain.q.segment(3 * others.begin, 3 * others.size()));
}

// No element is strained by it: the body stays where it is put.
TEST(Placement, StrainsNothing) {
  const auto model = testing::Compile(Boxes());
  const auto start = PlacedStart(*model, {{{0, Vec3(0, 0, 0.2), About(Vec3::UnitX(), 1.1), Vec3::Zero(), Vec3::Zero()}}, {}, 0, 1});
  ASSERT_TRUE(start.ok()) << start.status();
  World world(model);
  ASSERT_TRUE(world.Restore(*start).ok());
  testing::RunSteps(&world, 10, 0.01);
  const IndexRange& nodes = model->bodies[0].nodes;
  EXPECT_LT((world.state().q - start->q).segment(3 * nodes.begin, 3 * nodes.size()).cwiseAbs().maxCoeff(), 1e-9);
}

TEST(Placement, TurnsTheVelocityOrSetsIt) {
  const auto model = testing::Compile(Boxes());
  const Quat turn = About(Vec3::UnitX(), M_PI / 2);
  const auto turned = PlacedStart(*model, {{{1, Vec3(0, 0, 0.2), turn, {}, {}}}, {}, 0, 1});
  ASSERT_TRUE(turned.ok()) << turned.status();
  const Twist kept = BodyTwist(*model, *turned, 1);
  EXPECT_LT((kept.linear - Vec3(1, 0, 0)).norm(), 1e-12);
  EXPECT_LT((kept.angular - Vec3(0, -2, 0)).norm(), 1e-12) << "z becomes -y";
  const auto set = PlacedStart(*model, {{{1, Vec3(0, 0, 0.2), turn, Vec3(0, 3, 0), {}}}, {}, 0, 1});
  ASSERT_TRUE(set.ok()) << set.status();
  const Twist given = BodyTwist(*model, *set, 1);
  EXPECT_LT((given.linear - Vec3(0, 3, 0)).norm(), 1e-12);
  EXPECT_LT(given.angular.norm(), 1e-12);
}

TEST(Placement, RefusesAStartInWhichBodiesMeetOrAreInside) {
  const auto model = testing::Compile(Boxes());
  const auto meets = PlacedStart(*model, {{{1, Vec3(-0.2, 0, 0), Quat::Identity(), {}, {}}}, {}, 0, 1});
  EXPECT_EQ(meets.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(std::string(meets.status().message()).rfind("NO_FREE_START: ", 0), 0u) << meets.status();
  const auto inside = PlacedStart(*model, {{{1, Vec3(0, 0, -0.15), Quat::Identity(), {}, {}}}, {}, 0, 1});
  EXPECT_NE(inside.status().message().find("\"stiff\" lies inside \"table\""), std::string::npos) << inside.status();
}

TEST(Placement, LeavesThingsInABagOfCloth) {
  const auto model = testing::Compile(testing::BagOfCloth());
  const auto moved = PlacedStart(*model, {{{1, Vec3(0, 0, 0.01), Quat::Identity(), {}, {}}}, {}, 0, 1});
  EXPECT_TRUE(moved.ok()) << moved.status();
}

// Half of the thickness is the bag's, and the box has none.
TEST(Placement, RefusesAStartCloserThanTheThicknessOfAShell) {
  const auto model = testing::Compile(testing::BagOfCloth());
  const auto at_gap = [&](double gap) {
    return PlacedStart(*model, {{{1, Vec3(0, 0, 0.03 - gap), Quat::Identity(), {}, {}}}, {}, 0, 1});
  };
  const auto far = at_gap(1.1e-3);
  ASSERT_TRUE(far.ok()) << far.status();
  World world(model);
  ASSERT_TRUE(world.Restore(*far).ok());
  testing::RunSteps(&world, 3, 0.01);
  EXPECT_LT(BodyPose(*model, world.state(), 1).position.z(), BodyPose(*model, *far, 1).position.z() - 1e-4) << "it is pushed away";
  const auto near = at_gap(0.9e-3);
  EXPECT_EQ(near.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(near.status().message().find("NO_FREE_START: \"bag\" and \"box\" are 0.0009 m apart"), std::string::npos)
      << near.status();
}

TEST(Placement, RefusesAStartOutOfTheRangeOfNumbers) {
  const auto model = testing::Compile(Boxes());
  const Placement spinning = {1, Vec3(0, 0, 1), Quat::Identity(), {}, Vec3(0, 0, std::numeric_limits<double>::infinity())};
  EXPECT_EQ(PlacedStart(*model, {{spinning}, {}, 0, 1}).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(Placement, NamesBodiesThatCannotBePlaced) {
  const auto model = testing::Compile(Boxes());
  EXPECT_EQ(PlacementProblem(*model, 0), "");
  EXPECT_EQ(PlacementProblem(*model, 1), "");
  EXPECT_NE(PlacementProblem(*model, 2), "");
  EXPECT_NE(PlacementProblem(*model, 3), "");
}

TEST(Placement, NamesTheJointThatHoldsABody) {
  SceneSpec scene = Boxes();
  JointSpec joint;
  joint.name = "pin";
  joint.body_a = "stiff";
  joint.body_b = "tool";
  joint.point = 0.5 * (scene.bodies[1].pose.position + scene.bodies[3].pose.position);
  joint.kind = JointKind::kBall;
  scene.joints = {joint};
  EXPECT_NE(PlacementProblem(*testing::Compile(scene), 1).find("'pin'"), std::string::npos);
  scene.joints[0].kind = JointKind::kSpring;
  scene.joints[0].point = scene.bodies[1].pose.position;
  scene.joints[0].point_b = scene.bodies[3].pose.position;
  scene.joints[0].law.stiffness = 1;
  const auto sprung = testing::Compile(scene);
  EXPECT_EQ(PlacementProblem(*sprung, 1), "");
  StartOrder order;
  order.placements.push_back({});
  order.placements[0].body = 1;
  order.placements[0].translation = Vec3(0, 0, 0.05);
  const absl::StatusOr<State> start = PlacedStart(*sprung, order);
  ASSERT_TRUE(start.ok()) << start.status();
  const double length = (scene.bodies[1].pose.position + Vec3(0, 0, 0.05) - scene.bodies[3].pose.position).norm();
  EXPECT_NEAR(start->joints[0].position, length, 1e-12);
}

// A thousand starts: none has an intersection, the same seed has the same bits, other seeds have other ones, and what is drawn
// fills its ranges.
TEST(Placement, DrawsFreeStartsBySeed) {
  const auto model = testing::Compile(Boxes());
  std::set<std::string> digests;
  World world(model);
  Vec3 low = Vec3::Constant(1), high = Vec3::Constant(-1), mean = Vec3::Zero();
  double least_speed = 2, most_speed = -2;
  constexpr int kStarts = 1000;
  for (int seed = 0; seed < kStarts; ++seed) {
    const auto start = PlacedStart(*model, Ranges(seed));
    ASSERT_TRUE(start.ok()) << start.status();
    ASSERT_TRUE(world.Restore(*start).ok());
    EXPECT_TRUE(testing::IsIntersectionFree(world)) << seed;
    digests.insert(start->Digest());
    if (seed % 100 == 0) {
      EXPECT_EQ(PlacedStart(*model, Ranges(seed))->Digest(), start->Digest());
    }
    const Vec3 moved = BodyPose(*model, *start, 0).position - Vec3(0, 0, 0.1);
    low = low.cwiseMin(moved);
    high = high.cwiseMax(moved);
    mean += moved / kStarts;
    const double speed = BodyTwist(*model, *start, 1).linear.x();
    least_speed = std::min(least_speed, speed);
    most_speed = std::max(most_speed, speed);
  }
  EXPECT_EQ(digests.size(), static_cast<size_t>(kStarts));
  EXPECT_TRUE((low.array() >= Vec3(-0.1, -0.1, 0).array() - 1e-9).all() && (high.array() <= 0.1 + 1e-9).all());
  EXPECT_TRUE((high - low).minCoeff() > 0.09) << (high - low).transpose();
  EXPECT_LT(mean.head<2>().norm(), 0.02);
  EXPECT_TRUE(least_speed > -1 && least_speed < -0.9 && most_speed < 1 && most_speed > 0.9);
}

TEST(Placement, GivesUpAfterItsAttempts) {
  const auto model = testing::Compile(Boxes());
  StartOrder order = Ranges(1);
  order.ranges[1].translation = {Vec3(-0.2, 0, -0.15), Vec3(-0.2, 0, -0.15)};
  order.attempts = 7;
  const auto start = PlacedStart(*model, order);
  EXPECT_NE(start.status().message().find("in the last of 7 draws"), std::string::npos) << start.status();
}

}  // namespace
}  // namespace eipc
