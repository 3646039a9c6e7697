// What a reset draws acts as its law says: the force that a block presses back with, where a plate is held at a set distance, is
// that of the modulus drawn, and a block slides down a slope by the friction drawn.

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "sim/dynamics/materials.h"
#include "sim/dynamics/placement.h"
#include "sim/sensor/body_motion.h"
#include "sim/sensor/contact_wrenches.h"
#include "tests/support/scenes.h"

namespace eipc {
namespace {

constexpr double kYoungs = 2e4, kStep = 0.02, kCompression = 6e-3;
const Vec3 kBlock(0.06, 0.06, 0.06), kPlate(0.02, 0.1, 0.1);

// A block between a wall and a plate, which moves on by 6 mm beyond where it touches the block.
SceneSpec Press(BodySpec block) {
  SceneSpec scene = testing::EmptyScene();
  scene.solver.newton_tolerance_m_s = 1e-7;
  scene.contact.dhat_m = 1e-4;
  block.material.rayleigh_alpha_per_s = 50;
  scene.bodies = {std::move(block), testing::StaticBox("wall", kPlate), testing::KinematicBox("plate", kPlate)};
  const double touching = 0.5 * (kBlock.x() + kPlate.x()) + 0.5e-4;
  scene.bodies[1].pose.position.x() = touching;
  scene.bodies[2].pose.position.x() = -touching;
  scene.bodies[2].trajectory.keys = {{0, scene.bodies[2].pose}, {0.4, scene.bodies[2].pose}};
  scene.bodies[2].trajectory.keys[1].pose.position.x() += kCompression;
  return scene;
}

// Of the block on the wall, N, at rest.
double Force(const std::shared_ptr<const Model>& model, double youngs_pa) {
  StartOrder order;
  State::BodyMaterial material = MaterialOfScene(*model, 0);
  material.youngs_modulus_pa = youngs_pa;
  order.materials = {material};
  StartDraws draws(model.get(), order);
  World world(model);
  EXPECT_TRUE(world.Restore(*draws.Next()).ok());
  EXPECT_EQ(testing::RunSteps(&world, 60, kStep), 0);
  std::vector<Vec3> x;
  world.SurfacePositions(&x);
  for (const ContactWrench& w : ContactWrenches(world.model(), world.state(), x, world.contact_forces())) {
    if (w.body == 1 && w.other == 0) return w.normal_force.x();
  }
  ADD_FAILURE() << "the block does not touch the wall";
  return 0;
}

// The gaps of contact, at most 2 % of the compression, change by less than that.
void ExpectProportional(const BodySpec& block) {
  const auto model = testing::Compile(Press(block));
  const double force = Force(model, kYoungs);
  EXPECT_GT(force, 0.5 * kYoungs * kBlock.y() * kBlock.z() * kCompression / kBlock.x());
  for (const double factor : {0.25, 3.0, 10.0}) EXPECT_NEAR(Force(model, factor * kYoungs), factor * force, 0.02 * factor * force);
}

TEST(DrawnMaterials, AFullSpaceBlockPressesWithItsModulus) {
  ExpectProportional(
      testing::FullSpaceBox("block", kBlock, {3, 2, 2}, testing::SoftMaterial(500, kYoungs, 0.3, &StableNeoHookean::kDescriptor)));
}

TEST(DrawnMaterials, ACondensedBlockPressesWithItsModulus) {
  BodySpec block =
      testing::EmbeddedBox("block", kBlock, {2, 2, 2}, testing::SoftMaterial(500, kYoungs, 0.3, &StableNeoHookean::kDescriptor));
  block.coarse_space = CoarseSpace::kCondensed;
  ExpectProportional(block);
}

// On a slope of one in two: mu = 0.98 holds the block, and half of it leaves a hundredth of the slope's pull.
TEST(DrawnMaterials, ABlockSlidesByItsFriction) {
  constexpr double kGravity = 9.81;
  const double angle = std::atan(0.5);
  SceneSpec scene = testing::EmptyScene();
  scene.gravity = kGravity * Vec3(std::sin(angle), 0, -std::cos(angle));
  scene.solver.newton_tolerance_m_s = 1e-7;
  scene.friction.dynamic_coefficient = 0.98;
  scene.bodies = {testing::AffineBox("block", Vec3(0.06, 0.06, 0.02), testing::StiffMaterial(1000, 1e7)),
                  testing::StaticSheet("floor", 3)};
  scene.bodies[0].pose.position = Vec3(0.003, -1, 0.0105);
  const auto model = testing::Compile(scene);
  const auto speed_gained = [&](double factor) {
    StartOrder order;
    State::BodyMaterial material = MaterialOfScene(*model, 0);
    material.friction_factor = factor;
    order.materials = {material};
    World world(model);
    EXPECT_TRUE(world.Restore(*StartDraws(model.get(), order).Next()).ok());
    testing::RunSteps(&world, 50, 0.01);
    const auto speed = [&] { return BodyTwist(world.model(), world.state(), 0).linear.x(); };
    const double from = speed();
    EXPECT_EQ(testing::RunSteps(&world, 100, 0.01), 0);
    return speed() - from;
  };
  EXPECT_LT(std::abs(speed_gained(1)), 1e-5);
  const double expected = kGravity * (0.5 - 0.49) / std::sqrt(1.25);
  EXPECT_NEAR(speed_gained(0.5) / expected, 1, 0.02);
}

}  // namespace
}  // namespace eipc
