// Friction with answers from a textbook: a slope of one in two, a stopping distance, and a grip at its limit.

#include <gtest/gtest.h>

#include "sim/sensor/sensors.h"
#include "tests/support/scenes.h"

namespace eipc {
namespace {

constexpr double kGravity = 9.81, kSlipSpeed = 1e-4;

// A block at rest on a floor that is tilted by tan(theta) = `slope`, downhill along x.
std::shared_ptr<const Model> BlockOnSlope(double slope, double mu, double speed) {
  SceneSpec scene = testing::EmptyScene();
  const double angle = std::atan(slope);
  scene.gravity = kGravity * Vec3(std::sin(angle), 0, -std::cos(angle));
  scene.solver.newton_tolerance_m_s = 1e-7;
  scene.contact.friction_velocity_m_s = kSlipSpeed;
  scene.friction_coefficient = mu;
  scene.bodies = {testing::AffineBox("block", Vec3(0.06, 0.06, 0.02), testing::StiffMaterial(1000, 1e7)),
                  testing::StaticSheet("floor", 3)};
  // Away from the floor's one inner edge, its diagonal.
  scene.bodies[0].pose.position = Vec3(0.003, -1, 0.0105);
  scene.bodies[0].linear_velocity = Vec3(speed, 0, 0);
  return testing::Compile(scene);
}

double Position(const World& world, int body, int axis) { return BodyPose(world.model(), world.state(), body).position[axis]; }
double Speed(const World& world, int body, int axis) { return BodyTwist(world.model(), world.state(), body).linear[axis]; }

// mu = 0.49 on a slope of 0.5 leaves a hundredth of the slope's pull: 0.0877 m/s^2.
TEST(FrictionTruths, JustTooSteepItSlides) {
  World world(BlockOnSlope(0.5, 0.49, 0));
  testing::RunSteps(&world, 50, 0.01);
  const double from = Speed(world, 0, 0);
  EXPECT_EQ(testing::RunSteps(&world, 100, 0.01), 0);
  const double expected = kGravity * (0.5 - 0.49) / std::sqrt(1.25);
  EXPECT_NEAR(expected, 0.0877, 1e-4);
  EXPECT_NEAR((Speed(world, 0, 0) - from) / expected, 1, 0.02);
}

// mu = 0.6 holds it but for the creep of smoothed friction, y eps_v with 2 y - y^2 = 0.5 / 0.6.
TEST(FrictionTruths, HeldItCreepsAsPredicted) {
  World world(BlockOnSlope(0.5, 0.6, 0));
  EXPECT_EQ(testing::RunSteps(&world, 100, 0.01), 0);
  EXPECT_NEAR(Speed(world, 0, 0) / kSlipSpeed, 0.592, 0.02 * 0.592);
}

// v^2 / (2 mu g) = 0.102 m, and backward Euler, whose first step is already slower, v h / 2 less.
TEST(FrictionTruths, StoppingDistance) {
  for (double h : {0.02, 0.01, 0.0025}) {
    World world(BlockOnSlope(0, 0.5, 0));
    testing::RunSteps(&world, 40, 0.02);  // to rest on its gap
    State thrown = world.state();
    for (Eigen::Index i = 0; i < thrown.v.size(); i += 3) thrown.v[i] += 1;
    ASSERT_TRUE(world.Restore(thrown).ok());
    const double from = Position(world, 0, 0);
    EXPECT_EQ(testing::RunSteps(&world, static_cast<int>(0.3 / h), h), 0) << h;
    EXPECT_LT(std::abs(Speed(world, 0, 0)), kSlipSpeed) << h;
    EXPECT_NEAR(Position(world, 0, 0) - from, 1 / (2 * 0.5 * kGravity) - 0.5 * h, 0.01 * 0.102) << h;
  }
}

// Two fingers, blocks in a slippery channel (without its sides the pair would buckle and yaw), each pressed with `force` against a
// 0.1 kg object that hangs between them.
std::shared_ptr<const Model> Grip(double force) {
  SceneSpec scene = testing::EmptyScene();
  scene.gravity = Vec3(0, 0, -kGravity);
  scene.friction_coefficient = 0.5;
  scene.contact.friction_velocity_m_s = 1e-3;
  scene.solver.newton_tolerance_m_s = 1e-7;
  scene.solver.max_newton_iterations = 300;
  const Vec3 object(0.03, 0.02, 0.03), finger(0.06, 0.03, 0.1);
  BodySpec left = testing::AffineBox("left", finger, testing::StiffMaterial(1000, 1e8)), right = left;
  right.name = "right";
  const double reach = 0.5 * (object.x() + finger.x()) + 6e-4, height = 0.5 * finger.z() + 7e-4;
  left.pose.position = Vec3(-reach, 0, height);
  right.pose.position = Vec3(reach, 0, height);
  left.external_force = Vec3(force, 0, 0);
  right.external_force = Vec3(-force, 0, 0);
  BodySpec held = testing::AffineBox("object", object, testing::StiffMaterial(0.1 / object.prod(), 1e8));
  held.pose.position.z() = height;
  scene.bodies = {held, left, right, testing::StaticSheet("rail", 0.3, 1)};
  for (int side : {-1, 1}) {
    scene.bodies.push_back(testing::StaticBox(side < 0 ? "near" : "far", Vec3(0.3, 0.02, 0.1)));
    scene.bodies.back().pose.position = Vec3(0, side * (0.5 * finger.y() + 0.0107), 0.055);
  }
  for (const char* finger_name : {"left", "right"}) {
    for (const char* guide : {"rail", "near", "far"}) scene.contact_pairs.push_back({finger_name, guide, std::nullopt, 0.0});
  }
  return testing::Compile(scene);
}

// Gripped firmly, then less and less down to `force`, so that the fingers do not bounce off.
std::unique_ptr<World> Gripped(double force) {
  auto world = std::make_unique<World>(Grip(3 * 0.981));
  EXPECT_NEAR(world->model().bodies[0].mass.mass, 0.1, 1e-12);
  for (double share : {3.0, 2.2, 1.7, 1.4, 1.2, 0.0}) {
    const State before = world->state();
    world = std::make_unique<World>(Grip(share > 0 ? share * 0.981 : force));
    EXPECT_TRUE(world->Restore(before).ok());
    const int steps = share == 3.0 ? 40 : share > 0 ? 20 : 0;
    EXPECT_LE(testing::RunSteps(world.get(), steps, 0.005), 1);
  }
  return world;
}

TEST(FrictionTruths, AGripJustAboveItsLimitHoldsButForThePredictedCreep) {
  const auto gripped = Gripped(1.05 * 0.981);
  World& world = *gripped;
  EXPECT_LE(testing::RunSteps(&world, 100, 0.005), 1);
  const double fingers = 0.5 * (Speed(world, 1, 2) + Speed(world, 2, 2));
  const double creep = 1 - std::sqrt(1 - 1 / 1.05);
  EXPECT_NEAR(creep, 0.78, 0.005);
  EXPECT_NEAR((fingers - Speed(world, 0, 2)) / 1e-3, creep, 0.05 * creep);
}

TEST(FrictionTruths, AGripJustBelowItsLimitLetsTheObjectFall) {
  const auto gripped = Gripped(0.95 * 0.981);
  World& world = *gripped;
  testing::RunSteps(&world, 20, 0.005);
  const double from = Speed(world, 0, 2);
  EXPECT_LE(testing::RunSteps(&world, 40, 0.005), 1);
  EXPECT_NEAR((from - Speed(world, 0, 2)) / (0.2 * kGravity * 0.05), 1, 0.05) << "with what friction leaves of gravity";
}

}  // namespace
}  // namespace eipc
