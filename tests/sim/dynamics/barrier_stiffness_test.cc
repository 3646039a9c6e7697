#include "sim/dynamics/barrier_stiffness.h"

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>
#include <vector>

#include "sim/contact/barrier_function.h"
#include "sim/material/stable_neo_hookean.h"
#include "sim/sensor/energies.h"
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
  EXPECT_EQ(NextBarrierStiffness(*model, 123, {.least_gap = 1e-9}), 123);
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

TEST(BarrierStiffness, DoublesWhereGapsAreSmallAndNeverFalls) {
  const auto model = testing::Compile(BoxScene(BarrierForm::kPerPair, 0));
  const double initial = InitialBarrierStiffness(*model);
  for (const double gap : {0.06, 0.6, 1.0}) EXPECT_EQ(NextBarrierStiffness(*model, 8 * initial, {.least_gap = gap}), 8 * initial);
  for (const double gap : {0.04, 1e-9}) EXPECT_EQ(NextBarrierStiffness(*model, initial, {.least_gap = gap}), 2 * initial);
  double stiffness = initial;
  for (int k = 0; k < 100; ++k) stiffness = NextBarrierStiffness(*model, stiffness, {.least_gap = 1e-9});
  EXPECT_EQ(stiffness, BarrierStiffnessLimit(*model));
  // An impact on a barrier with most of the energy: by what a hundredth of the rest affords.
  PressedBodies impact = {.least_gap = 0.04,
                          .closing_gap = 0.04,
                          .contact_n = 1,
                          .inertia_n = 1,
                          .barrier_energy = 50,
                          .kinetic_energy = 60,
                          .stored_energy = 40};
  EXPECT_NEAR(NextBarrierStiffness(*model, initial, impact) / initial, 1.02, 1e-12);
  // 1.1 kg may have what carries it at a gap of a twentieth of dhat.
  impact = {.least_gap = 0.04, .closing_gap = 0.04, .contact_n = 1, .inertia_n = 1, .load_n = 1.1 * 9.81};
  impact.barrier_energy = 4 * impact.load_n * 0.05 * std::log(20.0) * model->contact.dhat_m;
  EXPECT_NEAR(NextBarrierStiffness(*model, initial, impact) / initial, 1.25, 1e-9);
  impact.closing_gap = 1;
  EXPECT_EQ(NextBarrierStiffness(*model, initial, impact), initial) << "the gap opens";
  // What is pressed without being accelerated gets what it needs.
  impact.inertia_n = 0.09;
  EXPECT_EQ(NextBarrierStiffness(*model, initial, impact), 2 * initial);
}

// A plate presses a stiff light block on the floor: what the barrier has is most of the energy, and its stiffness grows all the
// same.
TEST(BarrierStiffness, GrowsToWhatADrivePresses) {
  SceneSpec scene = testing::EmptyScene();
  scene.gravity = Vec3(0, 0, -9.81);
  scene.solver.newton_tolerance_m_s = 1e-4;
  scene.contact.form = BarrierForm::kAreaWeighted;
  scene.bodies = {testing::FullSpaceBox("block", Vec3::Constant(0.1), {2, 2, 2},
                                        testing::SoftMaterial(100, 1e7, 0.3, &StableNeoHookean::kDescriptor)),
                  testing::StaticSheet("floor", 0.4), testing::KinematicBox("plate", Vec3(0.12, 0.12, 0.02))};
  const double dhat = scene.contact.dhat_m, depth = 5e-4;
  scene.bodies[0].pose.position = Vec3(0.003, 0.002, 0.05 + 0.9 * dhat);
  scene.bodies[2].pose.position = Vec3(0, 0, 0.1 + 0.01 + 2 * dhat);
  Pose pressed = scene.bodies[2].pose;
  pressed.position.z() -= 2 * dhat + depth;
  scene.bodies[2].trajectory.keys = {{0, scene.bodies[2].pose}, {0.5, pressed}};
  World world(testing::Compile(scene));
  for (int n = 0; n < 100; ++n) testing::RunSteps(&world, 1, 0.01);
  EXPECT_EQ(world.report().missed_targets, 0);
  EXPECT_GT(world.report().min_distance_m, 0.05 * dhat);
}

// A soft cube lands at steps that resolve how its nodes are stopped: a stiffness that grows while they are must not throw it back
// with a multiple of its energy. At longer steps the end of a step finds what was stopped on its way back.
TEST(BarrierStiffness, GrowthMakesLittleEnergyAtSmallSteps) {
  for (const IntegratorKind kind : {IntegratorKind::kBackwardEuler, IntegratorKind::kVerlet, IntegratorKind::kVariational}) {
    for (const auto& [speed, dt, steps] : {std::tuple(1.0, 1e-5, 300), std::tuple(3.0, 2e-6, 600)}) {
      SceneSpec scene = testing::EmptyScene();
      scene.dynamics.integrator = kind;
      scene.friction.dynamic_coefficient = 0;
      scene.contact.form = BarrierForm::kAreaWeighted;
      scene.bodies = {testing::FullSpaceBox("box", Vec3::Constant(0.1), {2, 2, 2},
                                            testing::SoftMaterial(1000, 1e4, 0.3, &StableNeoHookean::kDescriptor)),
                      testing::StaticSheet("floor", 0.4)};
      scene.bodies[0].pose.position = Vec3(0.003, 0.002, 0.05 + 1.01 * scene.contact.dhat_m);
      scene.bodies[0].linear_velocity = Vec3(0, 0, -speed);
      World world(testing::Compile(scene));
      const double initial = world.state().barrier_stiffness;
      double most = 0;
      for (int n = 0; n < steps; ++n) {
        testing::RunSteps(&world, 1, dt);
        std::vector<Vec3> x;
        world.SurfacePositions(&x);
        const Energies e = ComputeEnergies(world, x);
        most = std::max(most, e.kinetic_j + e.elastic_j + e.barrier_j);
      }
      EXPECT_LT(most, 1.15 * 0.5 * speed * speed) << "method " << static_cast<int>(kind) << ", " << dt << " s";
      EXPECT_GT(world.state().barrier_stiffness, 1.5 * initial) << "the landing is hard";
    }
  }
}

// What an impact adds to the energy of the barrier is bounded by what moves; what lies pressed already is left alone.
TEST(BarrierStiffness, GrowsAtImpactsByWhatMovesOnly) {
  const auto model = testing::Compile(BoxScene(BarrierForm::kAreaWeighted, 0));
  const double initial = InitialBarrierStiffness(*model);
  EXPECT_EQ(StiffnessForImpact(*model, initial, {1, 0, 1}), 100 * initial);
  EXPECT_EQ(StiffnessForImpact(*model, initial, {0.1, 1e-5, 1}), 100 * initial);
  EXPECT_NEAR(StiffnessForImpact(*model, initial, {0.1, 1e-3, 1}) / initial, 11, 1e-12);
  EXPECT_EQ(StiffnessForImpact(*model, initial, {0.1, 0.02, 1}), initial);
  EXPECT_EQ(StiffnessForImpact(*model, 5e9 * initial, {1, 0, 1}), BarrierStiffnessLimit(*model));
  const auto given = testing::Compile(BoxScene(BarrierForm::kAreaWeighted, 123));
  EXPECT_EQ(StiffnessForImpact(*given, 123, {1, 0, 1}), 123);
}

TEST(BarrierStiffness, PinchedIsWhatStaysSo) {
  PinchDetector pinch;
  for (int k = 0; k < 3; ++k) EXPECT_FALSE(pinch.Pinched(1e-3));
  EXPECT_FALSE(pinch.Pinched(0.02)) << "opened by itself";
  for (int k = 0; k < 3; ++k) EXPECT_FALSE(pinch.Pinched(1e-3));
  EXPECT_TRUE(pinch.Pinched(1e-3));
}

// A heavy block set down hard: while the stiffness grows, the smallest gap of a step is never less than that of the step before it
// grew, no state intersects, and the block comes to rest with the gap that the rule wants.
TEST(BarrierStiffness, GrowthOpensGaps) {
  SceneSpec scene = testing::EmptyScene();
  scene.gravity = Vec3(0, 0, -9.81);
  scene.solver.newton_tolerance_m_s = 1e-4;
  scene.contact.form = BarrierForm::kPerPair;
  scene.bodies = {testing::AffineBox("block", Vec3(0.1, 0.1, 0.1), testing::StiffMaterial(2000, 1e8)),
                  testing::StaticSheet("floor", 0.5)};
  scene.bodies[0].pose.position.z() = 0.05 + 2e-4;
  const auto model = testing::Compile(scene);
  World world(model);
  State softer = world.state();
  softer.barrier_stiffness = 2e-3 * InitialBarrierStiffness(*model);  // far too soft for the load
  ASSERT_TRUE(world.Restore(softer).ok());
  double last_gap = 0, last_stiffness = softer.barrier_stiffness;
  int grown = 0;
  for (int i = 0; i < 60; ++i) {
    ASSERT_TRUE(world.Step({0.01, {}}, {}).ok());
    ASSERT_TRUE(testing::IsIntersectionFree(world)) << i;
    const double gap = world.report().min_distance_m, stiffness = world.report().barrier_stiffness;
    EXPECT_GE(stiffness, last_stiffness);
    if (stiffness > last_stiffness) {
      ++grown;
      EXPECT_GE(gap, last_gap * 0.999) << i;
    }
    last_gap = gap;
    last_stiffness = stiffness;
  }
  EXPECT_GT(grown, 2);
  EXPECT_GE(last_gap, 0.05 * model->contact.dhat_m);
}

}  // namespace
}  // namespace eipc
