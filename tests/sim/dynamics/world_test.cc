// Worlds: the same bits whatever the threads and the history, whole steps or none, reports.

#include "sim/dynamics/world.h"

#include <gtest/gtest.h>

#include "sim/dynamics/contact_ahead.h"
#include "sim/dynamics/state_codec.h"
#include "tests/support/force_balance.h"
#include "tests/support/scenes.h"

namespace eipc {
namespace {

constexpr double kStep = 0.01;

// A bit of everything: a soft block, an embedded one and an affine one tumble in a pile under a plate that comes down, with
// friction and a stiffness that adapts.
SceneSpec Pile() {
  SceneSpec scene = testing::EmptyScene();
  scene.gravity = Vec3(0, 0, -9.81);
  scene.solver.newton_tolerance_m_s = 1e-3;
  scene.friction.dynamic_coefficient = 0.4;
  scene.contact.dhat_m = 2e-3;
  scene.contact.friction_lag_iterations = 2;
  const MaterialSpec soft = testing::SoftMaterial(500, 5e4, 0.4);
  scene.bodies = {testing::FullSpaceBox("full", Vec3(0.1, 0.1, 0.05), {3, 3, 2}, soft),
                  testing::EmbeddedBox("embedded", Vec3(0.06, 0.06, 0.05), {2, 2, 2}, soft),
                  testing::AffineBox("affine", Vec3(0.04, 0.04, 0.04), testing::StiffMaterial(800, 1e6)),
                  testing::StaticSheet("floor", 0.3, 3), testing::KinematicBox("plate", Vec3(0.2, 0.2, 0.01))};
  scene.bodies[0].pose = {Vec3(0, 0, 0.032), Quat(Eigen::AngleAxisd(0.1, Vec3::UnitX()))};
  scene.bodies[1].pose = {Vec3(0.01, 0, 0.1), Quat(Eigen::AngleAxisd(0.2, Vec3::UnitY()))};
  scene.bodies[2].pose = {Vec3(0.005, 0.005, 0.16), Quat(Eigen::AngleAxisd(0.5, Vec3(1, 1, 0).normalized()))};
  scene.bodies[2].angular_velocity = Vec3(1, 2, 3);
  scene.bodies[4].pose.position.z() = 0.25;
  scene.bodies[4].trajectory.keys = {{0, scene.bodies[4].pose}, {0.3, {Vec3(0, 0, 0.13), Quat::Identity()}}};
  return scene;
}

std::string DigestAfter(World* world, int steps) {
  testing::RunSteps(world, steps, kStep);
  return world->state().Digest();
}

TEST(World, RepeatsItsBitsWithAnyNumberOfThreads) {
  const auto model = testing::Compile(Pile());
  World one(model, 1);
  const std::string digest = DigestAfter(&one, 40);
  EXPECT_GT(one.contact_forces().stencils.size(), 20u) << "the pile is not one";
  EXPECT_TRUE(testing::IsIntersectionFree(one));
  World again(model, 1), two(model, 2), three(model, 3);
  EXPECT_EQ(DigestAfter(&again, 40), digest);
  EXPECT_EQ(DigestAfter(&two, 40), digest);
  EXPECT_EQ(DigestAfter(&three, 40), digest);
  // Compiled again: the model has no hidden state either.
  World recompiled(testing::Compile(Pile()), 1);
  EXPECT_EQ(DigestAfter(&recompiled, 40), digest);
  one.Reset();
  EXPECT_EQ(DigestAfter(&one, 40), digest);
}

TEST(World, GoesOnFromASnapshotAsIfNothingHadHappened) {
  const auto model = testing::Compile(Pile());
  World world(model);
  testing::RunSteps(&world, 28, kStep);
  ASSERT_FALSE(world.contact_forces().stencils.empty());
  const State snapshot = world.state();
  const std::string digest = DigestAfter(&world, 8);
  World fresh(model);
  ASSERT_TRUE(fresh.Restore(snapshot).ok());
  EXPECT_EQ(fresh.state().Digest(), snapshot.Digest());
  EXPECT_EQ(DigestAfter(&fresh, 8), digest);
  // A world that has been elsewhere meanwhile: other steps, other step sizes, commands, a plate far away.
  World travelled(model, 2);
  const int plate = model->FindBoundarySet("plate", "");
  ASSERT_TRUE(travelled.Step({0.05, {{plate, {Vec3(0, 0, 0.4), Quat::Identity()}}}}, {}).ok());
  testing::RunSteps(&travelled, 11, 0.003);
  ASSERT_TRUE(travelled.Restore(snapshot).ok());
  EXPECT_EQ(DigestAfter(&travelled, 8), digest);
  // The same world, sent back.
  ASSERT_TRUE(world.Restore(snapshot).ok());
  EXPECT_TRUE(world.contact_forces().stencils.empty());
  EXPECT_EQ(DigestAfter(&world, 8), digest);
}

TEST(World, RefusesASnapshotOfAnotherScene) {
  World world(testing::Compile(Pile()));
  SceneSpec other = Pile();
  other.bodies.pop_back();
  const State foreign = InitialState(*testing::Compile(other));
  const std::string before = world.state().Digest();
  EXPECT_EQ(world.Restore(foreign).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(world.state().Digest(), before);
}

// A step that is cancelled anywhere, inside collision detection and linear solves too, leaves nothing behind.
TEST(World, ACancelledStepNeverWas) {
  const auto model = testing::Compile(Pile());
  World world(model), undisturbed(model);
  testing::RunSteps(&world, 28, kStep);
  testing::RunSteps(&undisturbed, 28, kStep);
  const std::string before = world.state().Digest();
  const size_t contacts = world.contact_forces().stencils.size();
  int cancelled = 0, polls = 0;
  for (int allowed = 0;; allowed += allowed < 50 ? 1 : 11) {
    polls = 0;
    StepBudget budget;
    budget.cancelled = [&] { return ++polls > allowed; };
    const absl::Status status = world.Step({kStep, {}}, budget);
    if (status.ok()) break;
    ++cancelled;
    ASSERT_EQ(status.code(), absl::StatusCode::kCancelled);
    ASSERT_EQ(world.state().Digest(), before);
    ASSERT_EQ(world.contact_forces().stencils.size(), contacts);
  }
  EXPECT_GT(polls, 20 * world.report().newton_iterations) << "there are few places to interrupt it at";
  EXPECT_GT(cancelled, 100);
  testing::RunSteps(&undisturbed, 1, kStep);
  EXPECT_EQ(world.state().Digest(), undisturbed.state().Digest());
  EXPECT_EQ(DigestAfter(&world, 4), DigestAfter(&undisturbed, 4));
}

// Two blocks, large enough for patterns of the Hessian to couple what is near contact (ContactAhead).
SceneSpec TwoBlocks() {
  SceneSpec scene = testing::EmptyScene();
  scene.contact.dhat_m = 2e-3;
  scene.gravity = Vec3(0, 0, -9.81);
  scene.solver.linear_solver = LinearSolverKind::kCholesky;
  const MaterialSpec soft = testing::SoftMaterial(500, 5e4, 0.4);
  scene.bodies = {testing::FullSpaceBox("low", Vec3(0.06, 0.06, 0.03), {9, 9, 6}, soft),
                  testing::FullSpaceBox("high", Vec3(0.05, 0.05, 0.03), {8, 8, 6}, soft), testing::StaticSheet("floor", 0.5)};
  scene.bodies[0].pose.position.z() = 0.015 + 1.5e-3;
  scene.bodies[1].pose.position = Vec3(0.003, 0.002, 0.045 + 3e-3);
  return scene;
}

// The end of a step that makes a new pattern for the next one searches for contact as well.
TEST(World, AStepThatIsCancelledAtItsEndNeverWas) {
  const auto model = testing::Compile(TwoBlocks());
  ASSERT_TRUE(ContactAhead::Pays(*model));
  World world(model), undisturbed(model);
  testing::RunSteps(&world, 31, kStep);
  const State before = world.state();
  ASSERT_TRUE(undisturbed.Restore(before).ok());
  int polls = 0, all = 0, cancelled = 0;
  StepBudget count, end;
  count.cancelled = [&] { return ++all < 0; };
  end.cancelled = [&] { return --polls < 0; };
  testing::RunSteps(&undisturbed, 1, kStep);
  for (int last = 1; last < 16; last += 3) {
    ASSERT_TRUE(world.Restore(before).ok());
    all = 0;
    ASSERT_TRUE(world.Step({kStep, {}}, count).ok());
    ASSERT_TRUE(world.Restore(before).ok());
    polls = all - last;
    const absl::Status status = world.Step({kStep, {}}, end);
    cancelled += !status.ok();
    EXPECT_EQ(world.state().Digest(), status.ok() ? undisturbed.state().Digest() : before.Digest()) << last;
  }
  EXPECT_GT(cancelled, 3);
}

TEST(World, APastDeadlineIsReported) {
  World world(testing::Compile(Pile()));
  StepBudget budget;
  budget.deadline = std::chrono::steady_clock::time_point::min();
  EXPECT_EQ(world.Step({kStep, {}}, budget).code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(world.state().step, 0);
}

// Truncated solves are data: the step is taken, says so, and still nothing intersects.
TEST(World, TheIterationCapIsReportedAndKeepsBodiesApart) {
  SceneSpec scene = Pile();
  scene.solver.max_newton_iterations = 2;
  World world(testing::Compile(scene));
  int capped = 0;
  for (int n = 0; n < 40; ++n) {
    testing::RunSteps(&world, 1, kStep);
    capped += world.report().outcome == StepOutcome::kIterationCap;
    EXPECT_LE(world.report().newton_iterations, 4 + 4) << "two for each lag; two moves of the drive, relaxed";
    ASSERT_TRUE(testing::IsIntersectionFree(world)) << n;
  }
  EXPECT_GT(capped, 3);
}

TEST(World, ReportsWhatItDid) {
  World world(testing::Compile(Pile()));
  testing::RunSteps(&world, 30, kStep);
  const StepReport& r = world.report();
  EXPECT_GT(r.newton_iterations, 0);
  EXPECT_GE(r.linear_solves, r.newton_iterations);
  EXPECT_GT(r.min_distance_m, 0);
  EXPECT_LT(r.min_distance_m, 2e-3);
  EXPECT_EQ(r.min_distance_m, world.contact_forces().min_distance_m);
  EXPECT_GT(r.min_ccd_fraction, 0);
  EXPECT_LE(r.min_ccd_fraction, 1);
  EXPECT_LE(r.residual_m_s, 1e-3);
  EXPECT_GT(r.barrier_stiffness, 0);
  double measured = 0;
  for (double seconds : r.phase_s) {
    EXPECT_GE(seconds, 0);
    measured += seconds;
  }
  EXPECT_GT(r.wall_s, 0);
  EXPECT_GE(measured, r.wall_s * (1 - 1e-9)) << "every part of the step is measured";
}

// What the report says is not in balance is what forces and motion show, for a loose tolerance and for a tight one.
TEST(World, ReportsHowFarForcesAreFromBalance) {
  std::vector<double> most;
  for (const double tolerance : {1e-2, 1e-7}) {
    SceneSpec scene = Pile();
    scene.solver.newton_tolerance_m_s = tolerance;
    World world(testing::Compile(scene));
    const StepBudget budget;
    double largest = 0;
    for (int n = 0; n < 20; ++n) {
      const VecX before = world.state().v;
      StepInput input{kStep, {}};
      input.measure_balance = true;
      ASSERT_TRUE(world.Step(input, budget).ok());
      const std::vector<Vec3> left = testing::LeftUnbalanced(world, before, kStep);
      double expected = 0;
      for (size_t b = 0; b < 3; ++b) expected = std::max(expected, left[b].norm());
      ASSERT_TRUE(world.report().unbalanced_force_n.has_value());
      EXPECT_NEAR(*world.report().unbalanced_force_n, expected, 1e-6 * expected + 1e-9) << n;
      largest = std::max(largest, expected);
    }
    most.push_back(largest);
    testing::RunSteps(&world, 1, kStep);
    EXPECT_FALSE(world.report().unbalanced_force_n.has_value()) << "it was not asked for";
  }
  EXPECT_GT(most[0], 1e-3);
  EXPECT_LT(most[1], 0.01 * most[0]);
}

// Targets and velocities beyond reason: what is accepted is a state that can be read back; a step out of the range of numbers is
// refused whole, and the next one is taken.
TEST(World, RefusesAStepOutOfTheRangeOfNumbers) {
  SceneSpec scene = testing::EmptyScene();
  scene.bodies = {testing::KinematicBox("hand", Vec3(0.1, 0.1, 0.1)),
                  testing::FullSpaceBox("box", Vec3(0.1, 0.1, 0.1), {1, 1, 1}, testing::SoftMaterial(1000, 1e5, 0.3))};
  scene.bodies[1].pose.position = Vec3(0, 0, 0.5);
  scene.bodies[1].linear_velocity = Vec3(0, 0, 1e3);
  const auto model = testing::Compile(scene);
  World world(model);
  int refused = 0;
  for (const double x : {1e-3, 1e100, 1e200, 1e308, 2e-3}) {
    const std::string before = EncodeState(world.state());
    const absl::Status status = world.Step({0.01, {{0, {Vec3(x, 0, 0), Quat::Identity()}}}}, {});
    EXPECT_TRUE(DecodeState(EncodeState(world.state()), *model).ok()) << x;
    if (status.ok()) continue;
    ++refused;
    EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange) << status;
    EXPECT_EQ(EncodeState(world.state()), before) << x;
    EXPECT_GT(x, 1) << status;
  }
  EXPECT_GT(refused, 0);
  EXPECT_EQ(world.state().step, 5 - refused);
}

}  // namespace
}  // namespace eipc
