// Slip of a block on a slope, whose motion is known, and of bodies that do not slide.

#include "sim/sensor/slip.h"

#include <gtest/gtest.h>

#include "sim/sensor/body_motion.h"
#include "tests/support/scenes.h"

namespace eipc {
namespace {

constexpr double kGravity = 9.81, kAngle = 0.35, kStep = 0.01;

// Gravity is tilted instead of the floor.
std::shared_ptr<const Model> Slope(double mu, bool floor_first) {
  SceneSpec scene = testing::EmptyScene();
  scene.gravity = kGravity * Vec3(std::sin(kAngle), 0, -std::cos(kAngle));
  scene.solver.newton_tolerance_m_s = 1e-7;
  scene.contact.friction_velocity_m_s = 1e-4;
  scene.friction.dynamic_coefficient = mu;
  scene.bodies = {testing::AffineBox("block", Vec3(0.06, 0.06, 0.02), testing::StiffMaterial(1000, 1e7)),
                  testing::StaticSheet("slope", 3)};
  scene.bodies[0].pose.position = Vec3(0.003, 0.002, 0.0105);
  if (floor_first) std::swap(scene.bodies[0], scene.bodies[1]);
  return testing::Compile(scene);
}

// mu < tan(angle): it slides with the acceleration g (sin - mu cos).
TEST(Slip, IsTheWayOfABlockThatSlides) {
  constexpr double kMu = 0.2;
  for (const bool floor_first : {false, true}) {
    World world(Slope(kMu, floor_first));
    const int block = floor_first ? 1 : 0;
    testing::RunSteps(&world, 20, kStep);  // it lies
    SlipMeter meter(&world.model());
    const Vec3 from = BodyPose(world.model(), world.state(), block).position;
    const double speed = BodyTwist(world.model(), world.state(), block).linear.x();
    for (int i = 0; i < 50; ++i) {
      ASSERT_TRUE(world.Step({kStep, {}}, {}).ok());
      meter.Add(world.state(), world.contact_forces(), kStep);
    }
    const Vec3 moved = BodyPose(world.model(), world.state(), block).position - from;
    EXPECT_NEAR(meter.Displacement(block, 1 - block).x() / moved.x(), 1, 1e-3);
    EXPECT_NEAR(meter.Displacement(1 - block, block).x() / moved.x(), -1, 1e-3);
    const double acceleration = kGravity * (std::sin(kAngle) - kMu * std::cos(kAngle));
    const double analytic = speed * 0.5 + 0.5 * acceleration * 0.5 * (0.5 + kStep);  // backward Euler's sum
    EXPECT_NEAR(meter.Displacement(block, 1 - block).x() / analytic, 1, 2e-3);
    EXPECT_LT(std::abs(meter.Displacement(block, 1 - block).z()), 1e-4);  // not along the normal
    const std::vector<PairSlip> slips = Slips(world.model(), world.state().v, world.contact_forces());
    ASSERT_EQ(slips.size(), 1u);
    EXPECT_NEAR(slips[0].normal_force, 0.072 * kGravity * std::cos(kAngle), 1e-3);
  }
}

TEST(Slip, IsCreepWhereFrictionHolds) {
  World world(Slope(0.5, false));
  testing::RunSteps(&world, 20, kStep);
  SlipMeter meter(&world.model());
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(world.Step({kStep, {}}, {}).ok());
    meter.Add(world.state(), world.contact_forces(), kStep);
  }
  // Below the friction velocity: tan(angle) / mu = 0.73 of the limit.
  EXPECT_LT(meter.Displacement(0, 1).norm(), 1e-4 * 0.5);
  EXPECT_GT(meter.Displacement(0, 1).x(), 0);
  EXPECT_EQ(meter.Displacement(0, 5), Vec3::Zero());
}

}  // namespace
}  // namespace eipc
