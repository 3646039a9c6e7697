// Bodies filled with gas or water, in motion: gas springs, equilibria, momenta, contact forces.

#include <gtest/gtest.h>

#include <cmath>

#include "sim/sensor/contact_wrenches.h"
#include "sim/sensor/enclosed_volumes.h"
#include "sim/sensor/energies.h"
#include "tests/support/scenes.h"

namespace eipc {
namespace {

constexpr double kSide = 0.1, kDensity = 500, kAtmosphere = 101325;

BodySpec Filled(BodySpec body, const Filling& filling) {
  body.enclosed_volumes = {{false, std::nullopt, filling}};
  return body;
}

VolumeReading Reading(const World& world) {
  std::vector<Vec3> x;
  world.SurfacePositions(&x);
  const std::vector<VolumeReading> readings = EnclosedVolumes(world.model(), x);
  EXPECT_EQ(readings.size(), 1u);
  return readings.at(0);
}

// A cube that can only deform affinely, s its dilation: energy V0 (3 mu + 9/2 lambda) s^2 + W(V0 (1 + s)^3), mass of the mode
// rho V0 a^2 / 4: omega^2 = (12 (2 mu + 3 lambda) + 36 P) / (rho a^2) for gas at pressure P.
TEST(EnclosedVolume, GasIsASpring) {
  const double youngs = 2e4, poissons = 0.25;
  const double mu = youngs / (2 * (1 + poissons)), lambda = 2 * mu * poissons / (1 - 2 * poissons);
  const double omega = std::sqrt((12 * (2 * mu + 3 * lambda) + 36 * kAtmosphere) / (kDensity * kSide * kSide));
  SceneSpec scene = testing::EmptyScene();
  scene.dynamics.integrator = IntegratorKind::kImplicitMidpoint;
  scene.solver.newton_tolerance_m_s = 1e-10;
  scene.bodies = {Filled(testing::AffineBox("cube", Vec3::Constant(kSide), testing::SoftMaterial(kDensity, youngs, poissons)), {})};
  World world(testing::Compile(scene));
  State start = world.state();
  const VecX rest = start.q;
  const double amplitude = 1e-5;
  start.q *= 1 + amplitude;
  ASSERT_TRUE(world.Restore(start).ok());
  const int steps = 200;
  testing::RunSteps(&world, steps, 2 * M_PI / omega / steps);
  EXPECT_LT((world.state().q - start.q).norm(), 2e-3 * amplitude * rest.norm()) << "back after one period";
  testing::RunSteps(&world, steps / 2, 2 * M_PI / omega / steps);
  EXPECT_LT((world.state().q - (1 - amplitude) * rest).norm(), 3e-3 * amplitude * rest.norm()) << "on the other side after half";
}

// Overpressure inflates until elasticity bears it: 3 K s = p (1 + s)^2 with V = V0 (1 + s)^3, at an overpressure that has fallen by
// Boyle's law.
TEST(EnclosedVolume, OverpressureInflatesUntilElasticityBearsIt) {
  const double youngs = 1e5, poissons = 0.3;
  for (const double over : {2e4, 8e4, -3e4}) {
    SceneSpec scene = testing::EmptyScene();
    Filling gas;
    gas.overpressure_pa = over;
    scene.bodies = {Filled(
        testing::FullSpaceBox("box", Vec3::Constant(kSide), {2, 2, 2}, testing::SoftMaterial(kDensity, youngs, poissons)), gas)};
    scene.start_in_equilibrium = true;
    World world(testing::Compile(scene));
    const VolumeReading reading = Reading(world);
    const double rest = kSide * kSide * kSide;
    EXPECT_NEAR((reading.overpressure_pa + kAtmosphere) * reading.volume_m3 / ((over + kAtmosphere) * rest), 1, 1e-9);
    const double s = std::cbrt(reading.volume_m3 / rest) - 1;
    const double bulk3 = youngs / (1 - 2 * poissons);
    EXPECT_NEAR(bulk3 * s / (reading.overpressure_pa * (1 + s) * (1 + s)), 1, 1e-6) << over;
  }
}

// Pressure far above the stiffness of the walls: the exact Hessian is indefinite at some iterates; the solve converges anyhow.
TEST(EnclosedVolume, AFeebleBalloonFindsItsEquilibrium) {
  SceneSpec scene = testing::EmptyScene();
  Filling gas;
  gas.overpressure_pa = kAtmosphere;
  scene.bodies = {
      Filled(testing::FullSpaceBox("box", Vec3::Constant(kSide), {3, 3, 3}, testing::SoftMaterial(kDensity, 300, 0.3)), gas)};
  const auto model = testing::Compile(scene);
  World world(model);
  EXPECT_EQ(testing::RunSteps(&world, 30, 0.02), 0);
  EXPECT_TRUE(testing::IsIntersectionFree(world));
  EXPECT_NEAR(Reading(world).volume_m3 / (2 * kSide * kSide * kSide), 1, 0.02) << "all but all of the overpressure is gone";
}

// Pressure is internal: a body that bursts into motion keeps the momentum and angular momentum that it has.
TEST(EnclosedVolume, KeepsMomenta) {
  SceneSpec scene = testing::EmptyScene();
  scene.dynamics.integrator = IntegratorKind::kImplicitMidpoint;
  scene.solver.newton_tolerance_m_s = 1e-9;
  Filling gas;
  gas.overpressure_pa = 2e4;
  const MaterialSpec soft = testing::SoftMaterial(kDensity, 1e5, 0.3, &StableNeoHookean::kDescriptor);
  scene.bodies = {Filled(testing::FullSpaceBox("box", Vec3(0.1, 0.07, 0.12), {2, 1, 2}, soft), gas)};
  scene.bodies[0].angular_velocity = Vec3(3, -1, 2);
  scene.bodies[0].linear_velocity = Vec3(0.1, 0.2, -0.1);
  const auto model = testing::Compile(scene);
  World world(model);
  const Vec3 linear = testing::LinearMomentum(*model, world.state(), 0);
  const Vec3 angular = testing::AngularMomentum(*model, world.state(), 0);
  EXPECT_EQ(testing::RunSteps(&world, 50, 2e-3), 0);
  EXPECT_LT((testing::LinearMomentum(*model, world.state(), 0) - linear).norm(), 1e-11 * linear.norm());
  EXPECT_LT((testing::AngularMomentum(*model, world.state(), 0) - angular).norm(), 1e-7 * angular.norm());
  EXPECT_NE(Reading(world).overpressure_pa, gas.overpressure_pa);
}

// A pad of thin gas squeezed slowly between two plates: what the plate has done in work is what walls, gas and barrier store, and
// the gas obeys Boyle's law.
TEST(EnclosedVolume, TheWorkOfASqueezeIsStored) {
  SceneSpec scene = testing::EmptyScene();
  const double height = 0.02, depth = 4e-3;
  Filling gas;
  gas.ambient_pressure_pa = 2e3;  // as stiff as the walls
  const MaterialSpec soft = testing::SoftMaterial(kDensity, 2e3, 0.0, &StableNeoHookean::kDescriptor);
  scene.bodies = {Filled(testing::FullSpaceBox("pad", Vec3(kSide, kSide, height), {4, 4, 1}, soft), gas),
                  testing::StaticBox("floor", Vec3(0.3, 0.3, 0.02)), testing::KinematicBox("plate", Vec3(0.3, 0.3, 0.02))};
  const double far = 0.5 * height + 0.01 + 1e-3;
  scene.bodies[1].pose.position = Vec3(0.003, 0.001, -far);
  scene.bodies[2].pose.position = Vec3(0.002, 0.004, far);
  Pose down = scene.bodies[2].pose;
  down.position.z() -= depth;
  const int steps = 60;
  const double step = 0.1;
  scene.bodies[2].trajectory.keys = {{0, scene.bodies[2].pose}, {steps * step, down}};
  const auto model = testing::Compile(scene);
  World world(model);
  double work = 0, before = 0;
  std::vector<Vec3> x;
  for (int n = 0; n < steps; ++n) {
    testing::RunSteps(&world, 1, step);
    world.SurfacePositions(&x);
    double force = 0;
    for (const ContactWrench& w : ContactWrenches(*model, world.state(), x, world.contact_forces())) {
      if (w.body == 2 && w.other == 0) force = w.normal_force.z();
    }
    work += 0.5 * (force + before) * depth / steps;
    before = force;
  }
  const VolumeReading reading = Reading(world);
  EXPECT_GT(reading.overpressure_pa, 100);
  EXPECT_NEAR((reading.overpressure_pa + 2e3) * reading.volume_m3 / (2e3 * kSide * kSide * height), 1, 1e-9);
  const Energies e = ComputeEnergies(*model, world.state(), x);
  EXPECT_GT(e.volume_j, 0.1 * e.elastic_j);
  EXPECT_NEAR(work / (e.elastic_j + e.volume_j + e.barrier_j), 1, 0.02);
}

// Nothing of a filling is carried from one step to the next but the positions.
TEST(EnclosedVolume, RepeatsItsBits) {
  SceneSpec scene = testing::EmptyScene();
  Filling gas;
  gas.overpressure_pa = 2e4;
  scene.bodies = {
      Filled(testing::FullSpaceBox("a", Vec3::Constant(kSide), {2, 2, 2}, testing::SoftMaterial(kDensity, 1e5, 0.3)), gas),
      Filled(testing::EmbeddedBox("b", Vec3::Constant(kSide), {2, 2, 2}, testing::SoftMaterial(kDensity, 1e5, 0.3)), gas)};
  scene.bodies[1].pose.position = Vec3(0.3, 0, 0);
  const auto model = testing::Compile(scene);
  World world(model), other(model, 2);
  testing::RunSteps(&world, 3, 0.01);
  testing::RunSteps(&other, 1, 0.003);
  ASSERT_TRUE(other.Restore(world.state()).ok());
  testing::RunSteps(&world, 3, 0.01);
  testing::RunSteps(&other, 3, 0.01);
  EXPECT_EQ(world.state().Digest(), other.state().Digest());
}

}  // namespace
}  // namespace eipc
