// Friction at the end of the step, by root finding: against lagged friction iterated until it converges, the balance of forces,
// other linear solvers, the order of integrators in contact, Stribeck friction.

#include <gtest/gtest.h>

#include <cmath>

#include "sim/sensor/body_motion.h"
#include "sim/sensor/contact_wrenches.h"
#include "tests/support/scenes.h"

namespace eipc {
namespace {

constexpr double kGravity = 9.81, kStep = 0.01, kSlipSpeed = 1e-3;

SceneSpec SlidingBlock(FrictionMode mode, IntegratorKind integrator = IntegratorKind::kBackwardEuler) {
  SceneSpec scene = testing::EmptyScene();
  scene.gravity = Vec3(0, 0, -kGravity);
  scene.solver.newton_tolerance_m_s = 1e-7;
  scene.contact.friction_velocity_m_s = kSlipSpeed;
  scene.contact.friction_lag_iterations = mode == FrictionMode::kLaggedUntilConverged ? 200 : 1;
  scene.dynamics.friction = mode;
  scene.dynamics.integrator = integrator;
  scene.friction.dynamic_coefficient = 0.3;
  const MaterialSpec soft = testing::SoftMaterial(1000, 1e5, 0.3, &StableNeoHookean::kDescriptor);
  scene.bodies = {testing::FullSpaceBox("block", Vec3(0.1, 0.06, 0.04), {2, 1, 1}, soft), testing::StaticSheet("floor", 3)};
  scene.bodies[0].pose.position = Vec3(0.003, 0.002, 0.0206);
  scene.bodies[0].linear_velocity = Vec3(0.8, 0.2, 0);
  return scene;
}

int Fallbacks(World* world, int steps, double dt_s) {
  int fallbacks = 0;
  for (int n = 0; n < steps; ++n) {
    EXPECT_EQ(testing::RunSteps(world, 1, dt_s), 0) << n;
    fallbacks += world->report().friction_fallbacks;
  }
  return fallbacks;
}

Vec3 ContactForce(const World& world) {
  std::vector<Vec3> x;
  world.SurfacePositions(&x);
  Vec3 sum = Vec3::Zero();
  for (const ContactWrench& w : ContactWrenches(world.model(), world.state(), x, world.contact_forces())) {
    if (w.body == 0) sum += w.normal_force + w.friction_force;
  }
  return sum;
}

// The block lands, slides and stops: one step's momentum is what the forces reported at its end give.
TEST(ImplicitFriction, ForcesAtTheEndOfTheStepBalance) {
  const auto model = testing::Compile(SlidingBlock(FrictionMode::kImplicit));
  World world(model);
  const double mass = model->bodies[0].mass.mass;
  int fallbacks = 0;
  for (int n = 0; n < 60; ++n) {
    const Vec3 before = testing::LinearMomentum(*model, world.state(), 0);
    fallbacks += Fallbacks(&world, 1, kStep);
    const Vec3 change = (testing::LinearMomentum(*model, world.state(), 0) - before) / kStep;
    EXPECT_LT((change - ContactForce(world) - mass * model->gravity).norm(), 1e-4 * mass * kGravity) << n;
    EXPECT_TRUE(testing::IsIntersectionFree(world));
  }
  EXPECT_EQ(fallbacks, 0);
  EXPECT_LT(BodyTwist(*model, world.state(), 0).linear.norm(), kSlipSpeed) << "it stopped";
}

TEST(ImplicitFriction, IsWhatLaggedFrictionConvergesTo) {
  World implicit(testing::Compile(SlidingBlock(FrictionMode::kImplicit)));
  World lagged(testing::Compile(SlidingBlock(FrictionMode::kLaggedUntilConverged)));
  int settled = 0, most = 0;
  for (int n = 0; n < 20; ++n) {
    EXPECT_EQ(Fallbacks(&implicit, 1, kStep), 0);
    testing::RunSteps(&lagged, 1, kStep);
    EXPECT_LT((implicit.state().q - lagged.state().q).cwiseAbs().maxCoeff(), 1e-7) << n;
    if (lagged.report().implicit_stages == 0) {  // else it was solved for in the end
      ++settled;
      most = std::max(most, lagged.report().friction_solves);
    }
    EXPECT_EQ(lagged.report().unsettled_friction, 0) << n;
    ASSERT_TRUE(lagged.Restore(implicit.state()).ok());
  }
  EXPECT_GT(settled, 10);
  EXPECT_GT(most, 1) << "it took more than one";
}

TEST(ImplicitFriction, DirectAndIterativeSolversFindTheSameRoot) {
  SceneSpec scene = SlidingBlock(FrictionMode::kImplicit);
  World krylov(testing::Compile(scene));
  scene.dynamics.direct_root_solver = true;
  World direct(testing::Compile(scene));
  for (int n = 0; n < 15; ++n) {
    EXPECT_EQ(Fallbacks(&krylov, 1, kStep), 0);
    EXPECT_EQ(Fallbacks(&direct, 1, kStep), 0);
    EXPECT_EQ(direct.report().krylov_iterations, 0);
    EXPECT_LT((krylov.state().q - direct.state().q).cwiseAbs().maxCoeff(), 1e-8) << n;
    ASSERT_TRUE(direct.Restore(krylov.state()).ok());
  }
}

TEST(ImplicitFriction, RepeatsItsBitsFromASnapshotWithAnyThreads) {
  const auto model = testing::Compile(SlidingBlock(FrictionMode::kImplicit, IntegratorKind::kBdf2));
  World world(model), other(model, 3);
  testing::RunSteps(&other, 3, 0.004);
  testing::RunSteps(&world, 6, kStep);
  ASSERT_TRUE(other.Restore(world.state()).ok());
  testing::RunSteps(&world, 6, kStep);
  testing::RunSteps(&other, 6, kStep);
  EXPECT_EQ(world.state().Digest(), other.state().Digest());
}

// A block that starts in touch, on a soft barrier, and slides without stopping: the motion is smooth and resolved.
TEST(ImplicitFriction, KeepsTheOrderOfTheIntegratorInResolvedContact) {
  const std::pair<IntegratorKind, int> methods[] = {{IntegratorKind::kBackwardEuler, 1}, {IntegratorKind::kTrapezoidal, 2},
                                                    {IntegratorKind::kBdf2, 2},          {IntegratorKind::kTrBdf2, 2},
                                                    {IntegratorKind::kSdirk2, 2},        {IntegratorKind::kImplicitMidpoint, 2}};
  for (const auto& [kind, order] : methods) {
    SceneSpec scene = SlidingBlock(FrictionMode::kImplicit, kind);
    scene.solver.newton_tolerance_m_s = 1e-9;
    scene.contact.dhat_m = 4e-3;
    scene.contact.stiffness = 2e7;
    scene.start_in_equilibrium = true;
    VecX q[3];
    for (int level = 0; level < 3; ++level) {
      World world(testing::Compile(scene));
      const int steps = (order == 1 ? 400 : 100) << level;  // what damps much is resolved later
      EXPECT_EQ(Fallbacks(&world, steps, 0.02 / steps), 0) << order;
      q[level] = world.state().q;
    }
    EXPECT_NEAR(std::log2((q[0] - q[1]).norm() / (q[1] - q[2]).norm()), order, 0.25) << static_cast<int>(kind);
  }
}

// At rest more is held than sliding brakes: pushed with a force between the two, a block that rests stays, one that slides goes on.
TEST(ImplicitFriction, StribeckFrictionHoldsMoreAtRestThanItBrakesSliding) {
  for (const double start : {0.0, 0.5}) {
    SceneSpec scene = SlidingBlock(FrictionMode::kImplicit);
    scene.gravity = Vec3(0.45 * kGravity, 0, -kGravity);  // a slope between 0.3 and 0.6
    scene.friction.static_coefficient = 0.6;
    scene.friction.stribeck_velocity_m_s = 0.2;  // what the block gains before it has landed is rest
    scene.bodies[0] = testing::AffineBox("block", Vec3(0.1, 0.06, 0.02), testing::StiffMaterial(1000, 1e7));
    scene.bodies[0].pose.position = Vec3(0.003, 0.002, 0.0106);
    scene.bodies[0].linear_velocity = Vec3(start, 0, 0);
    World world(testing::Compile(scene));
    testing::RunSteps(&world, 40, kStep);
    const double speed = BodyTwist(world.model(), world.state(), 0).linear.x();
    if (start == 0) {
      EXPECT_LT(std::abs(speed), kSlipSpeed);
    } else {
      EXPECT_NEAR((speed - start) / 0.4 / (kGravity * (0.45 - 0.3)), 1, 0.1);
    }
  }
}

}  // namespace
}  // namespace eipc
