// Sheets against closed forms: patch, balloon, heavy strip, tip load, frequency. ./dev validate shells has the finer meshes.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "sim/energy/membrane.h"
#include "sim/sensor/enclosed_volumes.h"
#include "sim/sensor/energies.h"
#include "tests/support/scenes.h"

namespace eipc {
namespace {

constexpr double kGravity = 9.81;

// [0, length] x [0, width]: right grid of nx x ny cells, or rows of equilateral triangles along x (nx across the length).
MeshData Strip(double length, double width, int nx, int ny, bool equilateral) {
  MeshData mesh;
  for (int j = 0; j <= ny; ++j) {
    for (int i = 0; i <= nx; ++i) {
      double x = length * i / nx;
      if (equilateral && j % 2 == 1 && i > 0 && i < nx) x -= 0.5 * length / nx;
      mesh.vertices.push_back({x, width * j / ny, 0});
    }
    if (equilateral && j % 2 == 1) mesh.vertices.push_back({length - 0.5 * length / nx, width * j / ny, 0});
  }
  const auto row = [&](int j) { return equilateral ? j * (nx + 1) + j / 2 : j * (nx + 1); };
  for (int j = 0; j < ny; ++j) {
    for (int i = 0; i < nx; ++i) {
      const int32_t a = row(j) + i, b = row(j + 1) + i;
      mesh.triangles.push_back({a, a + 1, b + 1});
      mesh.triangles.push_back({a, b + 1, b});
    }
  }
  return mesh;
}

struct StripCase {
  double length = 0.1, width = 0.02;
  double bending = 1e-5;     // N m
  double mass_per_area = 0;  // kg/m^2
  double stretching = 2000;  // E t, N/m
  int cells = 40, across = 8;
};

BodySpec MakeStrip(const StripCase& c) {
  BodySpec body;
  body.name = "strip";
  body.kind = BodyKind::kShell;
  body.mesh = Strip(c.length * (c.cells + 1) / c.cells, c.width, c.cells + 1, c.across, false);
  for (Vec3& p : body.mesh.vertices) p.x() -= c.length / c.cells;
  body.shell.thickness_m = 1e-4;
  body.shell.mass_per_area_kg_m2 = c.mass_per_area;
  body.shell.membrane_youngs_n_m = c.stretching;
  body.shell.bending_stiffness_nm = c.bending;
  BoundarySetSpec clamp;
  clamp.name = "clamp";
  clamp.box = SelectionBox{Vec3(-1, -1, -1), Vec3(1e-9, 1, 1)};
  body.boundary_sets = {clamp};
  return body;
}

SceneSpec Scene(const BodySpec& body) {
  SceneSpec scene = testing::EmptyScene();
  scene.self_contact = false;
  scene.solver.newton_tolerance_m_s = 1e-7;
  scene.bodies = {body};
  return scene;
}

// Mean of the nodes at the far end.
Vec3 Tip(const World& world, const BodySpec& body) {
  double far = 0;
  for (const Vec3& p : body.mesh.vertices) far = std::max(far, p.x());
  Vec3 sum = Vec3::Zero();
  int count = 0;
  for (size_t v = 0; v < body.mesh.vertices.size(); ++v) {
    if (body.mesh.vertices[v].x() < far - 1e-9) continue;
    sum += world.state().q.segment<3>(3 * static_cast<Eigen::Index>(v));
    ++count;
  }
  return sum / count;
}

// Large steps of backward Euler until nothing moves.
void Rest(World* world) {
  for (int i = 0; i < 60; ++i) ASSERT_TRUE(world->Step({0.5, {}}, {}).ok());
  EXPECT_LT(world->state().v.cwiseAbs().maxCoeff(), 1e-5);
}

// Drop over length of a heavy elastica clamped level, Gamma = w L^3 / D.
TEST(ShellStrip, SagsLikeAHeavyElastica) {
  const std::pair<double, double> known[] = {{1, 0.1235}, {5, 0.4959}, {10, 0.7002}, {50, 0.9079}};
  for (const auto& [gamma, drop] : known) {
    StripCase c;
    c.across = 2;
    c.width = 0.005;
    c.mass_per_area = gamma * c.bending / (kGravity * std::pow(c.length, 3));
    const BodySpec body = MakeStrip(c);
    SceneSpec scene = Scene(body);
    scene.gravity = Vec3(0, 0, -kGravity);
    World world(testing::Compile(scene));
    Rest(&world);
    const Vec3 tip = Tip(world, body) / c.length;
    std::printf("gamma %g: drop %.4f (%.4f), reach %.4f\n", gamma, -tip.z(), drop, tip.x());
    EXPECT_NEAR(-tip.z() / drop, 1, 0.01) << gamma;
    if (gamma == 10) {
      EXPECT_NEAR(tip.x() / 0.6564, 1, 0.01);
    }
  }
}

// P L^2 / (D b) against the deflection over L of an elastica with a load at its tip.
TEST(ShellStrip, BendsUnderATipLoadLikeAnElastica) {
  const std::pair<double, double> known[] = {{1, 0.3017}, {5, 0.7138}};
  for (const auto& [load, deflection] : known) {
    StripCase c;
    c.across = 2;
    c.width = 0.005;
    // A row of a second mass at the end would do; gravity on the last cells of a strip without mass elsewhere does too: half a
    // cell.
    c.mass_per_area = 1e-6;
    BodySpec body = MakeStrip(c);
    SceneSpec scene = Scene(body);
    const double force = load * c.bending * c.width / (c.length * c.length);
    // The load as a spring of great length that is pulled by a fixed amount.
    JointSpec pull;
    scene.gravity.setZero();
    constexpr double kFar = 1e4;
    for (int j = 0; j <= c.across; ++j) {
      const double share = j == 0 || j == c.across ? 0.5 / c.across : 1.0 / c.across;
      JointSpec& spring = scene.joints.emplace_back();
      spring.name = "pull" + std::to_string(j);
      spring.kind = JointKind::kSpring;
      spring.body_a = "strip";
      spring.point = Vec3(c.length, c.width * j / c.across, 0);
      spring.point_b = Vec3(c.length, c.width * j / c.across, -kFar);
      spring.law.stiffness = share * force / kFar;
      spring.rest_length_m = 0;
    }
    World world(testing::Compile(scene));
    Rest(&world);
    const Vec3 tip = Tip(world, body) / c.length;
    std::printf("load %g: deflection %.4f (%.4f)\n", load, -tip.z(), deflection);
    EXPECT_NEAR(-tip.z() / deflection, 1, 0.01) << load;
  }
}

// f = 0.5596 sqrt(D / (m L^4)) of a cantilever.
TEST(ShellStrip, SwingsAtTheFrequencyOfACantilever) {
  StripCase c;
  c.across = 2;
  c.width = 0.005;
  c.mass_per_area = 0.1;
  BodySpec body = MakeStrip(c);
  SceneSpec scene = Scene(body);
  scene.gravity = Vec3(0, 0, -1e-3);  // a small sag, then without it
  scene.dynamics.integrator = IntegratorKind::kTrapezoidal;
  const double frequency = 0.5596 * std::sqrt(c.bending / (c.mass_per_area * std::pow(c.length, 4)));
  // Released from rest under gravity it swings about the sag.
  World world(testing::Compile(scene));
  const double dt = 1 / frequency / 200, sag = 1e-3 * c.mass_per_area * std::pow(c.length, 4) / (8 * c.bending);
  std::vector<double> crossings;
  double before = sag;
  for (int i = 0; i < 500; ++i) {
    ASSERT_TRUE(world.Step({dt, {}}, {}).ok());
    const double now = Tip(world, body).z() + sag;
    if ((before < 0) != (now < 0)) crossings.push_back(world.state().time_s - dt * now / (now - before));
    before = now;
  }
  ASSERT_GE(crossings.size(), 4u);
  const double measured = 1 / (crossings[3] - crossings[1]);
  std::printf("frequency %.5f Hz (%.5f)\n", measured, frequency);
  EXPECT_NEAR(measured / frequency, 1, 0.02);
}

// Uniaxial tension: force E t per width and strain, contraction nu.
TEST(ShellPatch, StretchesByYoungsModulusAndPoissonsRatio) {
  constexpr double kStrain = 1e-3, kNu = 0.3, kYoungs = 1000;
  for (const bool equilateral : {false, true}) {
    BodySpec body;
    body.name = "patch";
    body.kind = BodyKind::kShell;
    body.mesh = Strip(0.2, 0.1, 8, 4, equilateral);
    body.material.poissons_ratio = kNu;
    body.shell.thickness_m = 1e-3;
    body.shell.mass_per_area_kg_m2 = 0.1;
    body.shell.membrane_youngs_n_m = kYoungs;
    body.shell.bending_stiffness_nm = 1e-5;
    const auto model = testing::Compile(Scene(body));
    VecX q(3 * model->node_count);
    for (int32_t i = 0; i < model->node_count; ++i) {
      q.segment<3>(3 * i) = model->initial_positions[i].cwiseProduct(Vec3(1 + kStrain, 1 - kNu * kStrain, 1));
    }
    const double energy = MembraneTerm::StoredEnergy(model->shells[0], q);
    EXPECT_NEAR(energy / (0.5 * kYoungs * kStrain * kStrain * 0.02), 1, 0.005);
  }
}

// p = [2 mu (l - 1/l) + 4 lambda ln l / l] / (R l^2) of a sphere of radius R blown up l times.
TEST(ShellBalloon, HasTheOverpressureOfASphere) {
  constexpr double kRadius = 0.1, kYoungs = 1000, kNu = 0.3;
  BodySpec body;
  body.name = "balloon";
  body.kind = BodyKind::kShell;
  body.mesh = testing::BoxSurfaceGrid(Vec3::Constant(-1), Vec3::Constant(1), {8, 8, 8});
  for (Vec3& p : body.mesh.vertices) p = kRadius * p.normalized();
  body.material.poissons_ratio = kNu;
  body.shell.thickness_m = 1e-3;
  body.shell.mass_per_area_kg_m2 = 0.1;
  body.shell.membrane_youngs_n_m = kYoungs;
  body.shell.bending_stiffness_nm = 0;
  const double pressures[] = {2158, 3991}, stretches[] = {1.1, 1.3};
  for (int k = 0; k < 2; ++k) {
    EnclosedVolumeSpec filling;
    filling.filling.law = VolumeLaw::kNearlyIncompressible;
    filling.filling.compressibility_per_pa = 1e-3;
    // The pressure at which the balloon would rest: overpressure at rest volume less what the growth takes.
    filling.filling.overpressure_pa = pressures[k] + 3 * std::log(stretches[k]) / 1e-3;
    body.enclosed_volumes = {filling};
    World world(testing::Compile(Scene(body)));
    Rest(&world);
    std::vector<Vec3> x;
    world.SurfacePositions(&x);
    double radius = 0;
    for (const Vec3& p : x) radius += p.norm() / static_cast<double>(x.size());
    const VolumeReading reading = EnclosedVolumes(world.model(), x)[0];
    // At the stretch that was found.
    const double l = radius / kRadius, mu = kYoungs / (2 * (1 + kNu)), lambda = kYoungs * kNu / (1 - kNu * kNu);
    const double expected = (2 * mu * (l - 1 / l) + 4 * lambda * std::log(l) / l) / (kRadius * l * l);
    std::printf("stretch %.4f: overpressure %.1f Pa (%.1f)\n", l, reading.overpressure_pa, expected);
    EXPECT_GT(l, 1.05);
    EXPECT_NEAR(reading.overpressure_pa / expected, 1, 0.02);
  }
}

// What a free sheet that turns changes of its momenta in 0.02 s.
struct Change {
  double linear, angular;  // relative
};

Change ChangeOfMomenta(IntegratorKind integrator, double dt, double damping_s) {
  BodySpec body;
  body.name = "sheet";
  body.kind = BodyKind::kShell;
  body.mesh = testing::Sheet(0.05, 0, 6);
  for (Vec3& p : body.mesh.vertices) p.z() = 5 * p.x() * p.y();  // a saddle, at rest
  body.material = {.density_kg_m3 = 300, .youngs_modulus_pa = 1e6, .poissons_ratio = 0.3, .rayleigh_beta_s = damping_s};
  body.shell.thickness_m = 5e-4;
  body.angular_velocity = Vec3(3, -2, 5);
  body.linear_velocity = Vec3(0.2, 0.1, 0);
  SceneSpec scene = Scene(body);
  scene.dynamics.integrator = integrator;
  World world(testing::Compile(scene));
  const Vec3 linear = testing::LinearMomentum(world.model(), world.state(), 0);
  const Vec3 angular = testing::AngularMomentum(world.model(), world.state(), 0);
  EXPECT_EQ(testing::RunSteps(&world, static_cast<int>(std::lround(0.02 / dt)), dt), 0);
  return {(testing::LinearMomentum(world.model(), world.state(), 0) - linear).norm() / linear.norm(),
          (testing::AngularMomentum(world.model(), world.state(), 0) - angular).norm() / angular.norm()};
}

// Linear momentum is kept by every step. Angular momentum is kept to the order of the scheme, without Rayleigh damping: that
// resists the rotation of a sheet which is under stress.
TEST(ShellMotion, KeepsMomenta) {
  EXPECT_LT(ChangeOfMomenta(IntegratorKind::kBackwardEuler, 2e-4, 1e-3).linear, 1e-6);
  EXPECT_LT(ChangeOfMomenta(IntegratorKind::kTrBdf2, 2e-4, 1e-3).linear, 1e-6);
  struct Case {
    IntegratorKind integrator;
    double order;
  };
  for (const Case& scheme : {Case{IntegratorKind::kBackwardEuler, 1}, Case{IntegratorKind::kTrBdf2, 2}}) {
    const Change coarse = ChangeOfMomenta(scheme.integrator, 4e-4, 0), fine = ChangeOfMomenta(scheme.integrator, 2e-4, 0);
    std::printf("angular momentum off by %.2e, %.2e at half the step\n", coarse.angular, fine.angular);
    EXPECT_GT(std::log2(coarse.angular / fine.angular), scheme.order - 0.25);
  }
}

// Its clamp moves by three edges a step, three hundred times what the strain limit leaves: the strip follows, and every step is
// solved.
TEST(ShellStrip, FollowsAClampThatMovesFartherThanItsStrainLimitAdmits) {
  StripCase c;
  c.cells = 20;
  c.across = 4;
  c.mass_per_area = 0.2;
  c.stretching = 30;
  c.bending = 1e-7;
  BodySpec body = MakeStrip(c);
  body.shell.strain_limit = 1.06;
  body.material.rayleigh_beta_s = 0.002;
  constexpr double kSeconds = 0.4, kPath = 0.3;
  Trajectory& motion = body.boundary_sets[0].trajectory;
  motion.interpolation = Interpolation::kLinear;
  for (const double t : {0.0, kSeconds}) motion.keys.push_back({t, {Vec3(-kPath * t / kSeconds, 0, 0), Quat::Identity()}});
  SceneSpec scene = Scene(body);
  scene.gravity = Vec3(0, 0, -kGravity);
  scene.solver.newton_tolerance_m_s = 1e-4;
  const auto model = testing::Compile(scene);
  World world(model);
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(world.Step({kSeconds / 20, {}}, {}).ok());
    EXPECT_EQ(world.report().outcome, StepOutcome::kConverged) << i;
    double largest = 0;
    for (size_t t = 0; t < model->shells[0].triangles.size(); ++t) {
      largest = std::max(largest, Stretches(MembraneGradient(model->shells[0], t, world.state().q)).s[0]);
    }
    EXPECT_LT(largest, 1.06);
  }
  EXPECT_NEAR(world.state().q[0], body.mesh.vertices[0].x() - kPath, 1e-9);  // the clamp arrived
}

}  // namespace
}  // namespace eipc
