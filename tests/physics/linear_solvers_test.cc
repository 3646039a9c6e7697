// The motion does not depend on how Newton's linear systems are solved: a soft block filled with gas that lands on a floor and
// slides, and a finger whose driven root presses it against a wall.

#include "sim/solver/linear_solvers.h"

#include <gtest/gtest.h>

#include "tests/support/scenes.h"

namespace eipc {
namespace {

constexpr double kStep = 0.01, kTolerance = 1e-6;  // s; m/s
constexpr LinearSolverKind kIterative[] = {LinearSolverKind::kPcgDiagonal, LinearSolverKind::kPcgBlock, LinearSolverKind::kPcgIc0};

SceneSpec LandingBlock() {
  SceneSpec scene = testing::EmptyScene();
  scene.gravity = Vec3(0, 0, -9.81);
  scene.solver.newton_tolerance_m_s = kTolerance;
  scene.friction.dynamic_coefficient = 0.4;
  const MaterialSpec soft = testing::SoftMaterial(1000, 5e4, 0.4, &StableNeoHookean::kDescriptor);
  scene.bodies = {testing::FullSpaceBox("block", Vec3(0.1, 0.08, 0.06), {4, 3, 3}, soft), testing::StaticSheet("floor", 1, 4)};
  scene.bodies[0].enclosed_volumes = {{false, std::nullopt, {}}};
  scene.bodies[0].pose.position = Vec3(0.003, 0.002, 0.032);
  scene.bodies[0].linear_velocity = Vec3(0.5, 0.1, -0.6);
  return scene;
}

SceneSpec With(SceneSpec scene, LinearSolverKind kind, bool simplified = false) {
  scene.solver.linear_solver = kind;
  scene.solver.simplified_newton = simplified;
  return scene;
}

struct Totals {
  int krylov = 0, direct = 0, kept = 0;
};

// Steps both from the same states: differences do not add up, nor does what contact makes of them.
Totals CompareStepByStep(const SceneSpec& reference, const SceneSpec& other, int steps) {
  World a(testing::Compile(reference)), b(testing::Compile(other));
  Totals totals;
  for (int n = 0; n < steps; ++n) {
    EXPECT_EQ(testing::RunSteps(&a, 1, kStep), 0) << n;
    EXPECT_EQ(testing::RunSteps(&b, 1, kStep), 0) << n;
    EXPECT_EQ(b.report().linear_solver, other.solver.linear_solver);
    // Each is off by no more than the tolerance.
    double largest = 0;
    const VecX off = a.state().q - b.state().q;
    for (Eigen::Index i = 0; i + 2 < off.size(); i += 3) largest = std::max(largest, off.segment<3>(i).norm());
    EXPECT_LT(largest, 2 * kTolerance * kStep) << n;
    EXPECT_TRUE(testing::IsIntersectionFree(b));
    totals.krylov += b.report().krylov_iterations;
    totals.direct += b.report().direct_solves;
    totals.kept += b.report().kept_matrices;
    EXPECT_TRUE(b.Restore(a.state()).ok());
  }
  return totals;
}

TEST(LinearSolvers, ConjugateGradientsGiveTheSameMotion) {
  const SceneSpec scene = LandingBlock();
  for (const LinearSolverKind kind : kIterative) {
    SCOPED_TRACE(LinearSolverName(kind));
    const Totals totals = CompareStepByStep(With(scene, LinearSolverKind::kCholesky), With(scene, kind), 25);
    EXPECT_GT(totals.krylov, 0);
    EXPECT_EQ(totals.direct, 0);
  }
}

TEST(LinearSolvers, SimplifiedNewtonGivesTheSameMotion) {
  const SceneSpec scene = LandingBlock();
  for (const LinearSolverKind kind : {LinearSolverKind::kCholesky, LinearSolverKind::kPcgIc0}) {
    SCOPED_TRACE(LinearSolverName(kind));
    EXPECT_GT(CompareStepByStep(With(scene, LinearSolverKind::kCholesky), With(scene, kind, true), 25).kept, 0);
  }
}

TEST(LinearSolvers, DrivenNodesArriveWithAnyOfThem) {
  SceneSpec scene = testing::EmptyScene();
  scene.solver.newton_tolerance_m_s = kTolerance;
  BodySpec finger = testing::FullSpaceBox("finger", Vec3(0.02, 0.02, 0.1), {2, 2, 8}, testing::SoftMaterial(1000, 5e5, 0.4));
  BoundarySetSpec root;
  root.name = "root";
  root.box = SelectionBox{Vec3(-1, -1, 0.049), Vec3(1, 1, 1)};
  root.trajectory.keys = {{0, Pose{Vec3(0, 0, 0), Quat::Identity()}}, {0.2, Pose{Vec3(0.01, 0, 0), Quat::Identity()}}};
  finger.boundary_sets = {root};
  scene.bodies = {finger, testing::StaticBox("wall", Vec3(0.02, 0.1, 0.06))};
  scene.bodies[1].pose.position = Vec3(0.0225, 0.001, -0.04);
  for (const LinearSolverKind kind : kIterative) {
    SCOPED_TRACE(LinearSolverName(kind));
    CompareStepByStep(With(scene, LinearSolverKind::kCholesky), With(scene, kind), 20);
  }
}

TEST(LinearSolvers, RepeatTheirBitsFromASnapshotWithAnyThreads) {
  for (const LinearSolverKind kind : kIterative) {
    const auto model = testing::Compile(With(LandingBlock(), kind, true));
    World world(model), other(model, 3);
    testing::RunSteps(&other, 3, 0.004);
    testing::RunSteps(&world, 6, kStep);
    ASSERT_TRUE(other.Restore(world.state()).ok());
    testing::RunSteps(&world, 6, kStep);
    testing::RunSteps(&other, 6, kStep);
    EXPECT_EQ(world.state().Digest(), other.state().Digest());
  }
}

TEST(LinearSolvers, AreChosenByTheSizeOfTheScene) {
  SceneSpec scene = LandingBlock();
  EXPECT_EQ(testing::Compile(scene)->solver.linear_solver, LinearSolverKind::kCholesky);
  const MaterialSpec soft = testing::SoftMaterial(1000, 5e4, 0.3);
  scene.bodies[0] = testing::FullSpaceBox("block", Vec3(0.1, 0.1, 0.1), {12, 12, 12}, soft);
  scene.bodies[0].pose.position = Vec3(0, 0, 0.06);
  EXPECT_EQ(testing::Compile(scene)->solver.linear_solver, LinearSolverKind::kPcgIc0);
}

}  // namespace
}  // namespace eipc
