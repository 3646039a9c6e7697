// Every integrator against closed forms: free fall, its own stability function, momenta, order of convergence, end points that are
// blocked, driven nodes.

#include "sim/dynamics/integrators.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <tuple>

#include "sim/sensor/energies.h"
#include "tests/support/dense_ode.h"
#include "tests/support/scenes.h"

namespace eipc {
namespace {

struct Method {
  IntegratorKind kind;
  const char* name;
  int order;
  double alpha = 0.5;  // of the variational one

  Scheme scheme() const { return MakeScheme(kind, alpha); }
  bool is_explicit() const { return scheme().solves() == 0; }
  bool keeps_angular_momentum() const {
    return kind == IntegratorKind::kImplicitMidpoint || kind == IntegratorKind::kVariational || kind == IntegratorKind::kVerlet;
  }
};

constexpr Method kMethods[] = {
    {IntegratorKind::kBackwardEuler, "BE", 1},
    {IntegratorKind::kTrapezoidal, "TR", 2},
    {IntegratorKind::kBdf2, "BDF2", 2},
    {IntegratorKind::kTrBdf2, "TR-BDF2", 2},
    {IntegratorKind::kSdirk2, "SDIRK2", 2},
    {IntegratorKind::kImplicitMidpoint, "MID", 2},
    {IntegratorKind::kTrapezoidalUnsplitContact, "UNSPLIT", 2},  // of first order where there is contact
    {IntegratorKind::kVariational, "HP 1/2", 2},
    {IntegratorKind::kVariational, "HP 0", 1, 0},
    {IntegratorKind::kVariational, "HP 0.3", 1, 0.3},
    {IntegratorKind::kVariational, "HP 1", 1, 1},
    {IntegratorKind::kVerlet, "VERLET", 2},
    {IntegratorKind::kRungeKutta4, "RK4", 4},
};

// The battery below has every integrator that serves scenes, and no other.
TEST(Integrators, AreAllInTheBattery) {
  std::set<absl::string_view> served, tested;
  for (const Scheme& row : Integrators()) served.insert(row.name);
  for (const Method& method : kMethods) tested.insert(method.scheme().name);
  EXPECT_EQ(tested, served);
}

constexpr double kSide = 0.1, kYoungs = 1e5, kPoissons = 0.3, kDensity = 1000;

// A cube that can only deform affinely, of linear corotated material: its dilation s(t) is an exact harmonic oscillator. Energy
// V (3 mu + 9/2 lambda) s^2, mass rho V a^2 / 4.
double DilationFrequency() {
  const double mu = kYoungs / (2 * (1 + kPoissons)), lambda = 2 * mu * kPoissons / (1 - 2 * kPoissons);
  return std::sqrt(12 * (2 * mu + 3 * lambda) / (kDensity * kSide * kSide));
}

// The same table moves the scene and the equation s'' = -omega^2 s, which schemes_test.cc holds against closed forms.
TEST(Integrators, SwingAsTheOscillatorThatTheSameTableMoves) {
  const double omega = DilationFrequency();
  const testing::DenseProblem oscillator = testing::Oscillator(omega);
  for (const Method& method : kMethods) {
    const Scheme scheme = method.scheme();
    for (const double angle : {0.05, 0.5, 1.8, 10.0}) {
      SceneSpec scene = testing::EmptyScene();
      scene.dynamics.integrator = method.kind;
      scene.dynamics.variational_alpha = method.alpha;
      scene.bodies = {testing::AffineBox("cube", Vec3::Constant(kSide), testing::SoftMaterial(kDensity, kYoungs, kPoissons))};
      World world(testing::Compile(scene));
      const VecX rest = world.state().q;
      State start = world.state();
      start.q = 1.01 * rest;
      ASSERT_TRUE(world.Restore(start).ok());
      testing::DenseRun dense(&oscillator, scheme, VecX::Constant(1, 0.01), VecX::Zero(1));
      for (int n = 1; n <= 12; ++n) {
        testing::RunSteps(&world, 1, angle / omega);
        if (scheme.stable_angle > 0 && angle * angle > 0.9 * scheme.stable_angle * scheme.stable_angle) {
          EXPECT_GT(world.report().structure_breaks.unstable, 0) << method.name << angle;
          break;
        }
        EXPECT_EQ(world.report().substeps, 1) << method.name << angle;
        dense.Step(angle / omega);
        const VecX q = (1 + dense.q()[0]) * rest, v = dense.v()[0] * rest;
        ASSERT_LT((world.state().q - q).norm(), 1e-10 * rest.norm()) << method.name << " at h omega = " << angle << ", step " << n;
        ASSERT_LT((world.state().v - v).norm(), 1e-9 * omega * rest.norm()) << method.name << " at h omega = " << angle;
      }
    }
  }
}

// A parabola is exact for every second-order method (BDF2 from its second step on: the error of the first one stays).
TEST(Integrators, FallAsTheirRecurrencesSay) {
  constexpr double kStep = 0.02, kGravity = 9.81, kSpeed = 0.7;
  for (const Method& method : kMethods) {
    SceneSpec scene = testing::EmptyScene();
    scene.gravity = Vec3(0, 0, -kGravity);
    scene.dynamics.integrator = method.kind;
    scene.dynamics.variational_alpha = method.alpha;
    const double youngs = method.scheme().stable_angle > 0 ? 100.0 : 1e5;  // within the limit of stability
    scene.bodies = {testing::FullSpaceBox("box", Vec3::Constant(0.1), {2, 2, 2}, testing::SoftMaterial(1000, youngs, 0.3))};
    scene.bodies[0].linear_velocity = Vec3(kSpeed, 0, 0);
    World world(testing::Compile(scene));
    const VecX start = world.state().q;
    double z[2] = {0, 0}, v[2] = {0, 0};  // now, before
    for (int n = 1; n <= 20; ++n) {
      testing::RunSteps(&world, 1, kStep);
      double now_z = -0.5 * kGravity * kStep * kStep * n * n, now_v = -kGravity * kStep * n;
      if (method.kind == IntegratorKind::kVariational) {
        now_z = -kGravity * kStep * kStep * n * (0.5 * (n - 1) + 1 - method.alpha);
      }
      if (method.kind == IntegratorKind::kBackwardEuler) now_z = -0.5 * kGravity * kStep * kStep * n * (n + 1);
      if (method.kind == IntegratorKind::kBdf2) {
        const bool first = n == 1;
        now_v = first ? -kGravity * kStep : (4 * v[0] - v[1]) / 3 - 2.0 / 3 * kStep * kGravity;
        now_z = first ? kStep * now_v : (4 * z[0] - z[1]) / 3 + 2.0 / 3 * kStep * now_v;
      }
      v[1] = v[0], v[0] = now_v, z[1] = z[0], z[0] = now_z;
      const Vec3 moved = world.state().q.head<3>() - start.head<3>(), speed = world.state().v.head<3>();
      ASSERT_LT((moved - Vec3(kSpeed * kStep * n, 0, now_z)).norm(), 1e-9) << method.name << n;
      ASSERT_LT((speed - Vec3(kSpeed, 0, now_v)).norm(), 1e-8) << method.name << n;
    }
  }
}

SceneSpec WobblingBody(IntegratorKind kind, double alpha = 0.5) {
  SceneSpec scene = testing::EmptyScene();
  scene.dynamics.integrator = kind;
  scene.dynamics.variational_alpha = alpha;
  scene.self_contact = false;
  scene.solver.newton_tolerance_m_s = 1e-9;
  const MaterialSpec material = testing::SoftMaterial(1000, 2e4, 0.3, &StableNeoHookean::kDescriptor);
  scene.bodies = {testing::FullSpaceBox("box", Vec3(0.1, 0.1, 0.15), {1, 1, 2}, material)};
  scene.bodies[0].angular_velocity = Vec3(1, 2, 6);
  scene.bodies[0].linear_velocity = Vec3(0.3, 0.1, -0.2);
  return scene;
}

VecX PositionsAt(const SceneSpec& scene, double time_s, int steps) {
  World world(testing::Compile(scene));
  EXPECT_EQ(testing::RunSteps(&world, steps, time_s / steps), 0);
  return world.state().q;
}

// Error by halving the step: 2^order between differences of successive solutions.
TEST(Integrators, ConvergeAtTheirOrderOnASpinningElasticBody) {
  constexpr double kTime = 0.12;
  for (const Method& method : kMethods) {
    const SceneSpec scene = WobblingBody(method.kind, method.alpha);
    // Without elastic forces at the start, as here, those of order one are as good as Verlet's, to which they are conjugate;
    // schemes_test.cc shows their order.
    if (method.kind == IntegratorKind::kVariational && method.order == 1) continue;
    const int steps = method.order > 2 ? 480 : 120;
    const VecX a = PositionsAt(scene, kTime, steps), b = PositionsAt(scene, kTime, 2 * steps),
               c = PositionsAt(scene, kTime, 4 * steps);
    const double order = std::log2((a - b).norm() / (b - c).norm());
    EXPECT_NEAR(order, method.order, 0.1) << method.name;
  }
}

// Those that take the force at one point and its momentum along keep it whatever the solve left over.
TEST(Integrators, KeepLinearMomentumToRoundOffAndSymplecticOnesAngularMomentumToo) {
  for (const Method& method : kMethods) {
    const auto model = testing::Compile(WobblingBody(method.kind, method.alpha));
    World world(model);
    const Vec3 momentum = testing::LinearMomentum(*model, world.state(), 0);
    const Vec3 angular = testing::AngularMomentum(*model, world.state(), 0);
    const double dt = method.is_explicit() ? 1e-3 : 0.01;
    testing::RunSteps(&world, 60, dt);
    EXPECT_EQ(world.report().substeps, 1) << method.name;
    EXPECT_LT((testing::LinearMomentum(*model, world.state(), 0) - momentum).norm(), 1e-10 * momentum.norm()) << method.name;
    const double drift = (testing::AngularMomentum(*model, world.state(), 0) - angular).norm() / angular.norm();
    if (method.keeps_angular_momentum()) {
      EXPECT_LT(drift, method.kind == IntegratorKind::kImplicitMidpoint ? 1e-8 : 1e-13) << method.name;
    } else {
      EXPECT_LT(drift, 0.5) << method.name;
    }
  }
}

SceneSpec DroppedBox(IntegratorKind kind, double alpha = 0.5) {
  SceneSpec scene = testing::EmptyScene();
  scene.dynamics.variational_alpha = alpha;
  scene.gravity = Vec3(0, 0, -9.81);
  scene.dynamics.integrator = kind;
  scene.solver.newton_tolerance_m_s = 1e-5;
  scene.friction.dynamic_coefficient = 0.3;
  const MaterialSpec material = testing::SoftMaterial(1000, 1e5, 0.3, &StableNeoHookean::kDescriptor);
  scene.bodies = {testing::FullSpaceBox("box", Vec3(0.1, 0.1, 0.1), {2, 2, 2}, material), testing::StaticSheet("floor", 0.4, 2)};
  scene.bodies[0].pose.position.z() = 0.08;
  scene.bodies[0].linear_velocity = Vec3(1, 0.3, -4);
  scene.bodies[0].pose.rotation = Quat(Eigen::AngleAxisd(0.3, Vec3(1, 1, 0).normalized()));
  return scene;
}

// Hard landings: every end point is free of intersections, also where the method leaves the points at which the barrier acted.
TEST(Integrators, NeverAcceptAnIntersection) {
  for (const Method& method : kMethods) {
    World world(testing::Compile(DroppedBox(method.kind, method.alpha)));
    int refused = 0, unstable = 0, blocked = 0, unsolved = 0, made = 0;
    for (int n = 0; n < 30; ++n) {
      testing::RunSteps(&world, 1, 0.01);
      ASSERT_TRUE(testing::IsIntersectionFree(world)) << method.name << n;
      ASSERT_GT(world.report().min_distance_m, 0);
      ASSERT_EQ(world.state().step, n + 1);
      refused += world.report().refused_substeps;
      unstable += world.report().structure_breaks.unstable;
      blocked += world.report().structure_breaks.blocked;
      unsolved += world.report().structure_breaks.unsolved;
      made += world.report().structure_breaks.contact_energy;
      EXPECT_EQ(world.report().substeps == 1, world.report().refused_substeps == 0);
    }
    EXPECT_EQ(refused, unstable + blocked + unsolved + made) << method.name;
    const Scheme scheme = method.scheme();
    if (scheme.ends_beyond && scheme.stable_angle == 0) {
      EXPECT_GT(blocked, 0) << method.name << ": no end point was blocked";
    } else if (scheme.stable_angle > 0) {
      EXPECT_GT(unstable, 0) << method.name << ": contact was not stiff";
    } else {
      EXPECT_EQ(refused, 0) << method.name;
    }
    EXPECT_NEAR(world.state().time_s, 0.3, 1e-12);
  }
}

// What lies still on a floor stays, whatever the scheme: its weight and the barrier are weighed alike.
TEST(Integrators, KeepWhatRestsInContactAtRest) {
  for (const Method& method : kMethods) {
    SceneSpec scene = DroppedBox(method.kind, method.alpha);
    scene.bodies[0].pose = {};
    scene.bodies[0].pose.position = Vec3(0.003, 0.002, 0.0505);
    scene.bodies[0].linear_velocity = Vec3::Zero();
    scene.start_in_equilibrium = true;
    World world(testing::Compile(scene));
    const VecX start = world.state().q;
    constexpr int steps = 20;
    testing::RunSteps(&world, steps, 0.01);
    EXPECT_LT((world.state().q - start).cwiseAbs().maxCoeff(), 1e-4 * 0.01 * steps) << method.name;
    EXPECT_LT(world.state().v.cwiseAbs().maxCoeff(), 1e-4) << method.name;
    EXPECT_LT(world.report().min_distance_m, 1e-3);
  }
}

// What has come to rest is not taken for something that contact drives: rounding makes energies, too.
TEST(Integrators, RefuseNothingOfWhatRests) {
  int checked = 0;
  for (const Method& method : kMethods) {
    const Scheme scheme = method.scheme();
    if (!scheme.guards_contact_work() || scheme.stable_angle > 0) continue;
    for (const double away : {0.0, 100.0}) {
      for (const double dt : {1e-2, 1e-3}) {
        ++checked;
        SceneSpec spec = DroppedBox(method.kind, method.alpha);
        spec.bodies = {testing::AffineBox("block", Vec3::Constant(0.1), testing::SoftMaterial(1000, 1e7, 0.3)),
                       testing::StaticSheet("floor", 0.4, 2)};
        spec.bodies[0].material.rayleigh_alpha_per_s = 5;
        spec.bodies[0].material.rayleigh_beta_s = 1e-3;
        for (BodySpec& body : spec.bodies) body.pose.position.x() = away;
        spec.bodies[0].pose.position += Vec3(0.003, 0.002, 0.0505);
        spec.start_in_equilibrium = true;
        World world(testing::Compile(spec));
        int refused = 0;
        for (int n = 0; n < 300; ++n) {
          testing::RunSteps(&world, 1, dt);
          refused += world.report().structure_breaks.contact_energy;
        }
        EXPECT_EQ(refused, 0) << method.name << ", dt " << dt << ", " << away << " m off";
      }
    }
  }
  EXPECT_EQ(checked, 8);
}

TEST(Integrators, ContinueFromASnapshotBitForBit) {
  for (const Method& method : kMethods) {
    const auto model = testing::Compile(DroppedBox(method.kind, method.alpha));
    World world(model), other(model, 2);
    testing::RunSteps(&world, 4, 0.01);
    const State snapshot = world.state();
    testing::RunSteps(&other, 2, 0.004);
    testing::RunSteps(&world, 5, 0.01);
    ASSERT_TRUE(other.Restore(snapshot).ok());
    testing::RunSteps(&other, 5, 0.01);
    EXPECT_EQ(world.state().Digest(), other.state().Digest()) << method.name;
  }
}

TEST(Integrators, Bdf2CarriesItsHistoryInTheStateAndTheDigest) {
  const auto model = testing::Compile(WobblingBody(IntegratorKind::kBdf2));
  World world(model);
  testing::RunSteps(&world, 2, 0.01);
  State without = world.state();
  ASSERT_TRUE(without.history.has_value());
  EXPECT_EQ(without.history->dt_s, 0.01);
  without.history.reset();
  EXPECT_NE(without.Digest(), world.state().Digest());
  State torn = world.state();
  torn.history->q.conservativeResize(3);
  EXPECT_FALSE(world.Restore(torn).ok());
}

// A step size that changes does not cost BDF2 its order: coefficients follow the ratio.
TEST(Integrators, Bdf2KeepsItsOrderWithStepsOfTwoSizes) {
  const SceneSpec scene = WobblingBody(IntegratorKind::kBdf2);
  VecX q[3];
  for (int level = 0; level < 3; ++level) {
    World world(testing::Compile(scene));
    const int pairs = 160 << level;
    for (int n = 0; n < pairs; ++n) {
      testing::RunSteps(&world, 1, 0.12 / pairs / 3);
      testing::RunSteps(&world, 1, 0.24 / pairs / 3);
    }
    q[level] = world.state().q;
  }
  EXPECT_NEAR(std::log2((q[0] - q[1]).norm() / (q[1] - q[2]).norm()), 2, 0.1);
}

// Step-size control by Newton effort keeps the grid of steps, and what it learnt is part of the state.
TEST(Integrators, StepsAreCutWhereNewtonWorksHard) {
  SceneSpec scene = DroppedBox(IntegratorKind::kBackwardEuler);
  scene.dynamics.substep_newton_iterations = 8;
  scene.dynamics.max_step_halvings = 4;
  const auto model = testing::Compile(scene);
  World world(model), other(model);
  int cut = 0, most = 0;
  for (int n = 0; n < 30; ++n) {
    testing::RunSteps(&world, 1, 0.01);
    cut += world.report().substeps > 1;
    most = std::max(most, world.report().substeps);
    ASSERT_TRUE(testing::IsIntersectionFree(world));
    ASSERT_NEAR(world.state().time_s, 0.01 * (n + 1), 1e-12);
    if (n == 10) {
      ASSERT_TRUE(other.Restore(world.state()).ok());
    }
  }
  EXPECT_GT(cut, 0);
  EXPECT_LE(most, 16);
  testing::RunSteps(&other, 19, 0.01);
  EXPECT_EQ(world.state().Digest(), other.state().Digest());
}

double TotalEnergy(const World& world) {
  std::vector<Vec3> x;
  world.SurfacePositions(&x);
  const Energies energies = ComputeEnergies(world, x);
  return energies.kinetic_j + energies.elastic_j + energies.gravity_j;
}

// An end beyond a point magnifies what an unfinished solve has left there: the variational scheme takes its force into the momenta,
// the midpoint rule goes as far again. What a part was refused for is counted by cause.
TEST(Integrators, NoEndLiesBeyondAPointThatWasNotSolved) {
  int checked = 0;
  for (const Method& method : kMethods) {
    const Scheme scheme = method.scheme();
    if (!scheme.ends_beyond || scheme.solves() == 0 || scheme.stable_angle > 0) continue;
    ++checked;
    SceneSpec spec = DroppedBox(method.kind, method.alpha);
    spec.solver.max_newton_iterations = 4;  // too few in contact
    World world(testing::Compile(spec));
    const double start = TotalEnergy(world);
    StepReport all;
    for (int n = 0; n < 30; ++n) {
      testing::RunSteps(&world, 1, 0.01);
      const StepReport& report = world.report();
      // Backward Euler ends at its point.
      EXPECT_LE(report.structure_breaks.truncated, report.fallback_substeps) << method.name << n;
      EXPECT_LT(TotalEnergy(world), 1.01 * start) << method.name << n;
      all.Add(report);
    }
    EXPECT_GT(all.structure_breaks.unsolved, 0) << method.name;
    EXPECT_EQ(all.refused_substeps,
              all.structure_breaks.blocked + all.structure_breaks.unsolved + all.structure_breaks.contact_energy)
        << method.name;
  }
  EXPECT_EQ(checked, 2);
}

// A soft cube lands flat and bounces, at steps that are stable in free flight: what it meets within a step is stiffer than any step
// can bear, and a force that a step finds deep in the barrier throws it back faster than it came, unless such steps are refused.
TEST(Integrators, GainNothingInALanding) {
  std::vector<Method> methods(std::begin(kMethods), std::end(kMethods));
  methods.push_back({IntegratorKind::kVariational, "HP 0.95", 1, 0.95});
  int checked = 0;
  for (const Method& method : methods) {
    if (!method.scheme().guards_contact_work()) continue;
    for (const double stiffness : {0.0, 1e8}) {  // 0: adaptive
      for (const double dt : {1e-3, 5e-4}) {
        SCOPED_TRACE(::testing::Message() << method.name << ", stiffness " << stiffness << ", " << dt << " s");
        SceneSpec scene = DroppedBox(method.kind, method.alpha);
        scene.friction.dynamic_coefficient = 0;
        scene.contact.form = BarrierForm::kAreaWeighted;
        scene.contact.stiffness = stiffness;
        scene.bodies[0].material.youngs_modulus_pa = 1e4;
        scene.bodies[0].pose = {};
        scene.bodies[0].pose.position = Vec3(0.003, 0.002, 0.07);
        scene.bodies[0].linear_velocity = Vec3(0, 0, -3);
        World world(testing::Compile(scene));
        const double start = TotalEnergy(world);
        int refused = 0;
        double most = 0;
        for (int n = 0; n < static_cast<int>(0.06 / dt); ++n) {
          testing::RunSteps(&world, 1, dt);
          most = std::max(most, TotalEnergy(world));
          refused += world.report().structure_breaks.contact_energy;
        }
        EXPECT_LT(most, 1.1 * start);  // a hundredth a part, or a tenth that comes back
        if (stiffness > 0) {           // an adaptive one may be such that every part is resolved
          EXPECT_GT(refused, 0);
        }
        ++checked;
      }
    }
  }
  EXPECT_EQ(checked, 32);
}

// Neither what moves far off nor the motion of all that touches nor a slide hides what contact makes, and friction makes nothing
// either.
TEST(Integrators, GainNothingInALandingBesideOrOnWhatMoves) {
  int checked = 0;
  for (const Method& method : kMethods) {
    if (!method.scheme().guards_contact_work()) continue;
    for (const auto& [beside, common, slide, friction] :
         {std::tuple(100.0, 0.0, 0.0, 0.0), std::tuple(0.0, 30.0, 0.0, 0.0), std::tuple(0.0, 0.0, 30.0, 0.0),
          std::tuple(0.0, 30.0, -30.0, 0.0), std::tuple(0.0, 0.0, 0.0, 2.0)}) {
      SCOPED_TRACE(::testing::Message() << method.name << ", " << beside << ", " << common << ", " << slide << " m/s, friction "
                                        << friction);
      const double dt = 5e-4, duration = 0.04;
      SceneSpec scene = DroppedBox(method.kind, method.alpha);
      scene.gravity.setZero();
      scene.friction.dynamic_coefficient = friction;
      scene.contact.form = BarrierForm::kAreaWeighted;
      scene.contact.stiffness = 1e8;
      scene.bodies[0].material.youngs_modulus_pa = 1e4;
      scene.bodies[0].pose = {};
      scene.bodies[0].pose.position = Vec3(0.003, 0.002, 0.07);
      scene.bodies[0].linear_velocity = Vec3(common + slide, 0, -3);
      if (friction > 0) scene.bodies[0].linear_velocity.x() = 0.01;
      const auto moves = [&](BodySpec body, double speed) {
        const Vec3 way(2 * duration * speed, 0, 0);
        body.trajectory.keys = {{0, body.pose}, {2 * duration, {body.pose.position + way, body.pose.rotation}}};
        return body;
      };
      if (beside > 0) {
        BodySpec far = testing::KinematicBox("far", Vec3::Constant(0.1));
        far.pose.position = Vec3(-20, 10, 0);
        scene.bodies.push_back(moves(far, beside));
      }
      if (common > 0) {
        scene.bodies[1] = testing::KinematicBox("floor", Vec3(0.8, 0.8, 0.1));
        scene.bodies[1].pose.position.z() = -0.05;
        scene.bodies[1] = moves(scene.bodies[1], common);
      }
      World world(testing::Compile(scene));
      const double sideways_m_s = common + slide;
      const auto energy = [&world, sideways_m_s] {  // beside what nothing resists
        const Vec3 p = testing::LinearMomentum(world.model(), world.state(), 0);
        return TotalEnergy(world) - sideways_m_s * p.x() + 0.5 * world.model().bodies[0].mass.mass * sideways_m_s * sideways_m_s;
      };
      const double start = energy();
      double most = 0;
      for (int n = 0; n < static_cast<int>(duration / dt); ++n) {
        testing::RunSteps(&world, 1, dt);
        most = std::max(most, energy());
      }
      EXPECT_LT(most, 1.1 * start);
      ++checked;
    }
  }
  EXPECT_EQ(checked, 35);
}

double KineticEnergyOf(const World& world, size_t body) {
  const Model& model = world.model();
  double sum = 0;
  for (int32_t n = model.bodies[body].nodes.begin; n < model.bodies[body].nodes.end; ++n) {
    sum += 0.5 * world.state().v.segment<3>(3 * n).dot(model.mass.RowTimes(n, world.state().v));
  }
  return sum;
}

// A soft cube lands with 0.1 J where a plate spins with 500 J on the same driven floor, which lends it nothing.
TEST(Integrators, GainNothingInALandingWhileSomethingElseSpins) {
  int checked = 0;
  for (const Method& method : kMethods) {
    if (!method.scheme().guards_contact_work()) continue;
    SceneSpec scene = DroppedBox(method.kind, method.alpha);
    scene.gravity.z() = -0.5;
    scene.friction.dynamic_coefficient = 0;
    scene.contact.form = BarrierForm::kAreaWeighted;
    scene.contact.stiffness = 1e8;
    scene.bodies[0].material.youngs_modulus_pa = 1e4;
    scene.bodies[0].pose = {};
    scene.bodies[0].pose.position = Vec3(0.003, 0.002, 0.0515);
    scene.bodies[0].linear_velocity = Vec3(0, 0, -0.5);
    scene.bodies[1] = testing::KinematicBox("floor", Vec3(4, 4, 0.1));
    scene.bodies[1].pose.position.z() = -0.05;
    Pose end = scene.bodies[1].pose;
    end.position.x() += 1e-4;
    scene.bodies[1].trajectory.keys = {{0, scene.bodies[1].pose}, {1, end}};
    BodySpec plate = testing::AffineBox("plate", Vec3(0.2, 0.2, 0.05), testing::StiffMaterial(8000, 1e6));
    plate.pose.position = Vec3(1, 1, 0.02595);
    plate.angular_velocity.z() = 100;
    scene.bodies.push_back(plate);
    World world(testing::Compile(scene));
    const double start = KineticEnergyOf(world, 0);
    double most = start;
    for (int n = 0; n < 50; ++n) {
      testing::RunSteps(&world, 1, 2e-3);
      most = std::max(most, KineticEnergyOf(world, 0));
    }
    EXPECT_LT(most, 1.1 * start) << method.name;
    ++checked;
  }
  EXPECT_EQ(checked, 7);
}

// What rests is pressed to its floor anew in every part, by more than it moves. Were such parts refused, steps would change their
// size all the time, which feeds the vibration of what is stiff and touches nothing.
TEST(Integrators, GainNothingWhereSomethingRests) {
  int checked = 0;
  for (const Method& method : kMethods) {
    if (!method.scheme().guards_contact_work()) continue;
    SceneSpec scene = DroppedBox(method.kind, method.alpha);
    scene.friction.dynamic_coefficient = 0;
    scene.contact.stiffness = 0;
    scene.bodies[0] = testing::AffineBox("heavy", Vec3::Constant(0.2), testing::StiffMaterial(12500, 1e9));
    scene.bodies[0].pose.position = Vec3(0, 0, 0.1007);
    scene.bodies[1] = testing::StaticSheet("floor", 2);
    BodySpec light = testing::AffineBox("light", Vec3::Constant(0.04), testing::StiffMaterial(3000, 1e7));
    light.pose.position = Vec3(1, 1, 5);
    light.angular_velocity.z() = 200;
    scene.bodies.push_back(light);
    World world(testing::Compile(scene));
    const double start = TotalEnergy(world), spin = KineticEnergyOf(world, 2);
    double most = start;
    for (int n = 0; n < 500; ++n) {
      testing::RunSteps(&world, 1, 1e-4);
      most = std::max(most, TotalEnergy(world));
    }
    EXPECT_LT(most - start, 0.1 * spin) << method.name;
    ++checked;
  }
  EXPECT_EQ(checked, 7);
}

// Two that meet in flight, while a third rests on a floor of its own: each group is judged by itself.
TEST(Integrators, GainNothingInFlightWhileSomethingRests) {
  constexpr double kFlight = 30, kDt = 5e-4;
  int checked = 0;
  for (const Method& method : kMethods) {
    if (!method.scheme().guards_contact_work()) continue;
    SceneSpec scene = DroppedBox(method.kind, method.alpha);
    scene.friction.dynamic_coefficient = 0;
    scene.contact.form = BarrierForm::kAreaWeighted;
    scene.contact.stiffness = 1e8;
    scene.bodies[0].material.youngs_modulus_pa = 1e4;
    scene.bodies[0].pose = {};
    scene.bodies[0].pose.position.z() = 20;
    scene.bodies[0].linear_velocity = Vec3(kFlight, 0, 1.5);
    BodySpec above = scene.bodies[0];
    above.name = "above";
    above.pose.position.z() += 0.104;
    above.linear_velocity.z() *= -1;
    BodySpec rests = testing::AffineBox("rests", Vec3::Constant(0.1), testing::StiffMaterial(1000, 1e5));
    rests.pose.position = Vec3(-50, 0, 0.05092);
    scene.bodies[1].pose.position.x() = -50;
    scene.bodies.insert(scene.bodies.end(), {above, rests});
    World world(testing::Compile(scene));
    const auto energy = [&world] {  // of the two that fly, beside their flight; what they fall they lose and gain
      Vec3 p = Vec3::Zero();
      for (const int body : {0, 2}) p += testing::LinearMomentum(world.model(), world.state(), body);
      return TotalEnergy(world) - kFlight * p.x();
    };
    const double start = energy(), meeting = 0.5 * 2 * 1.5 * 1.5;
    double most = start;
    for (int n = 0; n < 40; ++n) {
      testing::RunSteps(&world, 1, kDt);
      most = std::max(most, energy());
    }
    EXPECT_LT(most - start, 0.1 * meeting) << method.name;
    ++checked;
  }
  EXPECT_EQ(checked, 7);
}

// Without a limit a part that is unstable at the finest size is taken by backward Euler, 2^20 of them; with one the rest of the
// step is.
TEST(Integrators, TakeTheRestOfAStepAtOnceWhereTimeEnds) {
  SceneSpec scene = DroppedBox(IntegratorKind::kVerlet);
  scene.dynamics.max_step_halvings = 20;
  scene.bodies[0].material.youngs_modulus_pa = 1e14;
  World world(testing::Compile(scene));
  const double height = world.state().q[2];
  StepInput input;
  input.dt_s = 0.01;
  input.limit.ends_at_check = 5;
  ASSERT_TRUE(world.Step(input, {}).ok());
  EXPECT_LE(world.report().refused_substeps, 6);
  EXPECT_EQ(world.report().fallback_substeps, 1);
  EXPECT_EQ(world.report().newton_iterations, 1) << "a step without an iteration knows no force";
  EXPECT_LT(world.state().q[2], height) << "it falls";
  EXPECT_EQ(world.report().outcome, StepOutcome::kIterationCap);
  EXPECT_EQ(world.report().limited_by, StepLimit::kTime);
  EXPECT_NEAR(world.state().time_s, 0.01, 1e-15);
}

// Damping by the energy of the change of shape has no moment about the point at which symplectic methods take forces. That of the
// rate of strain has none about the shape at the start of the step: only alpha = 0 takes it there.
TEST(Integrators, DampingOfStrainTakesEnergyAndKeepsMomenta) {
  for (const Method& method : kMethods) {
    for (const StrainDampingLaw law : {StrainDampingLaw::kRateOfStrain, StrainDampingLaw::kStrainEnergy}) {
      SceneSpec scene = WobblingBody(method.kind, method.alpha);
      scene.bodies[0].material.strain_damping_s = 2e-3;
      scene.bodies[0].material.strain_damping_law = law;
      const auto model = testing::Compile(scene);
      World world(model);
      const Vec3 momentum = testing::LinearMomentum(*model, world.state(), 0);
      const Vec3 angular = testing::AngularMomentum(*model, world.state(), 0);
      const double energy = TotalEnergy(world);
      testing::RunSteps(&world, 60, method.is_explicit() ? 1e-3 : 0.01);
      EXPECT_LT((testing::LinearMomentum(*model, world.state(), 0) - momentum).norm(), 1e-10 * momentum.norm()) << method.name;
      EXPECT_LT(TotalEnergy(world), 0.9999 * energy) << method.name;
      const double drift = (testing::AngularMomentum(*model, world.state(), 0) - angular).norm() / angular.norm();
      const bool takes_force_at_start = method.kind == IntegratorKind::kVariational && method.alpha == 0;
      if (takes_force_at_start || (law == StrainDampingLaw::kStrainEnergy && method.keeps_angular_momentum())) {
        EXPECT_LT(drift, method.kind == IntegratorKind::kImplicitMidpoint ? 1e-8 : 1e-13) << method.name;
      }
    }
  }
}

// Tolerances that rounding keeps a solve from end with it, near the origin and far from it, whatever the scheme: a scheme that ends
// beyond its points would have every part refused else, and the others take all iterations.
TEST(Integrators, SolvesEndAtTheRoundingOfCoordinates) {
  int checked = 0;
  for (const Method& method : kMethods) {
    const Scheme scheme = method.scheme();
    if (scheme.solves() == 0 || scheme.stable_angle > 0) continue;
    ++checked;
    for (const double away : {0.0, 100.0}) {
      for (const double dt : {1e-2, 1e-4}) {
        SceneSpec scene = WobblingBody(method.kind, method.alpha);
        scene.solver.newton_tolerance_m_s = 1e-15;
        scene.bodies[0].pose.position = Vec3(away, 0, 1);
        const auto model = testing::Compile(scene);
        World world(model);
        const Vec3 momentum = testing::LinearMomentum(*model, world.state(), 0);
        const double energy = TotalEnergy(world);
        for (int n = 0; n < 20; ++n) {
          testing::RunSteps(&world, 1, dt);
          ASSERT_EQ(world.report().refused_substeps, 0) << method.name << " at " << away << ", step " << n;
          ASSERT_EQ(world.report().outcome, StepOutcome::kConverged) << method.name << " at " << away << ", step " << n;
          ASSERT_LE(world.report().newton_iterations, 16 * scheme.solves()) << method.name << " at " << away << ", step " << n;
        }
        // A solve ends within 1e3 roundings of a position (rounding_end.h), which over the step are a speed.
        const double mass = momentum.norm() / scene.bodies[0].linear_velocity.norm();
        const double rounding = 1e3 * std::numeric_limits<double>::epsilon() * (1 + away) / dt;
        EXPECT_LT((testing::LinearMomentum(*model, world.state(), 0) - momentum).norm(), mass * rounding) << method.name << away;
        EXPECT_LT(TotalEnergy(world), 1.01 * energy) << method.name;
      }
    }
  }
  EXPECT_EQ(checked, 8);
}

// A light soft pad, pressed against a floor and drawn along it.
SceneSpec DrawnPad(const Method& method) {
  SceneSpec scene = DroppedBox(method.kind, method.alpha);
  MaterialSpec material = testing::SoftMaterial(10, 1e4, 0.45, &StableNeoHookean::kDescriptor);
  material.rayleigh_beta_s = 0.01;
  BodySpec& pad = scene.bodies[0] = testing::FullSpaceBox("pad", Vec3(0.1, 0.1, 0.04), {5, 5, 2}, material);
  pad.pose.position.z() = 0.0215;
  BoundarySetSpec back;
  back.name = "back";
  back.box = SelectionBox{Vec3(-1, -1, 0.019), Vec3(1, 1, 1)};
  Pose pressed = pad.pose, drawn = pad.pose;
  pressed.position.z() -= 0.006;
  drawn.position = pressed.position + Vec3(0.03, 0, 0);
  back.trajectory.keys = {{0, pad.pose}, {0.2, pressed}, {0.5, drawn}};
  pad.boundary_sets = {back};
  return scene;
}

// What damps nothing has stiff modes turn round in every step. Where it ends beyond its points as well, their velocities are no
// guess of the next one: contacts would be pressed together that the last step has left apart.
TEST(Integrators, TakeNoGuessFromVelocitiesThatTurnRound) {
  int checked = 0;
  for (const Method& method : kMethods) {
    const Scheme scheme = method.scheme();
    if (!scheme.ends_beyond || scheme.solves() == 0 || scheme.stable_angle > 0) continue;
    ++checked;
    World world(testing::Compile(DrawnPad(method)));
    StepReport all;
    for (int n = 0; n < 50; ++n) {
      testing::RunSteps(&world, 1, 0.01);
      all.Add(world.report());
    }
    // A part; by their velocities 18 and 20.
    EXPECT_LT(all.newton_iterations, 12 * (all.substeps + all.refused_substeps)) << method.name;
  }
  EXPECT_EQ(checked, 2);
}

// Driven nodes arrive exactly and move at the drive's speed, whatever the stages are.
TEST(Integrators, DrivenNodesArriveAtTheSpeedOfTheirDrive) {
  const Vec3 speed(0.2, -0.1, 0.3);
  for (const Method& method : kMethods) {
    SceneSpec scene = testing::EmptyScene();
    scene.dynamics.integrator = method.kind;
    scene.dynamics.variational_alpha = method.alpha;
    scene.bodies = {testing::FullSpaceBox("box", Vec3::Constant(0.1), {2, 2, 2}, testing::SoftMaterial(1000, 1e5, 0.3)),
                    testing::KinematicBox("plate", Vec3(0.1, 0.1, 0.01))};
    BoundarySetSpec set;
    set.name = "end";
    set.box = SelectionBox{Vec3(-1, -1, 0.04), Vec3(1, 1, 1)};
    set.trajectory.keys = {{0, {}}, {1, {speed, Quat::Identity()}}};
    scene.bodies[0].boundary_sets = {set};
    scene.bodies[0].linear_velocity = speed;
    scene.bodies[1].pose.position = Vec3(0.5, 0, 0);
    scene.bodies[1].trajectory.keys = {{0, scene.bodies[1].pose}, {1, {Vec3(0.5, 0, 0) + speed, Quat::Identity()}}};
    const auto model = testing::Compile(scene);
    World world(model);
    const VecX start = world.state().q;
    for (int n = 1; n <= 10; ++n) {
      testing::RunSteps(&world, 1, 0.01);
      EXPECT_EQ(world.report().target_error_m, 0) << method.name;
    }
    // Both bodies travel without deforming: the drive is consistent with the motion of the free nodes.
    for (Eigen::Index i = 0; i < start.size(); i += 3) {
      EXPECT_LT((world.state().q.segment<3>(i) - start.segment<3>(i) - 0.1 * speed).norm(), 1e-9) << method.name;
    }
    for (const BoundarySet& driven : model->boundary_sets) {
      for (const int32_t node : driven.nodes) {
        EXPECT_LT((world.state().v.segment<3>(3 * node) - speed).norm(), 1e-9) << method.name;
      }
    }
  }
}

}  // namespace
}  // namespace eipc
