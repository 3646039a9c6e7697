#include "sim/sensor/goals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numbers>

#include "sim/sensor/body_motion.h"
#include "tests/sim/sensor/moving_bodies.h"

namespace eipc {
namespace {

using testing::Random;

constexpr int kMoving[] = {testing::kFull, testing::kEmbedded, testing::kAffine, testing::kKinematic};

Pose Turned(const Vec3& position, const Vec3& axis, double angle) {
  return {position, Quat(Eigen::AngleAxisd(angle, axis.normalized()))};
}

GoalSpec Spec(const std::string& body, const GoalMeasure& measure, double tolerance) {
  return {"goal", body, "", measure, tolerance, std::nullopt};
}

// A box of 0.1 x 0.14 x 0.06 m alone, its mesh frame in the middle, at rest at `pose`.
SceneSpec OneBox(const Pose& pose, const GoalSpec& goal) {
  SceneSpec scene = testing::EmptyScene();
  scene.bodies = {testing::AffineBox("box", testing::kBoxSize, testing::StiffMaterial(900, 1e7)),
                  testing::StaticBox("far", testing::kBoxSize)};
  scene.bodies[0].pose = pose;
  scene.bodies[1].pose = Turned(Vec3(3, 1, 2), Vec3(0, 0, 1), std::numbers::pi / 2);
  scene.goals = {goal};
  return scene;
}

double ValueOf(const SceneSpec& scene) {
  const auto model = testing::Compile(scene);
  return GoalValue(*model, InitialState(*model), model->goals.at(0));
}

TEST(GoalValue, PositionIsTheDistanceFromABox) {
  PositionMeasure measure = {Vec3(-1, -1, -1), Vec3(1, 1, 1), {}};
  const auto value = [&](const Vec3& at) { return ValueOf(OneBox({at, Quat::Identity()}, Spec("box", measure, 0))); };
  EXPECT_NEAR(value(Vec3(0.5, -0.5, 0.9)), 0, 1e-15);
  EXPECT_NEAR(value(Vec3(1.25, 0, 0)), 0.25, 1e-14);   // from a side
  EXPECT_NEAR(value(Vec3(0, -1.3, 1.4)), 0.5, 1e-14);  // from an edge
  EXPECT_NEAR(value(Vec3(3, 3, -2)), 3, 1e-14);        // from a corner
  // A corner of the body, which is turned by a right angle: (0.05, 0.07, 0.03) becomes (-0.07, 0.05, 0.03).
  measure.point = 0.5 * testing::kBoxSize;
  const Pose turned = Turned(Vec3(0, 1, 0), Vec3(0, 0, 1), std::numbers::pi / 2);
  EXPECT_NEAR(ValueOf(OneBox(turned, Spec("box", measure, 0))), 0.05, 1e-14);
}

TEST(GoalValue, DirectionIsAnAngle) {
  const DirectionMeasure measure = {Vec3(0, 0, 2), Vec3(0, 0, 5)};
  for (const double angle : {0.0, 1e-9, 0.3, std::numbers::pi / 2, 3.0, std::numbers::pi}) {
    EXPECT_NEAR(ValueOf(OneBox(Turned(Vec3::Zero(), Vec3(1, 2, 0), angle), Spec("box", measure, 0))), angle, 1e-13) << angle;
  }
}

TEST(GoalValue, AnotherBodyMayBeTheFrame) {
  // The frame at (3, 1, 2), its x axis along y of the world: a point at (1, 0, 0) of it is at (3, 2, 2).
  GoalSpec position = Spec("box", PositionMeasure{Vec3(1, 0, 0), Vec3(1, 0, 0), {}}, 0);
  position.relative_to = "far";
  EXPECT_NEAR(ValueOf(OneBox({Vec3(3, 2, 2), Quat::Identity()}, position)), 0, 1e-13);
  EXPECT_NEAR(ValueOf(OneBox({Vec3(3, 2, 2.5), Quat::Identity()}, position)), 0.5, 1e-13);
  GoalSpec direction = Spec("box", DirectionMeasure{Vec3(0, 1, 0), Vec3(1, 0, 0)}, 0);
  direction.relative_to = "far";
  EXPECT_NEAR(ValueOf(OneBox({Vec3(0, 0, 0), Quat::Identity()}, direction)), 0, 1e-7);
}

// Moved together with the frame that it refers to, nothing changes, whatever the kind of body and wherever its centre of mass is.
TEST(GoalValue, DoesNotDependOnWhereTheWorldIs) {
  Random random(5);
  for (const int body : kMoving) {
    SceneSpec scene = testing::OneOfEachKind();
    const int frame = body == testing::kFull ? testing::kAffine : testing::kFull;
    const Vec3 low = random.Cube(0.2);
    GoalSpec position = Spec(scene.bodies[body].name, PositionMeasure{low, low + Vec3(0.1, 0.1, 0.1), random.Cube(0.1)}, 0);
    GoalSpec direction = Spec(scene.bodies[body].name, DirectionMeasure{random.Cube(1), random.Cube(1)}, 0);
    direction.name = "direction";
    position.relative_to = direction.relative_to = scene.bodies[frame].name;
    scene.goals = {position, direction};
    const auto model = testing::Compile(scene);
    const State start = InitialState(*model);
    const Pose motion = {random.Cube(2), random.Rotation()};
    State moved = testing::MovedRigidly(*model, body, motion, Vec3::Zero(), Vec3::Zero(), Vec3::Zero());
    const IndexRange nodes = model->bodies[frame].nodes;
    for (int32_t i = nodes.begin; i < nodes.end; ++i) moved.q.segment<3>(3 * i) = motion.Apply(model->initial_positions[i]);
    for (const Goal& goal : model->goals) {
      EXPECT_NEAR(GoalValue(*model, moved, goal), GoalValue(*model, start, goal), 1e-12) << body;
    }
    // The centre of mass is the body's own: in its mesh frame, the point where it was placed.
    const Pose& placed = scene.bodies[body].pose;
    EXPECT_LT(((BodyPose(*model, start, body) * model->bodies[body].mesh_frame).position - placed.position).norm(), 1e-12);
  }
}

TEST(GoalValue, SpeedIsThatOfTheFastestVertex) {
  for (const int body : kMoving) {
    SceneSpec scene = testing::OneOfEachKind();
    scene.goals = {Spec(scene.bodies[body].name, SpeedMeasure{}, 0)};
    const auto model = testing::Compile(scene);
    const Vec3 velocity(0.3, -0.4, 0), omega(0, 0, 2);
    const Vec3 pivot = scene.bodies[body].pose.position;
    double expected = 0;
    for (int32_t v = model->bodies[body].vertices.begin; v < model->bodies[body].vertices.end; ++v) {
      expected = std::max(expected, (velocity + omega.cross(model->surface.rest_positions[v] - pivot)).norm());
    }
    const State state = testing::MovedRigidly(*model, body, Pose(), velocity, omega, pivot);
    EXPECT_NEAR(GoalValue(*model, state, model->goals[0]), expected, 1e-12) << body;
    EXPECT_GT(expected, 0.5);
  }
  EXPECT_EQ(ValueOf(OneBox({}, Spec("far", SpeedMeasure{}, 0))), 0);
}

TEST(GoalProgress, JudgesTheEndOrTheWorstSinceATime) {
  GoalSpec goal = Spec("box", SpeedMeasure{}, 0.25);
  SceneSpec scene = OneBox({}, goal);
  scene.goals.push_back(goal);
  scene.goals.push_back(goal);
  scene.goals[1].name = "since 0.3 s";
  scene.goals[1].from_s = 0.3;
  scene.goals[2].name = "since 0.9 s";
  scene.goals[2].from_s = 0.9;
  const auto model = testing::Compile(scene);
  GoalProgress progress(model.get());
  State state = InitialState(*model);
  const auto step = [&](double time, double speed) {
    state = testing::MovedRigidly(*model, 0, Pose(), Vec3(speed, 0, 0), Vec3::Zero(), Vec3::Zero());
    state.time_s = time;
    progress.Add(state);
  };
  step(0.1, 5);
  step(0.1 + 0.1 + 0.1 - 1e-16, 0.5);  // 0.3, less what sums of steps lose
  step(0.4, 0.2);
  const std::vector<GoalResult> results = progress.Results(state);
  ASSERT_EQ(results.size(), 3u);
  EXPECT_NEAR(*results[0].value, 0.2, 1e-14);
  EXPECT_TRUE(results[0].reached);
  EXPECT_NEAR(*results[1].value, 0.5, 1e-14);
  EXPECT_FALSE(results[1].reached);
  EXPECT_FALSE(results[2].value.has_value());  // the run ended before
  EXPECT_FALSE(results[2].reached);
}

TEST(GoalUnit, IsThatOfTheMeasure) {
  EXPECT_STREQ(GoalUnit({.measure = PositionMeasure{}}), "m");
  EXPECT_STREQ(GoalUnit({.measure = DirectionMeasure{}}), "rad");
  EXPECT_STREQ(GoalUnit({.measure = SpeedMeasure{}}), "m/s");
}

}  // namespace
}  // namespace eipc
