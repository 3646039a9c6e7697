// A block held between two fingers that press with a given force: above the Coulomb limit it creeps as smoothed friction says,
// below it falls.

#include <gtest/gtest.h>

#include "sim/sensor/body_motion.h"
#include "sim/sensor/contact_wrenches.h"
#include "tests/support/scenes.h"

namespace eipc {
namespace {

constexpr double kMass = 0.1, kGravity = 9.81, kFriction = 0.5, kSlipSpeed = 1e-3, kDhat = 1e-4, kStep = 0.01;
constexpr double kLimit = kMass * kGravity / (2 * kFriction);  // 0.981 N a finger

Pose Facing(const Vec3& axis, const Vec3& position) {
  Pose pose;
  pose.position = position;
  pose.rotation = Quat::FromTwoVectors(Vec3::UnitZ(), axis);
  return pose;
}

// Two bodies that are pressed together by forces of constant direction are a column without supports: the fingers run between
// slippery plates, which are wide, so that none of their edges meets a finger.
std::shared_ptr<const Model> Grip(double finger_force) {
  constexpr double kHalf = 0.015, kClear = 0.6 * kDhat;
  SceneSpec scene = testing::EmptyScene();
  scene.gravity = Vec3(0, 0, -kGravity);
  scene.contact.dhat_m = kDhat;
  scene.contact.friction_velocity_m_s = kSlipSpeed;
  scene.solver.newton_tolerance_m_s = 1e-7;
  scene.bodies = {testing::AffineBox("block", Vec3(0.04, 0.02, 0.02), testing::StiffMaterial(kMass / 1.6e-5, 1e8)),
                  testing::AffineBox("left", Vec3(0.06, 0.03, 0.03), testing::StiffMaterial(1000, 1e8)),
                  testing::AffineBox("right", Vec3(0.06, 0.03, 0.03), testing::StiffMaterial(1000, 1e8))};
  for (int side : {-1, 1}) {
    BodySpec& finger = scene.bodies[side < 0 ? 1 : 2];
    finger.pose.position.x() = side * (0.05 + kClear);
    finger.external_force = Vec3(-side * finger_force, 0, 0);
    scene.contact_pairs.push_back({"block", finger.name, {}, {kFriction}});
  }
  for (const Vec3& axis : {Vec3(0, 0, -1), Vec3(0, 0, 1), Vec3(0, -1, 0), Vec3(0, 1, 0)}) {
    scene.bodies.push_back(testing::StaticSheet("plate" + std::to_string(scene.bodies.size()), 0.2));
    scene.bodies.back().pose = Facing(axis, axis * (kHalf + kClear));
  }
  // Plates cross where nothing is.
  for (int a : {3, 4}) {
    for (int b : {5, 6}) scene.contact_pairs.push_back({scene.bodies[a].name, scene.bodies[b].name, false, {}});
  }
  return testing::Compile(scene);
}

// Where the block goes under `finger_force`, from a firm grip: its speed downwards at the end and how far it went.
struct Slip {
  double speed = 0, distance = 0;
  int not_converged = 0;
  double normal = 0;  // N, both fingers
};

Slip Hold(double finger_force, int steps) {
  World firm(Grip(3 * kLimit));
  testing::RunSteps(&firm, 100, kStep);
  World world(Grip(finger_force));
  EXPECT_TRUE(world.Restore(firm.state()).ok());
  const auto height = [&] { return BodyPose(world.model(), world.state(), 0).position.z(); };
  const double from = height();
  Slip slip;
  slip.not_converged = testing::RunSteps(&world, steps, kStep);
  slip.distance = from - height();
  slip.speed = -BodyTwist(world.model(), world.state(), 0).linear.z();
  std::vector<Vec3> x;
  world.SurfacePositions(&x);
  for (const ContactWrench& w : ContactWrenches(world.model(), world.state(), x, world.contact_forces())) {
    if (w.body == 0) slip.normal += std::abs(w.normal_force.x());
  }
  return slip;
}

// y eps_v with 2 y - y^2 = load over limit.
TEST(FingerGrip, AboveTheLimitItCreepsAsPredicted) {
  const Slip slip = Hold(1.05 * kLimit, 100);
  EXPECT_EQ(slip.not_converged, 0);
  const double creep = 1 - std::sqrt(1 - 1 / 1.05);
  EXPECT_NEAR(creep, 0.78, 0.005);
  EXPECT_NEAR(slip.speed / kSlipSpeed, creep, 0.05 * creep) << slip.normal;
}

TEST(FingerGrip, BelowTheLimitItFalls) {
  // The first step's friction is that of the firm grip. 3 mm down, of 5 mm to the plate below.
  const Slip begun = Hold(0.95 * kLimit, 4), slip = Hold(0.95 * kLimit, 12);
  // What friction leaves of gravity: g (1 - 0.95).
  EXPECT_NEAR((slip.speed - begun.speed) / (0.05 * kGravity * 8 * kStep), 1, 0.05);
  EXPECT_GT(slip.distance, 2.5e-3);
}

}  // namespace
}  // namespace eipc
