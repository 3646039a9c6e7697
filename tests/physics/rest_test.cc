// Bodies at rest on a floor: the contact carries exactly their weight.

#include <gtest/gtest.h>

#include "sim/sensor/contact_wrenches.h"
#include "tests/support/scenes.h"

namespace eipc {
namespace {

const Vec3 kSize(0.1, 0.1, 0.05);

std::vector<BodySpec> EveryMovingKind() {
  const MaterialSpec soft = testing::SoftMaterial(1000, 1e5, 0.3, &StableNeoHookean::kDescriptor);
  return {testing::FullSpaceBox("full", kSize, {3, 3, 2}, soft), testing::EmbeddedBox("embedded", kSize, {2, 2, 1}, soft),
          testing::AffineBox("affine", kSize, testing::StiffMaterial(1000, 1e6))};
}

SceneSpec OnTheFloor(BodySpec body, BarrierForm form) {
  SceneSpec scene = testing::EmptyScene();
  scene.gravity = Vec3(0, 0, -9.81);
  scene.contact.form = form;
  scene.solver.newton_tolerance_m_s = 1e-7;
  body.pose.position.z() = 0.5 * kSize.z() + 8e-4;
  scene.friction.dynamic_coefficient = 0.5;
  scene.bodies = {body, testing::StaticSheet("floor", 0.2, 4)};
  return scene;
}

const ContactWrench* Find(const std::vector<ContactWrench>& wrenches, int body, int other) {
  for (const ContactWrench& w : wrenches) {
    if (w.body == body && w.other == other) return &w;
  }
  return nullptr;
}

std::vector<ContactWrench> Wrenches(const World& world) {
  std::vector<Vec3> x;
  world.SurfacePositions(&x);
  return ContactWrenches(world.model(), world.state(), x, world.contact_forces());
}

void ExpectTheFloorCarries(const BodySpec& body, BarrierForm form) {
  SCOPED_TRACE(body.name + (form == BarrierForm::kPerPair ? ", per pair" : ", area weighted"));
  World world(testing::Compile(OnTheFloor(body, form)));
  EXPECT_EQ(testing::RunSteps(&world, 60, 0.02), 0);
  const double weight = 9.81 * world.model().bodies[0].mass.mass;
  EXPECT_NEAR(weight, 9.81 * 0.5, 1e-9);
  const std::vector<ContactWrench> wrenches = Wrenches(world);
  ASSERT_EQ(wrenches.size(), 2u);
  const ContactWrench *up = Find(wrenches, 0, 1), *down = Find(wrenches, 1, 0);
  ASSERT_TRUE(up != nullptr && down != nullptr);
  const Vec3 force = up->normal_force + up->friction_force;
  EXPECT_NEAR(force.z() / weight, 1, 1e-4);
  // Friction holds a soft underside as bulged as it landed, on planes of contact that are not quite level.
  EXPECT_NEAR(up->normal_force.z() / weight, 1, body.kind == BodyKind::kAffine ? 1e-4 : 1e-3);
  EXPECT_LT(force.head<2>().norm(), 1e-4 * weight);
  EXPECT_LT((up->normal_moment + up->friction_moment).norm(), 1e-4 * weight * 0.1) << "carried in the middle";
  EXPECT_LT((up->normal_force + down->normal_force).norm(), 1e-12 * weight);
  EXPECT_LT((up->friction_force + down->friction_force).norm(), 1e-12 * weight);
  EXPECT_LT(world.state().v.cwiseAbs().maxCoeff(), 1e-4);
  EXPECT_GT(world.report().min_distance_m, 0);
}

TEST(Rest, TheFloorCarriesTheWeight) {
  for (const BodySpec& body : EveryMovingKind()) {
    for (BarrierForm form : {BarrierForm::kAreaWeighted, BarrierForm::kPerPair}) ExpectTheFloorCarries(body, form);
  }
}

// The barrier stiffness that a scene without one gets holds bodies at a gap of the order of dhat, not at nothing.
TEST(Rest, AnAdaptiveStiffnessKeepsAGap) {
  for (const BodySpec& body : EveryMovingKind()) {
    SceneSpec scene = OnTheFloor(body, BarrierForm::kAreaWeighted);
    ASSERT_EQ(scene.contact.stiffness, 0);
    World world(testing::Compile(scene));
    EXPECT_GT(world.state().barrier_stiffness, 0);
    testing::RunSteps(&world, 40, 0.02);
    EXPECT_GT(world.report().min_distance_m, 0.05 * scene.contact.dhat_m) << body.name;
    EXPECT_LT(world.report().min_distance_m, scene.contact.dhat_m) << body.name;
  }
}

// A stiffness far too weak for the load is raised step by step until gaps are sound again.
TEST(Rest, AnAdaptiveStiffnessGrowsUnderALoadItWasNotMadeFor) {
  BodySpec body = EveryMovingKind()[2];
  SceneSpec scene = OnTheFloor(body, BarrierForm::kPerPair);
  const auto model = testing::Compile(scene);
  World world(model);
  State weak = world.state();
  weak.barrier_stiffness *= 1e-3;
  ASSERT_TRUE(world.Restore(weak).ok());
  testing::RunSteps(&world, 60, 0.02);
  EXPECT_GT(world.state().barrier_stiffness, 4 * weak.barrier_stiffness);
  EXPECT_GT(world.report().min_distance_m, 0.05 * scene.contact.dhat_m);
}

}  // namespace
}  // namespace eipc
