#include "sim/dynamics/barrier_stiffness.h"

#include <gtest/gtest.h>

#include "sim/energy/barrier_function.h"
#include "tests/support/scenes.h"

namespace eipc {
namespace {

SceneSpec BoxScene(BarrierForm form, double stiffness) {
  SceneSpec scene = testing::EmptyScene();
  scene.gravity = Vec3(0, 0, -9.81);
  scene.contact.form = form;
  scene.contact.stiffness = stiffness;
  scene.bodies = {testing::AffineBox("light", Vec3(0.1, 0.1, 0.1), testing::StiffMaterial(100, 1e7)),
                  testing::AffineBox("heavy", Vec3(0.1, 0.1, 0.1), testing::StiffMaterial(1000, 1e7))};
  scene.bodies[1].pose.position.x() = 1;
  return scene;
}

TEST(BarrierStiffness, AGivenOneIsKept) {
  const auto model = testing::Compile(BoxScene(BarrierForm::kPerPair, 123));
  EXPECT_EQ(InitialBarrierStiffness(*model), 123);
  EXPECT_EQ(NextBarrierStiffness(*model, 123, 1e-9), 123);
  EXPECT_EQ(InitialState(*model).barrier_stiffness, 123);
}

// Ten pairs, or a twentieth of the surface, carry the heaviest body at half of dhat.
TEST(BarrierStiffness, WithoutOneTheHeaviestBodyRestsAtHalfOfDhat) {
  const double dhat = ContactSettings().dhat_m, weight = 9.81;
  const double force = -BarrierFirst(0.5 * dhat, dhat);
  const auto pairs = testing::Compile(BoxScene(BarrierForm::kPerPair, 0));
  EXPECT_NEAR(10 * InitialBarrierStiffness(*pairs) * force, weight, 1e-9);
  const auto areas = testing::Compile(BoxScene(BarrierForm::kAreaWeighted, 0));
  EXPECT_NEAR(0.06 / 20 * InitialBarrierStiffness(*areas) * force, weight, 1e-9);
  // Weightless scenes are scaled as if on earth.
  SceneSpec scene = BoxScene(BarrierForm::kPerPair, 0);
  scene.gravity.setZero();
  EXPECT_NEAR(InitialBarrierStiffness(*testing::Compile(scene)), InitialBarrierStiffness(*pairs), 1e-9);
}

TEST(BarrierStiffness, GrowsWhileGapsAreSmallAndNeverWithoutEnd) {
  const auto model = testing::Compile(BoxScene(BarrierForm::kPerPair, 0));
  const double initial = InitialBarrierStiffness(*model), dhat = model->contact.dhat_m;
  EXPECT_EQ(NextBarrierStiffness(*model, initial, 0.06 * dhat), initial);
  EXPECT_EQ(NextBarrierStiffness(*model, initial, 0.04 * dhat), 2 * initial);
  EXPECT_EQ(NextBarrierStiffness(*model, initial, std::numeric_limits<double>::infinity()), initial);
  double stiffness = initial;
  for (int k = 0; k < 100; ++k) stiffness = NextBarrierStiffness(*model, stiffness, 1e-9);
  EXPECT_EQ(stiffness, 1e4 * initial);
}

}  // namespace
}  // namespace eipc
