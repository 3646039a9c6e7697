#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <vector>

#include "sim/dynamics/stage_problem.h"
#include "sim/dynamics/world.h"
#include "sim/material/stable_neo_hookean.h"
#include "tests/support/random.h"
#include "tests/support/scenes.h"

namespace eipc {
namespace {

// A block squeezed to 0.9 of its height, and the Hessian of a stage at points of it.
class StageHessian : public ::testing::Test {
 protected:
  void Begin(double tolerance, IntegratorKind integrator = IntegratorKind::kBackwardEuler) {
    SceneSpec scene = testing::EmptyScene();
    scene.solver.newton_tolerance_m_s = tolerance;
    scene.dynamics.integrator = integrator;
    scene.bodies = {testing::FullSpaceBox("box", Vec3(0.05, 0.05, 0.05), {2, 2, 2},
                                          testing::SoftMaterial(500, 5e4, 0.4, &StableNeoHookean::kDescriptor))};
    model_ = testing::Compile(scene);
    problem_.emplace(model_.get(), &pool_, &seconds_, nullptr);
    q_.resize(3 * model_->node_count);
    for (int32_t n = 0; n < model_->node_count; ++n)
      q_.segment<3>(3 * n) = model_->initial_positions[n].cwiseProduct(Vec3(1, 1, 0.9));
    near_ = q_ + random_.Vector(q_.size(), 1e-6);
    still_ = VecX::Zero(q_.size());
    problem_->BeginStep(q_, q_, 1e6, {});
    BeginStage();
  }
  void BeginStage() { problem_->BeginStage(q_, q_, still_, 0.01); }
  std::vector<double> At(const VecX& q) {
    problem_->SetPoint(q);
    (void)problem_->Hessian(&hessian_);
    return hessian_.values();
  }

  std::shared_ptr<const Model> model_;
  ThreadPool pool_{1};
  PhaseSeconds seconds_ = {};
  std::optional<StageProblem> problem_;
  testing::Random random_{3};
  BlockMatrix hessian_;
  VecX q_, near_, still_;
};

TEST_F(StageHessian, IsHeldWithinAStageOnly) {
  Begin(1e-5);
  const std::vector<double> first = At(q_);
  EXPECT_FALSE(problem_->InexactHessian());
  EXPECT_EQ(At(near_), first);
  EXPECT_TRUE(problem_->InexactHessian());
  (void)At(1.01 * q_);
  EXPECT_FALSE(problem_->InexactHessian());
  BeginStage();
  EXPECT_NE(At(near_), first);
  EXPECT_FALSE(problem_->InexactHessian());
}

TEST_F(StageHessian, IsNotHeldWhenItIsProjected) {
  Begin(1e-5);
  const std::vector<double> exact = At(q_);
  ASSERT_TRUE(problem_->Project());
  EXPECT_NE(At(q_), exact);
  EXPECT_TRUE(problem_->InexactHessian());
  BeginStage();
  EXPECT_EQ(At(q_), exact);
  EXPECT_FALSE(problem_->InexactHessian());
}

TEST_F(StageHessian, IsNotHeldOnceTheSolverSaysSoUntilTheNextStage) {
  Begin(1e-5);
  const std::vector<double> first = At(q_);
  problem_->HoldNoHessian();
  for (int i = 0; i < 2; ++i) {
    EXPECT_NE(At(near_), first);
    EXPECT_FALSE(problem_->InexactHessian());
    EXPECT_EQ(At(q_), first);
    EXPECT_FALSE(problem_->InexactHessian());
  }
  BeginStage();
  (void)At(q_);
  EXPECT_EQ(At(near_), first);
}

// Also of integrators that solve to a part of the solver's.
TEST_F(StageHessian, IsNotHeldAtTightTolerances) {
  Begin(9e-7);
  EXPECT_NE(At(near_), At(q_));
  Begin(1e-4, IntegratorKind::kVariational);
  EXPECT_NE(At(near_), At(q_));
}

// What is left out of its tangents makes that of a condensed body inexact where nothing is held or projected.
TEST(CondensedHessians, AreInexactInEveryStage) {
  SceneSpec scene = testing::EmptyScene();
  scene.bodies = {testing::EmbeddedBox("box", Vec3(0.05, 0.05, 0.05), {2, 2, 2},
                                       testing::SoftMaterial(500, 5e4, 0.4, &StableNeoHookean::kDescriptor))};
  for (const CoarseSpace space : {CoarseSpace::kPlain, CoarseSpace::kCondensed}) {
    scene.bodies[0].coarse_space = space;
    const auto model = testing::Compile(scene);
    ThreadPool pool(1);
    PhaseSeconds seconds = {};
    StageProblem problem(model.get(), &pool, &seconds, nullptr);
    VecX q(3 * model->node_count);
    for (int32_t n = 0; n < model->node_count; ++n) q.segment<3>(3 * n) = model->initial_positions[n].cwiseProduct(Vec3(1, 1, 0.9));
    const VecX still = VecX::Zero(q.size());
    BlockMatrix hessian;
    problem.BeginStep(q, q, 1e6, {});
    for (int stage = 0; stage < 2; ++stage) {
      problem.BeginStage(q, q, still, 0.01);
      problem.SetPoint(q);
      (void)problem.Hessian(&hessian);
      EXPECT_EQ(problem.InexactHessian(), space == CoarseSpace::kCondensed) << stage;
    }
  }
}

// The second update of a body that falls freely is rounding, which the next one does not fall below. Lagged friction ends with a
// solve of one iteration.
TEST(CondensedHessians, AreNotAskedAboutRounding) {
  SceneSpec scene = testing::EmptyScene();
  scene.gravity = Vec3(0, 0, -9.81);
  scene.bodies = {testing::EmbeddedBox("box", Vec3(0.05, 0.05, 0.05), {2, 2, 2},
                                       testing::SoftMaterial(500, 5e4, 0.4, &StableNeoHookean::kDescriptor))};
  scene.bodies[0].coarse_space = CoarseSpace::kCondensed;
  scene.bodies[0].pose.rotation = Quat(Eigen::AngleAxisd(0.7, Vec3(1, 2, 3).normalized()));
  for (const FrictionMode mode : {FrictionMode::kLagged, FrictionMode::kLaggedUntilConverged, FrictionMode::kImplicit}) {
    scene.dynamics.friction = mode;
    scene.contact.friction_lag_iterations = mode == FrictionMode::kLaggedUntilConverged ? 50 : 1;
    World world(testing::Compile(scene));
    for (int step = 0; step < 30; ++step) {
      EXPECT_EQ(testing::RunSteps(&world, 1, 0.01), 0);
      EXPECT_LE(world.report().newton_iterations, mode == FrictionMode::kLaggedUntilConverged ? 3 : 2) << step;
    }
  }
}

// A beam that is held at one end and falls, of a material whose volume hardly changes: a change of deformation that is small
// changes its stress by much. Where held Hessians counted as those of the point, its first step was off by 1.6 tolerances.
TEST(HeldHessians, LeaveNoMoreErrorThanTheTolerance) {
  constexpr double kStep = 0.02, kTolerance = 3e-5;
  const auto end = [&](double tolerance) {
    SceneSpec scene = testing::EmptyScene();
    scene.gravity = Vec3(0, 0, -9.81);
    scene.solver.newton_tolerance_m_s = tolerance;
    scene.bodies = {testing::FullSpaceBox("beam", Vec3(0.2, 0.03, 0.03), {20, 3, 3},
                                          testing::SoftMaterial(1000, 2e5, 0.4999, &StableNeoHookean::kDescriptor))};
    BoundarySetSpec& root = scene.bodies[0].boundary_sets.emplace_back();
    root.name = "root";
    for (size_t v = 0; v < scene.bodies[0].mesh.vertices.size(); ++v) {
      if (scene.bodies[0].mesh.vertices[v].x() < -0.1 + 1e-9) root.vertices.push_back(static_cast<int32_t>(v));
    }
    World world(testing::Compile(scene));
    std::vector<VecX> points;
    for (int step = 0; step < 5; ++step) {
      EXPECT_EQ(testing::RunSteps(&world, 1, kStep), 0);
      points.push_back(world.state().q);
    }
    return points;
  };
  const std::vector<VecX> loose = end(kTolerance), tight = end(1e-9);
  for (size_t step = 0; step < loose.size(); ++step) {
    EXPECT_LT((loose[step] - tight[step]).reshaped(3, loose[step].size() / 3).colwise().norm().maxCoeff(), kStep * kTolerance)
        << step;
  }
}

// The old point's factor is stiff where a body that has turned is soft: what it makes of the new gradient is thousands of times
// shorter than the update that follows. A solve that ended by that was off by 7 tolerances in every step.
TEST(StiffBodies, AreAsFarTurnedAsTheToleranceSays) {
  constexpr double kStep = 0.02, kTolerance = 3e-5;
  SceneSpec scene = testing::EmptyScene();
  scene.bodies = {testing::AffineBox("block", Vec3(0.1, 0.06, 0.04), testing::StiffMaterial(1000, 1e8))};
  scene.bodies[0].angular_velocity = 0.5 * Vec3(1, 0.4, 0.2);
  World tight(testing::Compile(scene));
  scene.solver.newton_tolerance_m_s = kTolerance;
  World world(testing::Compile(scene));
  for (int step = 0; step < 20; ++step) {
    ASSERT_TRUE(tight.Restore(world.state()).ok());
    EXPECT_EQ(testing::RunSteps(&world, 1, kStep) + testing::RunSteps(&tight, 1, kStep), 0);
    const VecX error = world.state().q - tight.state().q;
    EXPECT_LT(error.reshaped(3, error.size() / 3).colwise().norm().maxCoeff(), kStep * kTolerance) << step;
  }
}

}  // namespace
}  // namespace eipc
