// Scenes that start in static equilibrium.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/sensor/body_motion.h"
#include "sim/sensor/contact_wrenches.h"
#include "sim/sensor/energies.h"
#include "tests/support/scenes.h"

namespace eipc {
namespace {

constexpr double kGravity = 9.81;

SceneSpec SoftBoxAboveAFloor() {
  SceneSpec scene = testing::EmptyScene();
  scene.gravity = Vec3(0, 0, -kGravity);
  scene.friction.dynamic_coefficient = 0.5;
  scene.start_in_equilibrium = true;
  BodySpec box = testing::FullSpaceBox("box", Vec3(0.1, 0.1, 0.1), {2, 2, 2}, testing::SoftMaterial(1000, 5e4, 0.3));
  box.pose.position.z() = 0.06;  // 1 cm above the floor, unloaded
  scene.bodies = {box, testing::StaticSheet("floor", 0.2, 4)};
  return scene;
}

TEST(SettleStart, NothingMovesAndTheFloorCarriesTheWeightFromTheFirstStep) {
  const std::shared_ptr<const Model> model = testing::Compile(SoftBoxAboveAFloor());
  World world(model);
  EXPECT_EQ(world.state().time_s, 0);
  EXPECT_TRUE(world.state().v.isZero(0));
  const VecX start = world.state().q;
  const double weight = model->bodies[0].mass.mass * kGravity;
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(testing::RunSteps(&world, 1, 0.005), 0);
    std::vector<Vec3> x;
    world.SurfacePositions(&x);
    double force = 0;
    for (const ContactWrench& w : ContactWrenches(*model, world.state(), x, world.contact_forces())) {
      if (w.body == 0) force += w.normal_force.z() + w.friction_force.z();
    }
    EXPECT_NEAR(force, weight, 1e-3 * weight) << "step " << i;
  }
  EXPECT_LT((world.state().q - start).cwiseAbs().maxCoeff(), 1e-5);
}

TEST(SettleStart, RestShapesAndPosesStillReferToThePlacement) {
  SceneSpec scene = SoftBoxAboveAFloor();
  const World settled(testing::Compile(scene));
  scene.start_in_equilibrium = false;
  const World placed(testing::Compile(scene));
  // Sagged, so shorter than it was made, and down by the gap.
  EXPECT_NEAR(BodyPose(placed.model(), placed.state(), 0).position.z(), 0.06, 1e-12);
  const double drop = 0.06 - BodyPose(settled.model(), settled.state(), 0).position.z();
  EXPECT_GT(drop, 0.009);
  EXPECT_LT(drop, 0.012);
  std::vector<Vec3> x;
  settled.SurfacePositions(&x);
  EXPECT_GT(ComputeEnergies(settled.model(), settled.state(), x).elastic_j, 0);
}

// Only how it is held is found: a body that is thrown along a slippery floor starts where it was placed, with its velocity.
TEST(SettleStart, AThrownBodyIsNotCarriedAway) {
  SceneSpec scene = SoftBoxAboveAFloor();
  scene.friction.dynamic_coefficient = 0;
  scene.bodies[0] = testing::AffineBox("box", Vec3(0.1, 0.1, 0.1), testing::StiffMaterial(1000, 1e7));
  scene.bodies[0].pose.position = Vec3(0, -0.2, 0.06);
  scene.bodies[1] = testing::StaticSheet("floor", 0.4, 1);  // whose one inner edge, the diagonal, the box does not touch
  scene.bodies[0].linear_velocity = Vec3(3, 0, 0);
  World world(testing::Compile(scene));
  EXPECT_NEAR(BodyPose(world.model(), world.state(), 0).position.x(), 0, 1e-4);
  EXPECT_NEAR(BodyTwist(world.model(), world.state(), 0).linear.x(), 3, 1e-12);
}

TEST(SettleStart, SaysWhenNothingHoldsABody) {
  SceneSpec scene = SoftBoxAboveAFloor();
  scene.bodies.pop_back();
  const auto model = CompileScene(scene);
  ASSERT_FALSE(model.ok());
  EXPECT_THAT(std::string(model.status().message()), ::testing::HasSubstr("start_in_equilibrium: the scene does not come to rest"));
}

// Wherever in the search it is: the first answers of the budget fall into compiling, the last ones into a step.
TEST(SettleStart, EndsWithItsCaller) {
  int asked = 0;
  StepBudget budget;
  budget.cancelled = [&asked] { return ++asked < 0; };
  ASSERT_TRUE(CompileScene(SoftBoxAboveAFloor(), {}, budget).ok());
  const int in_all = asked;
  EXPECT_GT(in_all, 20);
  for (const int last : {1, in_all / 2, in_all - 1}) {
    asked = 0;
    budget.cancelled = [&asked, last] { return ++asked >= last; };
    EXPECT_EQ(CompileScene(SoftBoxAboveAFloor(), {}, budget).status().code(), absl::StatusCode::kCancelled);
    EXPECT_EQ(asked, last) << "it went on";
  }
  StepBudget late;
  late.deadline = std::chrono::steady_clock::time_point::min();
  EXPECT_EQ(CompileScene(SoftBoxAboveAFloor(), {}, late).status().code(), absl::StatusCode::kDeadlineExceeded);
}

}  // namespace
}  // namespace eipc
