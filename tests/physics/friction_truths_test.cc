// Friction with answers from a textbook: a slope of one in two, and a stopping distance.

#include <gtest/gtest.h>

#include "sim/sensor/body_motion.h"
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
  scene.friction.dynamic_coefficient = mu;
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

}  // namespace
}  // namespace eipc
