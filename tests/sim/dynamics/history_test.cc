// A world that has seen much takes the steps that one takes that begins there: bits do not depend on what regions, anchors and
// lists are left from before, nor on what is measured beside.

#include <gtest/gtest.h>

#include "sim/dynamics/state_codec.h"
#include "sim/dynamics/world.h"
#include "sim/material/stable_neo_hookean.h"
#include "tests/support/force_balance.h"
#include "tests/support/random.h"
#include "tests/support/scenes.h"
#include "tests/support/step_kind.h"

namespace eipc {
namespace {

using testing::StepKind;

constexpr double kStep = 0.01;

// Boxes of all sorts in a heap under a plate.
SceneSpec Heap(const StepKind& kind) {
  SceneSpec scene = testing::EmptyScene();
  scene.gravity = Vec3(0, 0, -9.81);
  scene.solver.newton_tolerance_m_s = 1e-3;
  kind.ApplyTo(&scene);
  scene.friction.dynamic_coefficient = 0.4;
  scene.contact.dhat_m = 2e-3;
  scene.contact.friction_lag_iterations = 2;
  const MaterialSpec soft = testing::SoftMaterial(500, 5e4, 0.4, &StableNeoHookean::kDescriptor);  // whose Hessians are held
  scene.bodies = {testing::FullSpaceBox("full", Vec3(0.1, 0.1, 0.05), {3, 3, 2}, soft),
                  testing::EmbeddedBox("embedded", Vec3(0.06, 0.06, 0.05), {2, 2, 2}, soft),
                  testing::AffineBox("affine", Vec3(0.04, 0.04, 0.04), testing::StiffMaterial(800, 1e6)),
                  testing::AffineBox("aside", Vec3(0.03, 0.03, 0.03), testing::StiffMaterial(800, 1e6)),
                  testing::StaticSheet("floor", 0.3, 3),
                  testing::KinematicBox("plate", Vec3(0.2, 0.2, 0.01))};
  scene.bodies[0].pose = {Vec3(0, 0, 0.028), Quat(Eigen::AngleAxisd(0.03, Vec3::UnitX()))};
  scene.bodies[1].pose = {Vec3(0.01, 0, 0.09), Quat(Eigen::AngleAxisd(0.2, Vec3::UnitY()))};
  scene.bodies[2].pose = {Vec3(0.005, 0.005, 0.15), Quat(Eigen::AngleAxisd(0.5, Vec3(1, 1, 0).normalized()))};
  scene.bodies[3].pose.position = Vec3(0.12, 0, 0.0155);
  scene.bodies[5].pose.position.z() = 0.21;
  scene.bodies[5].trajectory.keys = {{0, scene.bodies[5].pose}, {0.2, {Vec3(0, 0, 0.12), Quat::Identity()}}};
  return scene;
}

// Beside it a box that fingers crush until they are stopped, lift, turn and let go.
void AddJam(SceneSpec* scene) {
  const size_t first = scene->bodies.size();
  scene->bodies.push_back(testing::FullSpaceBox("pinched", Vec3::Constant(0.04), {2, 2, 2},
                                                testing::SoftMaterial(500, 5e4, 0.4, &StableNeoHookean::kDescriptor)));
  for (const char* name : {"left", "right"}) scene->bodies.push_back(testing::KinematicBox(name, Vec3(0.01, 0.05, 0.05)));
  const Vec3 beside(0.2, 0.2, 0);
  scene->bodies[first].pose.position = beside + Vec3(0, 0, 0.0215);
  for (const int side : {-1, 1}) {
    const auto at = [&](double x, double z, double angle) {
      return Pose{beside + Vec3(side * x, 0, z), Quat(Eigen::AngleAxisd(angle, Vec3::UnitZ()))};
    };
    BodySpec& finger = scene->bodies[first + (side < 0 ? 1 : 2)];
    finger.pose = at(0.028, 0.04, 0);
    finger.trajectory.keys = {{0, finger.pose},
                              {0.1, at(-0.005, 0.04, 0)},
                              {0.25, at(-0.005, 0.04, 0)},
                              {0.4, at(-0.005, 0.1, 0.2)},
                              {0.5, at(0.03, 0.1, 0)}};
  }
}

class History : public ::testing::TestWithParam<StepKind> {};

TEST_P(History, OfTheWorldDecidesNoBit) {
  SceneSpec scene = Heap(GetParam());
  const bool jams = GetParam().integrator == IntegratorKind::kBackwardEuler;  // others take minutes
  if (jams) AddJam(&scene);
  const auto model = testing::Compile(scene);
  World world(model);
  testing::Random random(3);
  std::vector<State> seen;
  const int plate = model->FindBoundarySet("plate", "");
  int ended = 0, refused = 0, missed = 0;
  for (int n = 0; n < 60; ++n) {
    const int event = random.Integer(0, 9);
    if (event == 0 && !seen.empty()) {
      ASSERT_TRUE(world.Restore(seen[random.Integer(0, static_cast<int>(seen.size()) - 1)]).ok());
    }
    if (event == 1) {  // cancelled somewhere
      StepBudget budget;
      int polls = 0;
      const int allowed = random.Integer(0, 300);
      budget.cancelled = [&] { return ++polls > allowed; };
      const State before = world.state();
      if (world.Step({kStep, {}}, budget).ok()) {
        ASSERT_TRUE(world.Restore(before).ok());
      }
    }
    if (event == 2) {  // beyond reason, refused or taken back
      const State before = world.state();
      const double x = random.Integer(0, 1) == 0 ? 1e308 : 1e160;
      const bool ok = world.Step({kStep, {{plate, {Vec3(x, 0, 0.2), Quat::Identity()}}}}, {}).ok();
      refused += !ok;
      if (ok) {
        ASSERT_TRUE(world.Restore(before).ok());
      }
    }
    seen.push_back(world.state());
    World fresh(model, 2);
    ASSERT_TRUE(fresh.Restore(world.state()).ok());
    StepInput input{random.Integer(0, 3) == 0 ? 0.003 : kStep, {}};
    if (event == 3) input.limit.ends_at_check = random.Integer(0, 30);
    ASSERT_TRUE(fresh.Step(input, {}).ok());
    input.measure_balance = random.Integer(0, 1) == 0;
    ASSERT_TRUE(world.Step(input, {}).ok());
    ASSERT_EQ(fresh.state().Digest(), world.state().Digest()) << n << " event " << event;
    ASSERT_EQ(fresh.report().ended_at_check, world.report().ended_at_check);
    ASSERT_EQ(fresh.report().newton_iterations, world.report().newton_iterations);
    ASSERT_EQ(fresh.report().min_ccd_fraction, world.report().min_ccd_fraction);
    ASSERT_TRUE(testing::IsIntersectionFree(world));
    ended += world.report().ended_at_check >= 0;
    missed += world.report().missed_targets > 0;
  }
  EXPECT_GT(world.contact_forces().stencils.size(), 0u);
  EXPECT_GT(ended, 0);
  EXPECT_GT(refused, 0);
  if (jams) {
    EXPECT_GT(missed, 10);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, History,
    ::testing::Values(StepKind{IntegratorKind::kBackwardEuler, FrictionMode::kLagged, false, "BackwardEuler"},
                      StepKind{IntegratorKind::kBackwardEuler, FrictionMode::kImplicit, true, "ImplicitFriction"},
                      StepKind{IntegratorKind::kBackwardEuler, FrictionMode::kLaggedUntilConverged, true, "Sleep"},
                      StepKind{IntegratorKind::kTrBdf2, FrictionMode::kLagged, true, "TrBdf2"},
                      StepKind{IntegratorKind::kImplicitMidpoint, FrictionMode::kLagged, false, "Midpoint"},
                      StepKind{IntegratorKind::kVariational, FrictionMode::kLagged, true, "Variational"}),
    [](const ::testing::TestParamInfo<StepKind>& info) { return info.param.name; });

// Of the bodies that are awake and react, N.
double LargestLeft(const World& world, const VecX& v_before) {
  const std::vector<Vec3> left = testing::LeftUnbalanced(world, v_before, kStep);
  const State& state = world.state();
  double largest = 0;
  for (size_t b = 0; b < left.size(); ++b) {
    if (!world.model().bodies[b].traits.reacts || (state.sleep && state.sleep->bodies[b].asleep)) continue;
    largest = std::max(largest, left[b].norm());
  }
  return largest;
}

// A step that is taken again because it wakes a body reports the balance of the state that it has in the end.
TEST(Balance, IsThatOfTheAcceptedState) {
  int retried = 0;
  for (const double tolerance : {1e-2, 1e-3}) {
    for (int k = 0; k < 6; ++k) {
      SceneSpec scene = testing::EmptyScene();
      scene.gravity = Vec3(0, 0, -9.81);
      scene.solver.newton_tolerance_m_s = tolerance;
      scene.dynamics.sleep.after_s = 0.1;
      scene.friction.dynamic_coefficient = 0.5;
      scene.bodies = {testing::AffineBox("resting", Vec3(0.06, 0.06, 0.03), testing::StiffMaterial(500, 1e7)),
                      testing::AffineBox("thrown", Vec3(0.03, 0.03, 0.03), testing::StiffMaterial(2000, 1e7)),
                      testing::StaticSheet("floor", 0.5, 3)};
      scene.bodies[0].pose.position = Vec3(0.003, 0.002, 0.0155);
      scene.bodies[1].pose.position = Vec3(0, 0.002 * k, 0.8 + 0.05 * k);
      World world(testing::Compile(scene));
      for (int n = 0; n < 80; ++n) {
        const VecX before = world.state().v;
        StepInput input{kStep, {}};
        input.measure_balance = true;
        ASSERT_TRUE(world.Step(input, {}).ok());
        if (world.report().wake_retries == 0 || world.report().substeps > 1) continue;
        ++retried;
        const double expected = LargestLeft(world, before);
        EXPECT_NEAR(*world.report().unbalanced_force_n, expected, 1e-6 * expected + 1e-9) << tolerance << " " << k << " " << n;
      }
    }
  }
  EXPECT_GT(retried, 5);
}

}  // namespace
}  // namespace eipc
