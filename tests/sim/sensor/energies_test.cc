#include "sim/sensor/energies.h"

#include <gtest/gtest.h>

#include "sim/contact/barrier_function.h"
#include "sim/mesh/mass_properties.h"
#include "tests/sim/sensor/moving_bodies.h"

namespace eipc {
namespace {

using testing::Random;

Energies EnergiesOf(const std::shared_ptr<const Model>& model, const State& state) {
  World world(model);
  EXPECT_TRUE(world.Restore(state).ok());
  std::vector<Vec3> x;
  world.SurfacePositions(&x);
  return ComputeEnergies(*model, state, x);
}

TEST(Energies, OfARigidMotionAreThoseOfARigidBody) {
  const auto model = testing::Compile(testing::OneOfEachKind());
  Random random(1);
  for (int b : {testing::kFull, testing::kEmbedded, testing::kAffine}) {
    const Pose motion = {random.Cube(0.2), random.Rotation()};
    const Vec3 velocity = random.Cube(3), omega = random.Cube(20);
    const MassProperties& mass = model->bodies[b].mass;
    const Vec3 centre = motion.Apply(mass.center_of_mass);
    const State start = InitialState(*model);
    const State state = testing::MovedRigidly(*model, b, motion, velocity, omega, centre);
    const Energies before = EnergiesOf(model, start), after = EnergiesOf(model, state);
    const Mat3 r = motion.rotation.toRotationMatrix();
    const double kinetic = 0.5 * mass.mass * velocity.squaredNorm() + 0.5 * omega.dot(r * mass.inertia * r.transpose() * omega);
    EXPECT_NEAR(after.kinetic_j, kinetic, 1e-10 * kinetic) << b;
    EXPECT_NEAR(after.gravity_j - before.gravity_j, 9.81 * mass.mass * (centre.z() - mass.center_of_mass.z()), 1e-10) << b;
    EXPECT_LT(std::abs(before.elastic_j), 1e-15);
    EXPECT_LT(std::abs(after.elastic_j), 1e-12) << b;
    EXPECT_EQ(before.barrier_j, 0);
  }
}

TEST(Energies, GravityIsMeasuredFromTheOrigin) {
  SceneSpec scene = testing::EmptyScene();
  scene.gravity = Vec3(1, -2, -9.81);
  scene.bodies = {testing::EmbeddedBox("box", Vec3(0.1, 0.1, 0.1), {1, 1, 1}, testing::SoftMaterial(1000, 1e5, 0.3))};
  scene.bodies[0].pose.position = Vec3(3, 4, 5);
  const auto model = testing::Compile(scene);
  EXPECT_NEAR(EnergiesOf(model, InitialState(*model)).gravity_j, -1.0 * (3 - 8 - 9.81 * 5), 1e-10);
}

// A uniform stretch of an elastic body: V (mu |e|^2 + lambda/2 tr(e)^2) of linear corotated elasticity.
TEST(Energies, OfAStretchedBodyAreItsMaterials) {
  for (bool embedded : {false, true}) {
    const MaterialSpec material = testing::SoftMaterial(1000, 1e5, 0.25);
    SceneSpec scene = testing::EmptyScene();
    const Vec3 size(0.1, 0.2, 0.1);
    scene.bodies = {embedded ? testing::EmbeddedBox("box", size, {2, 2, 2}, material)
                             : testing::FullSpaceBox("box", size, {2, 2, 2}, material)};
    const auto model = testing::Compile(scene);
    State state = InitialState(*model);
    for (Eigen::Index i = 0; i < state.q.size(); i += 3) state.q[i] *= 1.02;
    const double mu = 1e5 / 2.5, lambda = 1e5 * 0.25 / (1.25 * 0.5);
    const double expected = 0.002 * (mu * 4e-4 + 0.5 * lambda * 4e-4);
    EXPECT_NEAR(EnergiesOf(model, state).elastic_j / expected, 1, embedded ? 2e-2 : 1e-10) << "cage corners keep a little more";
  }
}

TEST(Energies, TheBarrierIsTheSumOverContacts) {
  SceneSpec scene = testing::EmptyScene();
  scene.contact.form = BarrierForm::kPerPair;
  scene.contact.stiffness = 2e4;
  scene.bodies = {testing::AffineBox("box", Vec3(0.1, 0.1, 0.1), testing::StiffMaterial(1000, 1e7)),
                  testing::StaticSheet("floor", 0.3)};
  scene.bodies[0].pose.position = Vec3(0.15, -0.1, 0.0504);  // clear of the diagonal of the floor's two triangles
  scene.bodies[1].pose.rotation = Quat(Eigen::AngleAxisd(0.4, Vec3::UnitZ()));
  const auto model = testing::Compile(scene);
  const State state = InitialState(*model);
  const Energies e = EnergiesOf(model, state);
  EXPECT_GT(e.barrier_j, 0);
  // By what the contact forces of a step that hardly moves say: the same stencils.
  World world(model);
  ASSERT_TRUE(world.Step({1e-7, {}}, {}).ok());
  double sum = 0;
  for (const ContactForce& c : world.contact_forces().stencils) {
    if (c.kind == ContactKind::kPointTriangle) sum += 2e4 * Barrier(c.distance_m, 1e-3);
  }
  EXPECT_GE(world.contact_forces().point_triangle_count, 4);
  EXPECT_EQ(world.contact_forces().edge_edge_count, 0) << "no edge of the floor is near: nothing but corners over triangles";
  EXPECT_NEAR(e.barrier_j / sum, 1, 1e-4);
}

// The contacts that a world's last step has left are those that a search of its state finds.
TEST(Energies, OfAWorldAreThoseOfItsState) {
  for (const IntegratorKind kind :
       {IntegratorKind::kBackwardEuler, IntegratorKind::kBdf2, IntegratorKind::kImplicitMidpoint, IntegratorKind::kTrBdf2}) {
    SceneSpec scene = testing::EmptyScene();
    scene.gravity = Vec3(0, 0, -9.81);
    scene.dynamics.integrator = kind;
    scene.bodies = {testing::EmbeddedBox("box", Vec3(0.1, 0.1, 0.1), {1, 1, 1}, testing::SoftMaterial(1000, 1e5, 0.3)),
                    testing::StaticSheet("floor", 0.3)};
    scene.bodies[0].pose.position = Vec3(0.15, -0.1, 0.0504);
    const auto model = testing::Compile(scene);
    World world(model);
    std::vector<Vec3> x;
    int touching = 0;
    for (int step = 0; step < 8; ++step) {
      ASSERT_TRUE(world.Step({0.01, {}}, {}).ok());
      world.SurfacePositions(&x);
      const Energies searched = ComputeEnergies(*model, world.state(), x), known = ComputeEnergies(world, x);
      touching += searched.barrier_j > 0;
      EXPECT_NEAR(known.barrier_j, searched.barrier_j, 1e-9 * searched.barrier_j)
          << "integrator " << static_cast<int>(kind) << ", step " << step;
      EXPECT_EQ(known.kinetic_j, searched.kinetic_j);
    }
    EXPECT_GE(touching, 4) << "integrator " << static_cast<int>(kind);
    ASSERT_TRUE(world.Restore(InitialState(*model)).ok());
    world.SurfacePositions(&x);
    EXPECT_EQ(ComputeEnergies(world, x).barrier_j, ComputeEnergies(*model, world.state(), x).barrier_j)
        << "nothing of the last step";
  }
}

}  // namespace
}  // namespace eipc
