// Bodies at rest are left out of the solve without a difference in positions, forces and energies.

#include "sim/dynamics/sleep_manager.h"

#include <gtest/gtest.h>

#include <functional>

#include "sim/dynamics/state_codec.h"
#include "sim/sensor/body_motion.h"
#include "sim/sensor/contact_wrenches.h"
#include "sim/sensor/energies.h"
#include "tests/support/scenes.h"

namespace eipc {
namespace {

constexpr double kGravity = 9.81, kStep = 0.01, kAfter = 0.1;

SceneSpec Ground() {
  SceneSpec scene = testing::EmptyScene();
  scene.gravity = Vec3(0, 0, -kGravity);
  scene.solver.newton_tolerance_m_s = 1e-6;
  scene.contact.friction_velocity_m_s = 1e-3;
  scene.contact.stiffness = 1e9;
  scene.friction.dynamic_coefficient = 0.5;
  scene.dynamics.sleep.after_s = kAfter;
  return scene;
}

BodySpec Block(const std::string& name, const Vec3& size, const Vec3& at, double density = 500) {
  BodySpec block = testing::AffineBox(name, size, testing::StiffMaterial(density, 1e7));
  block.pose.position = at;
  return block;
}

// A block on another one on the floor.
SceneSpec Tower() {
  SceneSpec scene = Ground();
  scene.bodies = {Block("low", Vec3(0.06, 0.06, 0.03), Vec3(0.003, 0.002, 0.0158)),
                  Block("high", Vec3(0.04, 0.04, 0.03), Vec3(0, 0.004, 0.0466)), testing::StaticSheet("floor", 0.3, 3)};
  return scene;
}

// Of body `a` by body `b`, N.
Vec3 ForceOn(const World& world, int a, int b) {
  std::vector<Vec3> x;
  world.SurfacePositions(&x);
  for (const ContactWrench& w : ContactWrenches(world.model(), world.state(), x, world.contact_forces())) {
    if (w.body == a && w.other == b) return w.normal_force + w.friction_force;
  }
  return Vec3::Zero();
}

double Weight(const World& world, int body) { return kGravity * world.model().bodies[body].mass.mass; }
Vec3 Place(const World& world, int body) { return BodyPose(world.model(), world.state(), body).position; }
bool Asleep(const World& world, int body) { return world.state().sleep && world.state().sleep->bodies[body].asleep; }

void RunUntilAsleep(World* world, int body) {
  for (int n = 0; n < 200 && !Asleep(*world, body); ++n) testing::RunSteps(world, 1, kStep);
  ASSERT_TRUE(Asleep(*world, body));
  const IndexRange& nodes = world->model().bodies[body].nodes;
  EXPECT_TRUE(world->state().v.segment(3 * nodes.begin, 3 * nodes.size()).isZero(0)) << "what sleeps does not move";
}

TEST(SleepManager, NobodySleepsUnlessAsked) {
  SceneSpec scene = Tower();
  scene.dynamics.sleep = {};
  World world(testing::Compile(scene));
  testing::RunSteps(&world, 60, kStep);
  EXPECT_FALSE(world.state().sleep.has_value());
  EXPECT_EQ(world.report().sleeping_bodies, 0);
}

TEST(SleepManager, WhatLiesStillKeepsItsPlaceItsForcesAndItsEnergy) {
  SceneSpec scene = Tower();
  World world(testing::Compile(scene));
  scene.dynamics.sleep = {};
  World awake(testing::Compile(scene));
  testing::RunSteps(&world, 60, kStep);
  testing::RunSteps(&awake, 60, kStep);
  ASSERT_TRUE(Asleep(world, 0) && Asleep(world, 1));
  EXPECT_FALSE(Asleep(world, 2)) << "a floor does not sleep";
  const VecX q = world.state().q;
  testing::RunSteps(&world, 20, kStep);
  testing::RunSteps(&awake, 20, kStep);
  EXPECT_EQ(world.report().sleeping_bodies, 2);
  EXPECT_TRUE((world.state().q.array() == q.array()).all());
  EXPECT_TRUE(world.state().v.isZero(0));
  EXPECT_NEAR(ForceOn(world, 0, 2).z() / (Weight(world, 0) + Weight(world, 1)), 1, 1e-3);
  EXPECT_NEAR(ForceOn(world, 1, 0).z() / Weight(world, 1), 1, 1e-3);
  EXPECT_NEAR(ForceOn(world, 0, 1).z(), -ForceOn(world, 1, 0).z(), 1e-12);
  EXPECT_EQ(world.contact_forces().point_triangle_count, awake.contact_forces().point_triangle_count);
  EXPECT_EQ(world.contact_forces().edge_edge_count, awake.contact_forces().edge_edge_count);
  EXPECT_NEAR(world.report().min_distance_m / awake.report().min_distance_m, 1, 1e-3);
  EXPECT_NEAR(*world.report().barrier_potential / *awake.report().barrier_potential, 1, 0.01);
  for (int body : {0, 1}) EXPECT_LT((Place(world, body) - Place(awake, body)).norm(), 1e-5);
  std::vector<Vec3> x;
  world.SurfacePositions(&x);
  EXPECT_NEAR(ComputeEnergies(world, x).barrier_j / ComputeEnergies(world.model(), world.state(), x).barrier_j, 1, 1e-12)
      << "what is held is what a search finds";
}

// On a slope friction holds a body while it creeps (theory.md, eq. 15); asleep it does not, and the force is the same.
TEST(SleepManager, FrictionGoesOnHolding) {
  constexpr double kAngle = 0.35;
  SceneSpec scene = Ground();
  scene.gravity = kGravity * Vec3(std::sin(kAngle), 0, -std::cos(kAngle));
  scene.friction.dynamic_coefficient = 0.8;
  scene.bodies = {Block("block", Vec3(0.06, 0.06, 0.02), Vec3(0.003, 0.002, 0.0108)), testing::StaticSheet("slope", 0.5, 3)};
  World world(testing::Compile(scene));
  RunUntilAsleep(&world, 0);
  const Vec3 at = Place(world, 0);
  testing::RunSteps(&world, 50, kStep);
  EXPECT_TRUE(Asleep(world, 0));
  EXPECT_EQ(Place(world, 0), at);
  EXPECT_NEAR(ForceOn(world, 0, 1).x() / Weight(world, 0), -std::sin(kAngle), 2e-3);
  EXPECT_NEAR(ForceOn(world, 0, 1).z() / Weight(world, 0), std::cos(kAngle), 2e-3);
}

// The same blow with and without sleep: in the step in which it falls, the sleeper moves.
void ExpectToFeelABlow(IntegratorKind integrator, double dt_s) {
  SceneSpec scene = Ground();
  scene.bodies = {Block("resting", Vec3(0.06, 0.06, 0.03), Vec3(0.003, 0.002, 0.0158)), testing::StaticSheet("floor", 0.5, 3),
                  Block("thrown", Vec3(0.03, 0.03, 0.03), Vec3(-0.4, 0, 30), 2000)};
  World sleeping(testing::Compile(scene));  // it settles by backward Euler, which damps
  scene.dynamics.integrator = integrator;
  const auto with_sleep = testing::Compile(scene);
  scene.dynamics.sleep = {};
  const auto without = testing::Compile(scene);
  World world(with_sleep), awake(without);
  RunUntilAsleep(&sleeping, 0);
  // The thrown one flies at the side of the resting one now.
  State start = sleeping.state();
  const IndexRange& thrown = with_sleep->bodies[2].nodes;
  const Vec3 displacement = Vec3(-0.08, 0, 0.02) - Place(sleeping, 2);
  for (int32_t n = thrown.begin; n < thrown.end; ++n) {
    start.q.segment<3>(3 * n) += displacement;
    start.v.segment<3>(3 * n) = Vec3(2, 0, 0);
  }
  ASSERT_TRUE(world.Restore(start).ok());
  start.sleep.reset();
  ASSERT_TRUE(awake.Restore(start).ok());
  const auto momentum = [](const World& w) {
    return Vec3(testing::LinearMomentum(w.model(), w.state(), 0) + testing::LinearMomentum(w.model(), w.state(), 2));
  };
  int retries = 0, woken = 0;
  for (int n = 0; n < 30; ++n) {
    const bool was_asleep = Asleep(world, 0);
    const double before = momentum(world).x();
    testing::RunSteps(&world, 1, dt_s);
    testing::RunSteps(&awake, 1, dt_s);
    retries += world.report().wake_retries;
    if (was_asleep && !Asleep(world, 0)) {
      ++woken;
      const double friction = 0.5 * (Weight(world, 0) + Weight(world, 2)) * dt_s;
      EXPECT_NEAR(momentum(world).x(), before, 1.05 * friction) << "the floor is all that may take some";
    }
    EXPECT_TRUE(testing::IsIntersectionFree(world));
    EXPECT_LT((Place(world, 0) - Place(awake, 0)).norm(), 2e-4) << n;
  }
  EXPECT_GE(retries, 1);
  EXPECT_EQ(woken, 1);
  EXPECT_GT(Place(world, 0).x(), 0.03) << "it was hit";
}

TEST(SleepManager, ABlowWakesInTheSameStep) { ExpectToFeelABlow(IntegratorKind::kBackwardEuler, kStep); }

TEST(SleepManager, ABlowWakesInTheSameStepOfTwoStages) {
  ExpectToFeelABlow(IntegratorKind::kTrBdf2, 0.02);
  ExpectToFeelABlow(IntegratorKind::kSdirk2, 0.02);
}

TEST(SleepManager, WhatLosesItsSupportFalls) {
  SceneSpec scene = Ground();
  scene.bodies = {Block("low", Vec3(0.06, 0.06, 0.03), Vec3(0, 0, 0.0208)),
                  Block("high", Vec3(0.04, 0.04, 0.03), Vec3(0, 0, 0.0516)), testing::KinematicBox("plate", Vec3(0.3, 0.3, 0.01))};
  World world(testing::Compile(scene));
  RunUntilAsleep(&world, 0);
  RunUntilAsleep(&world, 1);
  const double low = Place(world, 0).z(), high = Place(world, 1).z();
  constexpr int kSteps = 15;
  for (int n = 1; n <= kSteps; ++n) {  // at twice the acceleration of gravity
    const double t = n * kStep;
    ASSERT_TRUE(world.Step({kStep, {{0, {Vec3(0, 0, -kGravity * t * t), Quat::Identity()}}}}, {}).ok());
  }
  const double fallen = 0.5 * kGravity * kStep * kStep * kSteps * (kSteps + 1);  // backward Euler
  EXPECT_NEAR(low - Place(world, 0).z(), fallen, 1e-3);
  EXPECT_NEAR(high - Place(world, 1).z(), fallen, 1e-3);
}

// Forces on it cancel, and yet it is squeezed.
TEST(SleepManager, ASoftBodyThatIsPinchedFromBothSidesWakes) {
  SceneSpec scene = Ground();
  scene.solver.newton_tolerance_m_s = 1e-5;
  scene.contact.stiffness = 1e8;
  scene.bodies = {testing::FullSpaceBox("soft", Vec3(0.06, 0.06, 0.06), {2, 2, 2}, testing::SoftMaterial(500, 2e5, 0.3)),
                  testing::StaticSheet("floor", 0.5, 3), testing::KinematicBox("left", Vec3(0.01, 0.05, 0.05)),
                  testing::KinematicBox("right", Vec3(0.01, 0.05, 0.05))};
  scene.bodies[0].material.rayleigh_beta_s = 1e-3;
  scene.bodies[0].pose.position.z() = 0.0308;
  scene.bodies[2].pose.position = Vec3(-0.05, 0, 0.032);
  scene.bodies[3].pose.position = Vec3(0.05, 0, 0.032);
  World world(testing::Compile(scene));
  RunUntilAsleep(&world, 0);
  for (int n = 1; n <= 40; ++n) {
    const double x = 0.05 - 0.02 * n / 40;
    ASSERT_TRUE(
        world.Step({kStep, {{0, {Vec3(-x, 0, 0.032), Quat::Identity()}}, {1, {Vec3(x, 0, 0.032), Quat::Identity()}}}}, {}).ok());
    EXPECT_TRUE(testing::IsIntersectionFree(world));
  }
  EXPECT_FALSE(Asleep(world, 0));
  EXPECT_LT(world.report().target_error_m, 1e-9) << "the plates are where they should be";
  EXPECT_GT(ForceOn(world, 0, 2).x(), 1);
  // They stay there: then it may sleep again, squeezed as it is.
  const double force = ForceOn(world, 0, 2).x();
  RunUntilAsleep(&world, 0);
  testing::RunSteps(&world, 10, kStep);
  EXPECT_TRUE(Asleep(world, 0));
  EXPECT_NEAR(ForceOn(world, 0, 2).x() / force, 1, 0.1);
}

// Slower than what counts as calm, but pushed: no stick and slip that is not in the model.
TEST(SleepManager, WhatIsPushedSlowlyStaysAwake) {
  SceneSpec scene = Ground();
  scene.bodies = {Block("block", Vec3(0.06, 0.06, 0.03), Vec3(0, 0, 0.0158)), testing::StaticSheet("floor", 0.5, 3),
                  testing::KinematicBox("pusher", Vec3(0.01, 0.04, 0.02))};
  scene.bodies[2].pose.position = Vec3(-0.0358, 0, 0.016);
  World world(testing::Compile(scene));
  const double from = Place(world, 0).x();
  constexpr double kSpeed = 5e-4;
  for (int n = 1; n <= 200; ++n) {
    ASSERT_TRUE(world.Step({kStep, {{0, {Vec3(-0.0358 + kSpeed * n * kStep, 0, 0.016), Quat::Identity()}}}}, {}).ok());
    if (n > 150) {
      EXPECT_FALSE(Asleep(world, 0)) << n;
    }
  }
  EXPECT_GT(Place(world, 0).x() - from, 0.5 * kSpeed * 2);
}

// One by one they would be nailed down while their neighbours still shift their loads.
TEST(SleepManager, NobodySleepsWhoseNeighboursDoNot) {
  SceneSpec scene = Tower();
  scene.bodies.push_back(testing::KinematicBox("pusher", Vec3(0.01, 0.02, 0.01)));
  scene.bodies.push_back(Block("apart", Vec3(0.06, 0.06, 0.03), Vec3(0.2, 0.2, 0.0158)));
  const Vec3 beside(-0.0258, 0.004, 0.05);
  scene.bodies[3].pose.position = beside;
  World world(testing::Compile(scene));
  for (int n = 1; n <= 150; ++n) {
    ASSERT_TRUE(world.Step({kStep, {{0, {beside + Vec3(5e-4 * n * kStep, 0, 0), Quat::Identity()}}}}, {}).ok());
    if (n <= 100) continue;
    EXPECT_FALSE(Asleep(world, 1)) << "it is pushed";
    EXPECT_FALSE(Asleep(world, 0)) << "what is pushed lies on it";
    EXPECT_TRUE(Asleep(world, 4));
  }
  RunUntilAsleep(&world, 0);
  EXPECT_TRUE(Asleep(world, 1)) << "together";
}

TEST(SleepManager, ASnapshotRemembersWhoSleeps) {
  SceneSpec scene = Tower();
  scene.bodies.push_back(Block("late", Vec3(0.03, 0.03, 0.03), Vec3(0.01, 0, 0.6), 3000));
  const auto model = testing::Compile(scene);
  World world(model);
  RunUntilAsleep(&world, 1);
  testing::RunSteps(&world, 3, kStep);
  const State snapshot = world.state();
  ASSERT_FALSE(Asleep(world, 3)) << "it falls and wakes the others";
  ASSERT_FALSE(snapshot.sleep->held->empty());
  int asleep = 2, woken = 0;
  for (int n = 0; n < 60; ++n) {
    testing::RunSteps(&world, 1, kStep);
    woken += world.report().sleeping_bodies < asleep;
    asleep = world.report().sleeping_bodies;
  }
  EXPECT_GE(woken, 1);
  for (int threads : {1, 2}) {
    World fresh(model, threads);
    const auto decoded = DecodeState(EncodeState(snapshot), *model);
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    EXPECT_EQ(decoded->Digest(), snapshot.Digest());
    ASSERT_TRUE(fresh.Restore(*decoded).ok());
    testing::RunSteps(&fresh, 60, kStep);
    EXPECT_EQ(fresh.state().Digest(), world.state().Digest());
  }
  ASSERT_TRUE(world.Restore(snapshot).ok());
  testing::RunSteps(&world, 1, kStep);
  EXPECT_NEAR(ForceOn(world, 0, 2).z() / (Weight(world, 0) + Weight(world, 1)), 1, 1e-3) << "held forces come back";

  const auto refused = [&](const std::function<void(State::Sleep*)>& spoil) {
    State spoiled = snapshot;
    spoil(&*spoiled.sleep);
    return !DecodeState(EncodeState(spoiled), *model).ok() && !World(model).Restore(spoiled).ok();
  };
  EXPECT_TRUE(refused([](State::Sleep* s) { s->bodies.pop_back(); }));
  EXPECT_TRUE(refused([](State::Sleep* s) { s->baseline_force.conservativeResize(3); }));
  EXPECT_TRUE(refused([](State::Sleep* s) { s->bodies[2].asleep = true; })) << "a floor does not sleep";
  EXPECT_TRUE(refused([](State::Sleep* s) { s->bodies[0].asleep = false; })) << "what is held is at rest";
  EXPECT_TRUE(refused([](State::Sleep* s) { s->bodies[0].calm_s = -1; }));
  const auto spoil_first = [](State::Sleep* s, const std::function<void(ContactForce*)>& spoil) {
    auto held = *s->held;
    spoil(&held[0].force);
    s->held = std::make_shared<const std::vector<State::HeldContact>>(held);
  };
  const int32_t vertices = model->surface.vertex_count;
  EXPECT_TRUE(refused([&](State::Sleep* s) { spoil_first(s, [&](ContactForce* f) { f->vertices[2] = vertices; }); }));
  EXPECT_TRUE(refused([&](State::Sleep* s) { spoil_first(s, [](ContactForce* f) { f->body_b = -1; }); }));
  EXPECT_TRUE(refused([&](State::Sleep* s) { spoil_first(s, [](ContactForce* f) { std::swap(f->body_a, f->body_b); }); }));
  EXPECT_TRUE(refused([&](State::Sleep* s) { spoil_first(s, [](ContactForce* f) { f->kind = static_cast<ContactKind>(7); }); }));
  scene.dynamics.sleep = {};
  EXPECT_FALSE(World(testing::Compile(scene)).Restore(snapshot).ok()) << "where bodies never sleep";
}

// What is held was in balance with another stiffness.
TEST(SleepManager, AChangeOfTheBarriersStiffnessWakesAll) {
  SceneSpec scene = Tower();
  scene.contact.stiffness = 0;
  scene.bodies.push_back(Block("late", Vec3(0.05, 0.05, 0.05), Vec3(0, 0, 5), 8000));
  scene.bodies.push_back(Block("apart", Vec3(0.06, 0.06, 0.03), Vec3(0.2, 0.2, 0.0158)));
  World world(testing::Compile(scene));
  RunUntilAsleep(&world, 1);
  RunUntilAsleep(&world, 4);
  const double stiffness = world.state().barrier_stiffness;
  for (int n = 0; n < 200 && world.state().barrier_stiffness == stiffness; ++n) testing::RunSteps(&world, 1, kStep);
  ASSERT_GT(world.state().barrier_stiffness, stiffness);
  EXPECT_TRUE(world.state().sleep->held->empty());
  for (int body : {0, 1, 3, 4}) EXPECT_FALSE(Asleep(world, body));
}

// Every integrator lets what sleeps lie: two stages, history and extrapolated end points included.
TEST(SleepManager, LieStillUnderEveryIntegrator) {
  for (const IntegratorKind kind : {IntegratorKind::kTrapezoidal, IntegratorKind::kBdf2, IntegratorKind::kTrBdf2,
                                    IntegratorKind::kSdirk2, IntegratorKind::kImplicitMidpoint}) {
    SceneSpec scene = Tower();
    scene.dynamics.integrator = kind;
    scene.start_in_equilibrium = true;  // most of them do not damp
    World world(testing::Compile(scene));
    RunUntilAsleep(&world, 0);
    RunUntilAsleep(&world, 1);
    const VecX q = world.state().q;
    testing::RunSteps(&world, 10, kStep);
    EXPECT_TRUE((world.state().q.array() == q.array()).all()) << static_cast<int>(kind);
    EXPECT_NEAR(ForceOn(world, 0, 2).z() / (Weight(world, 0) + Weight(world, 1)), 1, 0.02) << static_cast<int>(kind);
  }
}

}  // namespace
}  // namespace eipc
