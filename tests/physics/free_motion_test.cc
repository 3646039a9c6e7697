// Motion without contact, against exact solutions of the backward Euler recurrence.

#include <gtest/gtest.h>

#include "sim/sensor/body_motion.h"
#include "sim/sensor/energies.h"
#include "tests/support/random.h"
#include "tests/support/scenes.h"

namespace eipc {
namespace {

using testing::Random;

const Vec3 kSize(0.1, 0.12, 0.08);

std::vector<BodySpec> EveryMovingKind(MaterialModel model = &FixedCorotated::kDescriptor) {
  const MaterialSpec soft = testing::SoftMaterial(1000, 1e5, 0.3, model);
  return {testing::FullSpaceBox("full", kSize, {2, 2, 2}, soft), testing::EmbeddedBox("embedded", kSize, {2, 2, 2}, soft),
          testing::AffineBox("affine", kSize, testing::StiffMaterial(1000, 1e7))};
}

Energies EnergiesOf(const World& world) {
  std::vector<Vec3> x;
  world.SurfacePositions(&x);
  return ComputeEnergies(world.model(), world.state(), x);
}

// v_n = v_{n-1} - g h, z_n = z_{n-1} + h v_n: z_n = z_0 - g h^2 n (n + 1) / 2.
TEST(FreeMotion, FallsAsTheRecurrenceSays) {
  for (const BodySpec& body : EveryMovingKind()) {
    for (double h : {0.005, 0.02}) {
      SceneSpec scene = testing::EmptyScene();
      scene.gravity = Vec3(0, 0, -9.81);
      scene.bodies = {body};
      World world(testing::Compile(scene));
      const VecX start = world.state().q;
      for (int n = 1; n <= 50; ++n) {
        testing::RunSteps(&world, 1, h);
        const double fall = 9.81 * h * h * n * (n + 1) / 2;
        for (Eigen::Index i = 0; i < start.size(); i += 3) {
          ASSERT_LT((world.state().q.segment<3>(i) - start.segment<3>(i) + Vec3(0, 0, fall)).norm(), 1e-9) << body.name << n;
        }
        ASSERT_EQ(world.report().outcome, StepOutcome::kConverged);
      }
      EXPECT_NEAR(world.state().time_s, 50 * h, 1e-12);
      EXPECT_EQ(world.state().step, 50);
    }
  }
}

// A constant force F on the body is the load m a = F on its mass: no node moves against another, and its work is kinetic energy and
// potential.
TEST(FreeMotion, AConstantForceMovesABodyAsAWhole) {
  for (BodySpec body : EveryMovingKind()) {
    const double h = 0.01, mass = 1000 * kSize.prod();
    const Vec3 force(2, -1, 3), gravity(0, 0.5, -9.81);
    body.external_force = force;
    SceneSpec scene = testing::EmptyScene();
    scene.gravity = gravity;
    scene.bodies = {body};
    World world(testing::Compile(scene));
    const VecX start = world.state().q;
    const double potential = EnergiesOf(world).gravity_j;
    EXPECT_EQ(testing::RunSteps(&world, 20, h), 0);
    const Vec3 travelled = (gravity + force / mass) * h * h * 20 * 21 / 2;
    for (Eigen::Index i = 0; i < start.size(); i += 3) {
      EXPECT_LT((world.state().q.segment<3>(i) - start.segment<3>(i) - travelled).norm(), 1e-9) << body.name;
    }
    EXPECT_NEAR(EnergiesOf(world).gravity_j - potential, -(mass * gravity + force).dot(travelled), 1e-9) << body.name;
  }
}

// A body that tumbles and wobbles: inner forces cannot change its momentum, and at the end point of a step of backward Euler they
// have no moment, sum q_{n+1} x M (v_{n+1} - v_n) = 0, which is the recurrence L_{n+1} = L_n + h v_{n+1} x M v_n.
TEST(FreeMotion, MomentumIsKeptToRoundOff) {
  for (BodySpec body : EveryMovingKind()) {
    body.linear_velocity = Vec3(0.5, -0.2, 0.3);
    body.angular_velocity = Vec3(3, 8, -5);
    SceneSpec scene = testing::EmptyScene();
    scene.bodies = {body};
    scene.self_contact = false;
    scene.solver.newton_tolerance_m_s = 1e-10;  // what Newton leaves undone acts as a moment
    const auto model = testing::Compile(scene);
    World world(model);
    const Vec3 momentum = testing::LinearMomentum(*model, world.state(), 0);
    EXPECT_LT((momentum - model->bodies[0].mass.mass * body.linear_velocity).norm(), 1e-12 * momentum.norm());
    constexpr double kStep = 0.005;
    for (int n = 0; n < 60; ++n) {
      const State before = world.state();
      EXPECT_EQ(testing::RunSteps(&world, 1, kStep), 0);
      EXPECT_LT((testing::LinearMomentum(*model, world.state(), 0) - momentum).norm(), 1e-11 * momentum.norm()) << body.name;
      Vec3 expected = testing::AngularMomentum(*model, before, 0);
      for (int32_t i = 0; i < model->node_count; ++i) {
        expected += kStep * Vec3(world.state().v.segment<3>(3 * i)).cross(model->mass.RowTimes(i, before.v));
      }
      const Vec3 angular = testing::AngularMomentum(*model, world.state(), 0);
      EXPECT_LT((angular - expected).norm(), 1e-9 * angular.norm()) << body.name;
    }
    EXPECT_GT(EnergiesOf(world).elastic_j, 0) << "it did deform";
  }
}

// A rigid rotation under backward Euler. An affine body whose potential is infinitely stiff has A in SO(3), and a step without
// forces minimizes |(A - (A_n + h A'_n)) J^(1/2)|^2 over rotations. About a principal axis all of A_n, A_{n-1} and h A'_n = A_n -
// A_{n-1} turn in one plane; as complex numbers A_n + h A'_n = e^(i t_n) (2 - e^(-i D_n)), D_n the angle of the last step, and the
// nearest rotation is its argument whatever J is:
//     D_{n+1} = atan2(sin D_n, 2 - cos D_n),   first step: arg(1 + i w h) = atan(w h).
// So backward Euler turns ever more slowly: 1 / D grows by about D / 2 a step.
TEST(FreeMotion, ASpinningAffineBodyTurnsAsTheRecurrenceSays) {
  constexpr double kOmega = 20, kStep = 0.01;
  for (const Vec3& axis : {Vec3(Vec3::UnitX()), Vec3(Vec3::UnitY()), Vec3(Vec3::UnitZ())}) {
    BodySpec body = testing::AffineBox("top", kSize, testing::StiffMaterial(1000, 1e9));
    body.angular_velocity = kOmega * axis;
    body.linear_velocity = Vec3(0.1, 0, 0);
    SceneSpec scene = testing::EmptyScene();
    scene.bodies = {body};
    const auto model = testing::Compile(scene);
    World world(model);
    double angle = 0, last = 0;
    for (int n = 0; n < 60; ++n) {
      last = n == 0 ? std::atan(kOmega * kStep) : std::atan2(std::sin(last), 2 - std::cos(last));
      angle += last;
      EXPECT_EQ(testing::RunSteps(&world, 1, kStep), 0);
      const Pose pose = BodyPose(*model, world.state(), 0);
      ASSERT_LT(pose.rotation.angularDistance(Quat(Eigen::AngleAxisd(angle, axis))), 2e-6)
          << "step " << n << " about " << axis.transpose();
      ASSERT_LT((pose.position - Vec3(0.1 * kStep * (n + 1), 0, 0)).norm(), 1e-9);
    }
    EXPECT_GT(angle, 5);
  }
}

// Mass-proportional damping: (1 + alpha h) v_{n+1} = v_n.
TEST(FreeMotion, MassDampingSlowsDownAsTheRecurrenceSays) {
  for (BodySpec body : EveryMovingKind()) {
    constexpr double kAlpha = 3, kStep = 0.01;
    body.material.rayleigh_alpha_per_s = kAlpha;
    body.linear_velocity = Vec3(1, 2, -1);
    SceneSpec scene = testing::EmptyScene();
    scene.bodies = {body};
    World world(testing::Compile(scene));
    testing::RunSteps(&world, 20, kStep);
    const Vec3 expected = body.linear_velocity / std::pow(1 + kAlpha * kStep, 20);
    for (Eigen::Index i = 0; i < world.state().v.size(); i += 3) {
      EXPECT_LT((world.state().v.segment<3>(i) - expected).norm(), 1e-9) << body.name;
    }
  }
}

// A stretched soft body swings; with stiffness-proportional damping its energy falls much faster.
TEST(FreeMotion, StiffnessDampingTakesEnergy) {
  double energy[2];
  for (int damped = 0; damped < 2; ++damped) {
    BodySpec body = EveryMovingKind()[0];
    body.material.rayleigh_beta_s = damped ? 2e-3 : 0;
    SceneSpec scene = testing::EmptyScene();
    scene.bodies = {body};
    const auto model = testing::Compile(scene);
    World world(model);
    State stretched = world.state();
    for (Eigen::Index i = 2; i < stretched.q.size(); i += 3) stretched.q[i] *= 1.1;
    ASSERT_TRUE(world.Restore(stretched).ok());
    const double start = EnergiesOf(world).elastic_j;
    EXPECT_EQ(testing::RunSteps(&world, 20, 5e-4), 0);
    const Energies e = EnergiesOf(world);
    energy[damped] = (e.elastic_j + e.kinetic_j) / start;
    EXPECT_LT(energy[damped], 1);
  }
  EXPECT_GT(energy[0], 0.2);
  EXPECT_LT(energy[1], 0.5 * energy[0]);
}

}  // namespace
}  // namespace eipc
