// A stiff block on a slope: gravity is tilted instead of the floor.

#include <gtest/gtest.h>

#include "sim/sensor/body_motion.h"
#include "sim/sensor/contact_wrenches.h"
#include "tests/support/scenes.h"

namespace eipc {
namespace {

constexpr double kGravity = 9.81, kAngle = 0.35, kStep = 0.01, kSlipSpeed = 1e-4;

std::shared_ptr<const Model> Slope(double mu, int lag_iterations, bool pair_override) {
  SceneSpec scene = testing::EmptyScene();
  scene.gravity = kGravity * Vec3(std::sin(kAngle), 0, -std::cos(kAngle));
  scene.solver.newton_tolerance_m_s = 1e-7;
  scene.contact.friction_velocity_m_s = kSlipSpeed;
  scene.contact.friction_lag_iterations = lag_iterations;
  scene.friction.dynamic_coefficient = pair_override ? 0.9 : mu;
  if (pair_override) scene.contact_pairs = {{"slope", "block", std::nullopt, {mu}}};
  scene.bodies = {testing::AffineBox("block", Vec3(0.06, 0.06, 0.02), testing::StiffMaterial(1000, 1e7)),
                  testing::StaticSheet("slope", 3)};
  scene.bodies[0].pose.position = Vec3(0.003, 0.002, 0.0105);
  return testing::Compile(scene);
}

double Speed(const World& world) { return BodyTwist(world.model(), world.state(), 0).linear.x(); }

ContactWrench OnBlock(const World& world) {
  std::vector<Vec3> x;
  world.SurfacePositions(&x);
  for (const ContactWrench& w : ContactWrenches(world.model(), world.state(), x, world.contact_forces())) {
    if (w.body == 0) return w;
  }
  return {};
}

// One solution cannot show that lagging friction at it changes nothing: the stage goes on with friction that is solved for, and
// says so.
TEST(Incline, ALagThatHasNotConvergedEndsWithImplicitFriction) {
  double speeds[2] = {};
  for (const int most : {1, 50}) {
    SceneSpec scene = testing::EmptyScene();
    scene.gravity = kGravity * Vec3(std::sin(kAngle), 0, -std::cos(kAngle));
    scene.solver.newton_tolerance_m_s = 1e-7;
    scene.dynamics.friction = FrictionMode::kLaggedUntilConverged;
    scene.contact.friction_lag_iterations = most;
    scene.friction.dynamic_coefficient = 0.2;
    scene.bodies = {testing::AffineBox("block", Vec3(0.06, 0.06, 0.02), testing::StiffMaterial(1000, 1e7)),
                    testing::StaticSheet("slope", 3)};
    scene.bodies[0].pose.position = Vec3(0.003, 0.002, 0.0105);
    World world(testing::Compile(scene));
    for (int n = 0; n < 10; ++n) {
      ASSERT_TRUE(world.Step({kStep, {}}, {}).ok());
      const StepReport& report = world.report();
      EXPECT_EQ(report.implicit_stages, most == 1 ? 1 : 0) << n;
      EXPECT_EQ(report.unsettled_friction, 0) << n;
      EXPECT_EQ(report.outcome, StepOutcome::kConverged) << n;
    }
    speeds[most == 1] = Speed(world);
  }
  EXPECT_NEAR(speeds[1], speeds[0], 1e-4 * speeds[0]);
}

// Above tan(theta) = 0.365 the block creeps with less than the speed at which friction is smoothed, y eps_v with
// 2 y - y^2 = tan(theta) / mu.
TEST(Incline, SticksAboveTheFrictionAngle) {
  for (double mu : {0.4, 0.8}) {
    for (int lag_iterations : {1, 3}) {
      World world(Slope(mu, lag_iterations, lag_iterations == 3));
      EXPECT_EQ(testing::RunSteps(&world, 150, kStep), 0);
      const double y = 1 - std::sqrt(1 - std::tan(kAngle) / mu);
      EXPECT_NEAR(Speed(world), y * kSlipSpeed, 0.02 * kSlipSpeed) << mu;
      const double weight = kGravity * world.model().bodies[0].mass.mass;
      const ContactWrench w = OnBlock(world);
      EXPECT_NEAR(w.friction_force.x(), -weight * std::sin(kAngle), 1e-3 * weight);
      EXPECT_NEAR(w.normal_force.z(), weight * std::cos(kAngle), 1e-3 * weight);
      EXPECT_LT((w.friction_moment + w.normal_moment).norm(), 1e-3 * weight * 0.03) << "it does not tip";
    }
  }
}

TEST(Incline, SlidesBelowTheFrictionAngle) {
  for (double mu : {0.0, 0.1, 0.3}) {
    World world(Slope(mu, 1, false));
    EXPECT_EQ(testing::RunSteps(&world, 30, kStep), 0);
    const double start = Speed(world), from = BodyPose(world.model(), world.state(), 0).position.x();
    EXPECT_EQ(testing::RunSteps(&world, 70, kStep), 0);
    const double expected = kGravity * (std::sin(kAngle) - mu * std::cos(kAngle));
    EXPECT_NEAR((Speed(world) - start) / (70 * kStep) / expected, 1, 0.02) << mu;
    const double travelled = BodyPose(world.model(), world.state(), 0).position.x() - from;
    EXPECT_NEAR(travelled / (start * 0.7 + 0.5 * expected * 0.49), 1, 0.03) << mu;
  }
}

// A block that is thrown up the slope stops and, above the friction angle, stays.
TEST(Incline, FrictionStopsWhatMovesAndDoesNotDriveIt) {
  World world(Slope(0.8, 1, false));
  testing::RunSteps(&world, 20, kStep);
  State thrown = world.state();
  for (Eigen::Index i = 0; i < thrown.v.size(); i += 3) thrown.v[i] = -1;
  ASSERT_TRUE(world.Restore(thrown).ok());
  const double from = BodyPose(world.model(), world.state(), 0).position.x();
  EXPECT_EQ(testing::RunSteps(&world, 60, kStep), 0);
  const double deceleration = kGravity * (std::sin(kAngle) + 0.8 * std::cos(kAngle));
  const double travelled = from - BodyPose(world.model(), world.state(), 0).position.x();
  EXPECT_NEAR(travelled, 0.5 / deceleration, 0.5 * kStep + 0.003) << "up to a step at 1 m/s";
  EXPECT_LT(std::abs(Speed(world)), kSlipSpeed);
}

}  // namespace
}  // namespace eipc
