// Soft blocks between hard plates: never through, and what cannot be done is reported.

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <tuple>

#include "sim/audit/audit.h"
#include "sim/sensor/body_motion.h"
#include "tests/support/scenes.h"

namespace eipc {
namespace {

constexpr double kStep = 0.02;
const Vec3 kBlock(0.08, 0.06, 0.06), kPlate(0.02, 0.1, 0.1);

// A block between a fixed wall and a plate that a client moves along x.
SceneSpec Press(const BodySpec& block) {
  SceneSpec scene = testing::EmptyScene();
  scene.solver.newton_tolerance_m_s = 1e-4;
  scene.bodies = {block, testing::StaticBox("wall", kPlate), testing::KinematicBox("plate", kPlate)};
  const double middle = 0.5 * (kBlock.x() + kPlate.x()) + 2e-3;
  scene.bodies[1].pose.position.x() = middle;
  scene.bodies[2].pose.position.x() = -middle;
  return scene;
}

BodySpec SoftBlock(MaterialModel model) {
  return testing::FullSpaceBox("block", kBlock, {4, 3, 3}, testing::SoftMaterial(500, 2e4, 0.3, model));
}

Target PlateAt(const World& world, double x) {
  return {static_cast<int32_t>(world.model().FindBoundarySet("plate", "")), {Vec3(x, 0, 0), Quat::Identity()}};
}

void ExpectSound(const World& world, int step) {
  ASSERT_TRUE(testing::IsIntersectionFree(world)) << step;
  ASSERT_GT(world.report().min_distance_m, 0) << step;
}

TEST(Press, ATargetThroughTheWallIsNotReachedAndARetreatRecovers) {
  const auto model = testing::Compile(Press(SoftBlock(&LinearCorotated::kDescriptor)));
  World world(model);
  const double start = model->boundary_sets[0].initial_pose.position.x();
  int missed = 0;
  for (int n = 1; n <= 20; ++n) {  // 8 mm a step, at last 8 cm through the wall, which the block's 8 cm end before
    const double x = start + 0.008 * n;
    ASSERT_TRUE(world.Step({kStep, {PlateAt(world, x)}}, {}).ok());
    ExpectSound(world, n);
    const StepReport& r = world.report();
    const double achieved = BodyPose(*model, world.state(), 2).position.x();
    if (r.missed_targets > 0) {
      ++missed;
      EXPECT_GT(r.target_error_m, 0);
      EXPECT_NEAR(r.target_error_m, x - achieved, 1e-9);
      EXPECT_EQ(world.state().drives[0].error_m, r.target_error_m);
    } else {
      EXPECT_EQ(r.target_error_m, 0) << n;
      EXPECT_NEAR(achieved, x, 1e-12);
    }
    EXPECT_LT(achieved + 0.5 * kPlate.x(), model->bodies[1].initial_pose.position.x() - 0.5 * kPlate.x()) << "through the wall";
  }
  EXPECT_GT(missed, 5);
  EXPECT_EQ(world.report().missed_targets, 1);
  // The drive stays behind until it receives a target that it can reach.
  for (int n = 0; n < 20; ++n) {
    ASSERT_TRUE(world.Step({kStep, {PlateAt(world, start)}}, {}).ok());
    ExpectSound(world, 100 + n);
  }
  EXPECT_EQ(world.report().outcome, StepOutcome::kConverged);
  EXPECT_EQ(world.report().target_error_m, 0);
  EXPECT_NEAR(BodyPose(*model, world.state(), 2).position.x(), start, 1e-12);
}

TEST(Press, AStepOfAMetreStopsAtTheBlock) {
  const auto model = testing::Compile(Press(SoftBlock(&StableNeoHookean::kDescriptor)));
  World world(model);
  ASSERT_TRUE(world.Step({kStep, {PlateAt(world, 1.0)}}, {}).ok());
  EXPECT_EQ(world.report().missed_targets, 1);
  ExpectSound(world, 0);
}

// Every step counts inverted elements of the state that it ends in; the exact audit finds as many. An inner node is put beyond its
// neighbours, and steps too short to bring it back follow.
TEST(Press, EveryStepCountsInvertedElements) {
  SceneSpec scene = Press(SoftBlock(&StableNeoHookean::kDescriptor));
  scene.solver.audit_every_n_steps = 1;
  World world(testing::Compile(scene));
  ASSERT_TRUE(world.Step({1e-5, {}}, {}).ok());
  EXPECT_EQ(world.report().inverted_elements, 0);
  State state = world.state();
  const Vec3 inner(0, 0.01, 0.01);
  int moved = 0;
  for (Eigen::Index i = 0; i < state.q.size(); i += 3) {
    if ((state.q.segment<3>(i) - inner).norm() > 1e-4) continue;
    state.q.segment<3>(i) += Vec3(0.025, 0, 0);
    ++moved;
  }
  ASSERT_EQ(moved, 1);
  ASSERT_TRUE(world.Restore(state).ok());
  for (int n = 0; n < 3; ++n) {
    ASSERT_TRUE(world.Step({1e-5, {}}, {}).ok());
    EXPECT_GT(world.report().inverted_elements, 0) << n;
    EXPECT_EQ(world.report().inverted_elements, world.report().audit.inversions) << n;
  }
}

// The material that forbids inversion never inverts, by exact predicates, however hard and fast it is squashed.
TEST(Press, ALogBarrierBlockNeverInverts) {
  const auto model = testing::Compile(Press(SoftBlock(&LogBarrierNeoHookean::kDescriptor)));
  World world(model);
  const double start = model->boundary_sets[0].initial_pose.position.x();
  for (int n = 1; n <= 24; ++n) {
    const double x = start + (n <= 12 ? 0.005 * n : 0.06 - 0.02 * (n % 3));  // to a quarter of its length, then shaken
    ASSERT_TRUE(world.Step({kStep, {PlateAt(world, x)}}, {}).ok());
    ExpectSound(world, n);
    std::vector<Vec3> nodes;
    for (Eigen::Index i = 0; i < world.state().q.size(); i += 3) nodes.push_back(world.state().q.segment<3>(i));
    ASSERT_TRUE(InvertedTets(nodes, model->elastic[0].nodes).empty()) << "step " << n;
    if (n == 12) {
      double volume = 0, least = 1;
      for (size_t e = 0; e < model->elastic[0].nodes.size(); ++e) {
        const double j = DeformationGradient(model->elastic[0], e, world.state().q).determinant();
        volume += model->elastic[0].volume[e] * j;
        least = std::min(least, j);
      }
      EXPECT_LT(least, 0.7) << "squashed";
      EXPECT_GT(volume, 0);
    }
  }
}

// Hard bodies, askew: nothing yields, so the plate must stop before gaps are as small as rounding, where nothing could move apart
// either.
TEST(Press, WhatCannotYieldMovesAgainOnceItIsReleased) {
  SceneSpec scene = testing::EmptyScene();
  scene.solver.newton_tolerance_m_s = 1e-4;
  scene.contact.stiffness = 1e9;
  scene.contact.friction_velocity_m_s = 1e-3;
  scene.friction.dynamic_coefficient = 0.5;
  // A square channel along x that ends at a wall.
  scene.bodies = {testing::KinematicBox("plate", Vec3(0.02, 0.036, 0.036)), testing::StaticBox("end", Vec3(0.02, 0.1, 0.1))};
  scene.bodies[0].pose.position.x() = -0.08;
  scene.bodies[1].pose.position.x() = 0.06;
  for (const int axis : {1, 2}) {
    for (const double side : {-1.0, 1.0}) {
      Vec3 size(0.24, 0.06, 0.06), at(-0.071, 0, 0);
      size[axis] = 0.01;
      at[axis] = side * (axis == 1 ? 0.0252 : 0.0255);
      if (axis == 2) size[1] = 0.04;
      scene.bodies.push_back(testing::StaticBox("side" + std::to_string(axis) + (side < 0 ? "-" : "+"), size));
      scene.bodies.back().pose.position = at;
    }
  }
  const std::array<std::tuple<double, double, Vec3>, 3> blocks = {
      {{0.028, 0.3, Vec3(1, 2, 3)}, {-0.006, -0.4, Vec3(3, -1, 2)}, {-0.04, 0.7, Vec3(-2, 3, 1)}}};
  for (const auto& [x, angle, axis] : blocks) {
    scene.bodies.push_back(testing::AffineBox("block" + std::to_string(scene.bodies.size()), Vec3(0.022, 0.024, 0.026),
                                              testing::StiffMaterial(500, 1e12)));
    scene.bodies.back().pose = {Vec3(x, 0, 0), Quat(Eigen::AngleAxisd(angle, axis.normalized()))};
  }
  World world(testing::Compile(scene));
  const double start = world.model().boundary_sets[0].initial_pose.position.x();
  int missed = 0;
  for (int n = 1; n <= 22; ++n) {
    ASSERT_TRUE(world.Step({kStep, {PlateAt(world, start + 0.005 * n)}}, {}).ok());
    ExpectSound(world, n);
    missed += world.report().missed_targets;
  }
  EXPECT_GE(missed, 5) << "they obstruct the plate";
  const double gap = world.report().min_distance_m;
  for (int n = 1; n <= 60; ++n) {  // it goes on pressing
    ASSERT_TRUE(world.Step({kStep, {PlateAt(world, start + 0.11)}}, {}).ok());
    ExpectSound(world, n);
  }
  EXPECT_GT(world.report().min_distance_m, 0.1 * gap) << "gaps do not shrink for ever";
  for (int n = 1; n <= 25; ++n) {
    ASSERT_TRUE(world.Step({kStep, {PlateAt(world, start + 0.11 - 0.005 * n)}}, {}).ok());
    ExpectSound(world, n);
  }
  EXPECT_EQ(testing::RunSteps(&world, 5, kStep), 0) << "all converge";
  EXPECT_LT(world.report().target_error_m, 1e-9) << "the plate is back";
}

}  // namespace
}  // namespace eipc
