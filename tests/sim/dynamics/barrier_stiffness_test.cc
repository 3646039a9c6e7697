#include "sim/dynamics/barrier_stiffness.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/contact/barrier_function.h"
#include "sim/material/log_barrier_neo_hookean.h"
#include "sim/material/stable_neo_hookean.h"
#include "sim/sensor/body_motion.h"
#include "sim/sensor/energies.h"
#include "tests/support/scenes.h"

namespace eipc {
namespace {

SceneSpec BoxScene(BarrierForm form, double stiffness) {
  SceneSpec scene = testing::EmptyScene();
  scene.gravity = Vec3(0, 0, -9.81);
  scene.contact.form = form;
  scene.contact.stiffness = stiffness;
  scene.bodies = {testing::AffineBox("light", Vec3(0.1, 0.1, 0.1), testing::StiffMaterial(100, 1e7)),
                  testing::AffineBox("heavy", Vec3(0.1, 0.1, 0.1), testing::StiffMaterial(1000, 1e7))};
  scene.bodies[1].pose.position.x() = 1;
  return scene;
}

TEST(BarrierStiffness, AGivenOneIsKept) {
  const auto model = testing::Compile(BoxScene(BarrierForm::kPerPair, 123));
  EXPECT_EQ(InitialBarrierStiffness(*model), 123);
  EXPECT_EQ(NextBarrierStiffness(*model, 123, {{.least_gap = 1e-9}}, 1), 123);
  EXPECT_EQ(InitialState(*model).barrier_stiffness, 123);
}

// Ten pairs, or a twentieth of the surface, carry the heaviest body at half of dhat.
TEST(BarrierStiffness, WithoutOneTheHeaviestBodyRestsAtHalfOfDhat) {
  const double dhat = ContactSettings().dhat_m, weight = 9.81;
  const double force = -BarrierFirst(0.5 * dhat, dhat);
  const auto pairs = testing::Compile(BoxScene(BarrierForm::kPerPair, 0));
  EXPECT_NEAR(10 * InitialBarrierStiffness(*pairs) * force, weight, 1e-9);
  const auto areas = testing::Compile(BoxScene(BarrierForm::kAreaWeighted, 0));
  EXPECT_NEAR(0.06 / 20 * InitialBarrierStiffness(*areas) * force, weight, 1e-9);
  // Weightless scenes are scaled as if on earth.
  SceneSpec scene = BoxScene(BarrierForm::kPerPair, 0);
  scene.gravity.setZero();
  EXPECT_NEAR(InitialBarrierStiffness(*testing::Compile(scene)), InitialBarrierStiffness(*pairs), 1e-9);
}

// A finger that the scene has press with 20 N at times rests under that, not under its weight; one that is drawn to a position may
// press with any force, and one body's finger is no load of another.
TEST(BarrierStiffness, WithoutOneAFingersCommandedForceRestsAtHalfOfDhat) {
  const double dhat = ContactSettings().dhat_m, force = -BarrierFirst(0.5 * dhat, dhat);
  SceneSpec scene = BoxScene(BarrierForm::kPerPair, 0);
  SliderSpec& light = scene.bodies[0].slider.emplace();
  light.slider.max_force_n = 50;
  light.slider.guide_stiffness_n_m = 1e7;
  light.slider.motion = {DriveMode::kForce, Interpolation::kLinear, {{0, 1}, {1, -20}, {2, 5}}};
  EXPECT_NEAR(10 * InitialBarrierStiffness(*testing::Compile(scene)) * force, 20 + 0.981, 1e-9);
  light.slider.stiffness_n_m = 100;
  light.slider.motion.mode = DriveMode::kPosition;
  EXPECT_NEAR(10 * InitialBarrierStiffness(*testing::Compile(scene)) * force, 9.81, 1e-9);
}

TEST(BarrierStiffness, DoublesWhereGapsAreSmallAndNeverFalls) {
  const auto model = testing::Compile(BoxScene(BarrierForm::kPerPair, 0));
  const double initial = InitialBarrierStiffness(*model);
  for (const double gap : {0.06, 0.6, 1.0})
    EXPECT_EQ(NextBarrierStiffness(*model, 8 * initial, {{.least_gap = gap}}, 1), 8 * initial);
  for (const double gap : {0.04, 1e-9}) EXPECT_EQ(NextBarrierStiffness(*model, initial, {{.least_gap = gap}}, 1), 2 * initial);
  double stiffness = initial;
  for (int k = 0; k < 100; ++k) stiffness = NextBarrierStiffness(*model, stiffness, {{.least_gap = 1e-9}}, 1);
  EXPECT_EQ(stiffness, BarrierStiffnessLimit(*model));
  // An impact on a barrier with most of the energy: by what a hundredth of the rest affords.
  ContactGroup impact = {.least_gap = 0.04,
                         .closing_gap = 0.04,
                         .contact_n = 1,
                         .inertia_n = 1,
                         .barrier_energy = 50,
                         .kinetic_energy = 60,
                         .stored_energy = 40};
  EXPECT_NEAR(NextBarrierStiffness(*model, initial, {impact}, 1) / initial, 1.02, 1e-12);
  // 1.1 kg may have what carries it at a gap of a twentieth of dhat.
  impact = {.least_gap = 0.04, .closing_gap = 0.04, .contact_n = 1, .inertia_n = 1, .load_n = 1.1 * 9.81};
  impact.barrier_energy = 4 * impact.load_n * 0.05 * std::log(20.0) * model->contact.dhat_m;
  EXPECT_NEAR(NextBarrierStiffness(*model, initial, {impact}, 1) / initial, 1.25, 1e-9);
  impact.closing_gap = 1;
  EXPECT_EQ(NextBarrierStiffness(*model, initial, {impact}, 1), initial) << "the gap opens";
  // What is pressed without being accelerated gets what it needs.
  impact.inertia_n = 0.09;
  EXPECT_EQ(NextBarrierStiffness(*model, initial, {impact}, 1), 2 * initial);
}

// A plate presses a stiff light block on the floor: what the barrier has is most of the energy, and its stiffness grows all the
// same.
TEST(BarrierStiffness, GrowsToWhatADrivePresses) {
  SceneSpec scene = testing::EmptyScene();
  scene.gravity = Vec3(0, 0, -9.81);
  scene.solver.newton_tolerance_m_s = 1e-4;
  scene.contact.form = BarrierForm::kAreaWeighted;
  scene.bodies = {testing::FullSpaceBox("block", Vec3::Constant(0.1), {2, 2, 2},
                                        testing::SoftMaterial(100, 1e7, 0.3, &StableNeoHookean::kDescriptor)),
                  testing::StaticSheet("floor", 0.4), testing::KinematicBox("plate", Vec3(0.12, 0.12, 0.02))};
  const double dhat = scene.contact.dhat_m, depth = 5e-4;
  scene.bodies[0].pose.position = Vec3(0.003, 0.002, 0.05 + 0.9 * dhat);
  scene.bodies[2].pose.position = Vec3(0, 0, 0.1 + 0.01 + 2 * dhat);
  Pose pressed = scene.bodies[2].pose;
  pressed.position.z() -= 2 * dhat + depth;
  scene.bodies[2].trajectory.keys = {{0, scene.bodies[2].pose}, {0.5, pressed}};
  World world(testing::Compile(scene));
  for (int n = 0; n < 100; ++n) testing::RunSteps(&world, 1, 0.01);
  EXPECT_EQ(world.report().missed_targets, 0);
  EXPECT_GT(world.report().min_distance_m, 0.05 * dhat);
}

// A drive that was stopped: while what it presses yields, which its energy beside that of the barrier tells.
TEST(BarrierStiffness, OfAJammedGroupGrowsWhileItYields) {
  const auto model = testing::Compile(BoxScene(BarrierForm::kPerPair, 0));
  const double initial = InitialBarrierStiffness(*model);
  const auto factor = [&](const std::vector<ContactGroup>& groups) {
    return NextBarrierStiffness(*model, initial, groups, 1) / initial;
  };
  ContactGroup group = {.least_gap = 1e-4, .contact_n = 1, .kinetic_energy = 0.2, .stored_energy = 0.8, .jammed = true};
  for (const auto& [barrier_energy, wanted] : {std::pair(0.0, 2.0), {1.9, 2.0}, {3.2, 1.25}, {4.0, 1.0}, {50.0, 1.0}}) {
    group.barrier_energy = barrier_energy;
    EXPECT_NEAR(factor({group}), wanted, 1e-12) << barrier_energy;
  }
  // One that does not yield holds no other one back, jammed or not, nor does one without small gaps.
  ContactGroup other = group;
  other.jammed = false;
  EXPECT_EQ(factor({other}), 2) << "heavy loads rest on stiff bodies";
  EXPECT_EQ(factor({group, other}), 2);
  other.jammed = true;
  other.barrier_energy = 0;
  EXPECT_EQ(factor({group, other}), 2);
  group.least_gap = 0.5;
  EXPECT_EQ(factor({group, other}), 2);
}

// Fingers close on a cube by a part of its size and lift it. They are stopped at first, for the first stiffness is made for its
// weight, and arrive when it has grown to what the squeeze needs; also where a table that a block lies on is stopped for good.
TEST(BarrierStiffness, GrowsToWhatStiffBodiesNeed) {
  constexpr double kSize = 0.04, kHeight = 0.04;
  for (const auto& [modulus, strain, with_table] : {std::tuple(1e7, 0.2, false), {1e9, 0.01, false}, {1e7, 0.2, true}}) {
    SceneSpec scene = testing::EmptyScene();
    scene.gravity = Vec3(0, 0, -9.81);
    scene.solver.newton_tolerance_m_s = 1e-4;
    scene.contact.form = BarrierForm::kAreaWeighted;
    scene.contact.dhat_m = 4e-4;
    scene.friction.dynamic_coefficient = 0.5;
    scene.bodies = {testing::FullSpaceBox("cube", Vec3::Constant(kSize), {2, 2, 2},
                                          testing::SoftMaterial(500, modulus, 0.3, &StableNeoHookean::kDescriptor)),
                    testing::KinematicBox("left", Vec3(0.008, 0.028, 0.028)),
                    testing::KinematicBox("right", Vec3(0.008, 0.028, 0.028)), testing::StaticSheet("floor", 1)};
    scene.bodies[0].pose.position = Vec3(0, 0, kSize / 2 + 2e-4);
    const double open = kSize / 2 + 0.004 + 6e-4, closed = kSize / 2 * (1 - strain) + 0.004;
    for (const int side : {-1, 1}) {
      BodySpec& finger = scene.bodies[side < 0 ? 1 : 2];
      const auto at = [&](double x, double lift) { return Pose{Vec3(side * x, 0, kSize / 2 + 1.2e-3 + lift), Quat::Identity()}; };
      finger.pose = at(open, 0);
      finger.trajectory.keys = {{0, at(open, 0)}, {0.2, at(closed, 0)}, {0.3, at(closed, 0)}, {0.6, at(closed, kHeight)}};
    }
    if (with_table) {
      scene.bodies.push_back(testing::KinematicBox("table", Vec3(0.04, 0.04, 0.02)));
      scene.bodies.push_back(testing::AffineBox("loose", Vec3::Constant(0.02), testing::StiffMaterial(300, 1e9)));
      BodySpec& table = scene.bodies[4];
      table.pose.position = Vec3(0.5, 0, 0.01 + 1e-5);
      table.trajectory.keys = {{0, table.pose}, {1, {Vec3(0.5, 0, 0), Quat::Identity()}}};
      scene.bodies[5].pose.position = Vec3(0.501, 0.002, 0.03 + 2e-4);
    }
    World world(testing::Compile(scene));
    testing::RunSteps(&world, 65, 0.01);
    EXPECT_EQ(world.report().missed_targets, with_table ? 1 : 0);
    EXPECT_NEAR(BodyPose(world.model(), world.state(), 0).position.z(), kSize / 2 + kHeight, 0.005) << modulus << with_table;
  }
}

SceneSpec BetweenPlates(const BodySpec& block) {
  SceneSpec scene = testing::EmptyScene();
  scene.solver.newton_tolerance_m_s = 1e-4;
  scene.contact.form = BarrierForm::kAreaWeighted;
  scene.bodies = {block, testing::KinematicBox("left", Vec3(0.02, 0.2, 0.2)), testing::KinematicBox("right", Vec3(0.02, 0.2, 0.2))};
  return scene;
}

// Two plates are commanded through each other with a soft block between them that they crush, stay there, and open again. No
// stiffness takes them further, so it does not grow while they stand; the steps converge, and what was crushed comes free.
TEST(BarrierStiffness, StaysWhereDrivesAreStopped) {
  SceneSpec scene = BetweenPlates(testing::FullSpaceBox("block", Vec3::Constant(0.1), {2, 2, 2},
                                                        testing::SoftMaterial(100, 1e5, 0.3, &StableNeoHookean::kDescriptor)));
  for (const int side : {-1, 1}) {
    Pose open = {Vec3(side * 0.065, 0, 0), Quat::Identity()}, closed = {Vec3(side * -0.01, 0, 0), Quat::Identity()};
    BodySpec& plate = scene.bodies[side < 0 ? 1 : 2];
    plate.pose = open;
    plate.trajectory.keys = {{0, open}, {0.2, closed}, {0.6, closed}, {0.8, open}};
  }
  World world(testing::Compile(scene));
  const double initial = world.state().barrier_stiffness;
  int jammed = 0;
  for (int n = 0; n < 100; ++n) {
    const double before = world.state().barrier_stiffness;
    testing::RunSteps(&world, 1, 0.01);
    const StepReport& report = world.report();
    EXPECT_EQ(report.outcome, StepOutcome::kConverged) << n;
    EXPECT_TRUE(testing::IsIntersectionFree(world)) << n;
    if (report.missed_targets == 0 || ++jammed == 1) continue;
    EXPECT_EQ(report.barrier_stiffness, before) << n << ": solved again with a stiffer barrier";
    if (n > 25 && n < 60) {
      EXPECT_LE(report.newton_iterations, 8) << n << ": nothing has changed since the step before";
    }
  }
  EXPECT_GT(jammed, 40);
  EXPECT_LT(world.state().barrier_stiffness, 1e6 * initial);
  EXPECT_EQ(world.report().missed_targets, 0);
}

// Plates close on a stiff block again and again, further than it yields. A stage in which a drive is blocked is not solved again
// with a stiffer barrier, which would take the drive no further: at each closing it would grow a hundredfold.
TEST(BarrierStiffness, StaysHoweverOftenDrivesAreStopped) {
  SceneSpec scene = BetweenPlates(testing::AffineBox("block", Vec3::Constant(0.1), testing::StiffMaterial(100, 1e6)));
  for (const int side : {-1, 1}) {
    BodySpec& plate = scene.bodies[side < 0 ? 1 : 2];
    plate.pose = {Vec3(side * 0.065, 0, 0), Quat::Identity()};
    for (int k = 0; k <= 10; ++k) {
      const Vec3 at(k % 2 == 0 ? side * 0.065 : side * -0.01, 0, 0);
      plate.trajectory.keys.push_back({0.1 * k, {at, Quat::Identity()}});
    }
  }
  World world(testing::Compile(scene));
  const double initial = world.state().barrier_stiffness;
  int jammed = 0;
  for (int n = 0; n < 100; ++n) {
    const double before = world.state().barrier_stiffness;
    testing::RunSteps(&world, 1, 0.01);
    EXPECT_EQ(world.report().outcome, StepOutcome::kConverged) << n;
    EXPECT_TRUE(testing::IsIntersectionFree(world)) << n;
    if (world.report().missed_targets == 0) continue;
    ++jammed;
    EXPECT_EQ(world.report().barrier_stiffness, before) << n;
  }
  EXPECT_GT(jammed, 20);
  EXPECT_LT(world.state().barrier_stiffness, 1e6 * initial);
}

// The same beside a drive that is idle, and beside cubes that hit a wall while plates are stopped and between. What that leaves in
// the world beside its state has no part in the steps after it.
TEST(BarrierStiffness, StaysWhereImpactsMeetStoppedDrives) {
  SceneSpec scene = BetweenPlates(testing::AffineBox("block", Vec3::Constant(0.1), testing::StiffMaterial(100, 1e6)));
  scene.bodies.insert(scene.bodies.begin(), testing::KinematicBox("idle", Vec3::Constant(0.02)));
  scene.bodies[0].pose.position = Vec3(0, 3, 0);
  for (const int side : {-1, 1}) {
    BodySpec& plate = scene.bodies[side < 0 ? 2 : 3];
    plate.pose = {Vec3(side * 0.065, 0, 0), Quat::Identity()};
    for (int k = 0; k <= 10; ++k) {
      const Vec3 at(k % 2 == 0 ? side * 0.065 : side * -0.01, 0, 0);
      plate.trajectory.keys.push_back({0.1 * k, {at, Quat::Identity()}});
    }
  }
  scene.bodies.push_back(testing::StaticBox("wall", Vec3(0.1, 2, 2)));
  scene.bodies.back().pose.position = Vec3(3, 0, 0);
  for (int k = 0; k < 5; ++k) {
    BodySpec cube = testing::AffineBox("cube" + std::to_string(k), Vec3::Constant(0.05), testing::StiffMaterial(1000, 1e8));
    cube.pose.position = Vec3(2.92 - 20 * (0.155 + 0.101 * k), 0.5 + 0.1 * k, 0);
    cube.linear_velocity = Vec3(20, 0, 0);
    scene.bodies.push_back(cube);
  }
  for (const IntegratorKind kind : {IntegratorKind::kBackwardEuler, IntegratorKind::kTrBdf2}) {
    scene.dynamics.integrator = kind;
    const auto model = testing::Compile(scene);
    World world(model);
    int jammed = 0;
    for (int n = 0; n < 80; ++n) {
      World fresh(model);
      ASSERT_TRUE(fresh.Restore(world.state()).ok());
      const double before = world.state().barrier_stiffness;
      testing::RunSteps(&world, 1, 0.01);
      testing::RunSteps(&fresh, 1, 0.01);
      EXPECT_EQ(world.state().Digest(), fresh.state().Digest()) << n;
      if (world.report().missed_targets == 0) continue;
      ++jammed;
      EXPECT_EQ(world.report().barrier_stiffness, before) << n;
    }
    EXPECT_GT(jammed, 10);
  }
}

// A drive that had no time to arrive is jammed as one that was stopped: else each step that time ends doubles the stiffness, up to
// its limit, and nothing lowers it again.
TEST(BarrierStiffness, StaysWhereTimeEndsTheStepsOfJammedDrives) {
  for (const int checks : {1, 2, 3}) {
    SceneSpec scene = BetweenPlates(testing::FullSpaceBox("block", Vec3::Constant(0.1), {2, 2, 2},
                                                          testing::SoftMaterial(100, 1e5, 0.3, &StableNeoHookean::kDescriptor)));
    for (const int side : {-1, 1}) {
      Pose open = {Vec3(side * 0.065, 0, 0), Quat::Identity()}, closed = {Vec3(side * -0.01, 0, 0), Quat::Identity()};
      BodySpec& plate = scene.bodies[side < 0 ? 1 : 2];
      plate.pose = open;
      plate.trajectory.keys = {{0, open}, {0.2, closed}, {0.6, closed}, {0.8, open}};
    }
    World world(testing::Compile(scene));
    const double initial = world.state().barrier_stiffness;
    for (int n = 0; n < 100; ++n) {
      StepInput input{0.01, {}};
      input.limit.ends_at_check = checks;
      ASSERT_TRUE(world.Step(input, {}).ok());
    }
    EXPECT_LT(world.state().barrier_stiffness, 1e8 * initial) << checks;
  }
}

// Stages that are predicted with the forces of the start move as fast as contact pushes there. That is no impact: a jam must not
// take the stiffness to its limit by it, where matrices lose their pivots and drives cannot open any more.
TEST(BarrierStiffness, StaysWhereDrivesAreStoppedInStages) {
  for (const IntegratorKind kind : {IntegratorKind::kTrBdf2, IntegratorKind::kSdirk2}) {
    SceneSpec scene = BetweenPlates(testing::FullSpaceBox(
        "block", Vec3::Constant(0.04), {2, 2, 2}, testing::SoftMaterial(500, 1e5, 0.3, &LogBarrierNeoHookean::kDescriptor)));
    scene.dynamics.integrator = kind;
    for (const int side : {-1, 1}) {
      Pose open = {Vec3(side * 0.033, 0, 0), Quat::Identity()}, closed = {Vec3(0, 0, 0), Quat::Identity()};
      BodySpec& plate = scene.bodies[side < 0 ? 1 : 2];
      plate.pose = open;
      plate.trajectory.keys = {{0, open}, {0.1, closed}, {0.3, closed}, {0.4, open}};
    }
    World world(testing::Compile(scene));
    const double initial = world.state().barrier_stiffness;
    testing::RunSteps(&world, 45, 0.01);
    EXPECT_LT(world.state().barrier_stiffness, 1e6 * initial) << static_cast<int>(kind);
    EXPECT_EQ(world.report().missed_targets, 0) << static_cast<int>(kind);
  }
}

BodySpec SoftCube(const char* name, const Vec3& position, const Vec3& velocity) {
  BodySpec cube = testing::FullSpaceBox(name, Vec3::Constant(0.1), {2, 2, 2},
                                        testing::SoftMaterial(1000, 1e4, 0.3, &StableNeoHookean::kDescriptor));
  cube.pose.position = position;
  cube.linear_velocity = velocity;
  return cube;
}

SceneSpec WithoutFriction(IntegratorKind kind) {
  SceneSpec scene = testing::EmptyScene();
  scene.dynamics.integrator = kind;
  scene.friction.dynamic_coefficient = 0;
  scene.contact.form = BarrierForm::kAreaWeighted;
  return scene;
}

// The largest sum of kinetic, stored and contact's energy after each of these steps, J.
double LargestEnergy(World* world, int steps, double dt) {
  double most = 0;
  for (int n = 0; n < steps; ++n) {
    testing::RunSteps(world, 1, dt);
    std::vector<Vec3> x;
    world->SurfacePositions(&x);
    const Energies e = ComputeEnergies(*world, x);
    most = std::max(most, e.kinetic_j + e.elastic_j + e.barrier_j);
  }
  return most;
}

constexpr IntegratorKind kSomeMethods[] = {IntegratorKind::kBackwardEuler, IntegratorKind::kVerlet, IntegratorKind::kVariational};

// A soft cube lands at steps that resolve how its nodes are stopped: a stiffness that grows while they are must not throw it back
// with a multiple of its energy. At longer steps the end of a step finds what was stopped on its way back.
TEST(BarrierStiffness, GrowthMakesLittleEnergyAtSmallSteps) {
  for (const IntegratorKind kind : kSomeMethods) {
    for (const auto& [speed, dt, steps] : {std::tuple(1.0, 1e-5, 300), std::tuple(3.0, 2e-6, 600)}) {
      SceneSpec scene = WithoutFriction(kind);
      const Vec3 above(0.003, 0.002, 0.05 + 1.01 * scene.contact.dhat_m);
      scene.bodies = {SoftCube("box", above, Vec3(0, 0, -speed)), testing::StaticSheet("floor", 0.4)};
      World world(testing::Compile(scene));
      const double initial = world.state().barrier_stiffness;
      EXPECT_LT(LargestEnergy(&world, steps, dt), 1.15 * 0.5 * speed * speed) << "method " << static_cast<int>(kind) << ", " << dt;
      EXPECT_GT(world.state().barrier_stiffness, 1.5 * initial) << "the landing is hard";
    }
  }
}

// Two of them meet while both fly, or slide along a floor: energy counts beside their common motion. The stiffness grows as gaps
// happen to close, on the floor five to ten times, and what that makes goes with it.
TEST(BarrierStiffness, GrowthMakesAsLittleEnergyInFlight) {
  constexpr double kFlight = 30, kSpeed = 3;
  for (const IntegratorKind kind : kSomeMethods) {
    for (const bool on_floor : {false, true}) {
      SceneSpec scene = WithoutFriction(kind);
      const double dhat = scene.contact.dhat_m;
      scene.bodies = {SoftCube("behind", Vec3(0, 0.002, 0), Vec3(kFlight + 0.5 * kSpeed, 0, 0)),
                      SoftCube("ahead", Vec3(0.1 + 1.2 * dhat, 0.006, 0), Vec3(kFlight - 0.5 * kSpeed, 0, 0)),
                      testing::StaticSheet("floor", 0.6)};
      scene.bodies[2].pose.position.z() = on_floor ? -0.05 - 0.9 * dhat : -1;
      World world(testing::Compile(scene));
      const double initial = world.state().barrier_stiffness;
      const double flight = kFlight * kFlight, relative = 0.25 * kSpeed * kSpeed;  // of 2 kg
      const double made = LargestEnergy(&world, 300, 2e-6) - flight, growth = world.state().barrier_stiffness / initial;
      EXPECT_LT(made, (on_floor ? 1.1 + 0.02 * growth : 1.15) * relative) << "method " << static_cast<int>(kind) << on_floor;
      EXPECT_GT(growth, 1.5) << "the impact is hard";
    }
  }
}

// A cube falls into the corner of a wall and a conveyor that moves like this.
SceneSpec Cornered(IntegratorKind kind, double fall, double slide) {
  SceneSpec scene = WithoutFriction(kind);
  const double gap = 1.01 * scene.contact.dhat_m;
  scene.bodies = {SoftCube("cube", Vec3(0, 0, 0.05 + gap), Vec3(-fall, 0, -fall)),
                  testing::KinematicBox("conveyor", Vec3(0.5, 0.5, 0.02)), testing::StaticSheet("wall", 0.3)};
  scene.bodies[1].pose.position.z() = -0.01;
  Pose end = scene.bodies[1].pose;
  end.position.x() += slide;
  scene.bodies[1].trajectory.keys = {{0, scene.bodies[1].pose}, {1, end}};
  scene.bodies[2].pose = {Vec3(-0.05 - gap, 0, 0.35), Quat(Eigen::AngleAxisd(0.5 * M_PI, Vec3::UnitY()))};
  return scene;
}

// Or it meets a plank of its mass in flight, while each slides like this.
SceneSpec OnAPlank(IntegratorKind kind, double fall, double slide) {
  SceneSpec scene = WithoutFriction(kind);
  const double gap = 1.01 * scene.contact.dhat_m;
  scene.bodies = {SoftCube("cube", Vec3(0, 0, 0.05 + gap), Vec3(slide, 0, -0.5 * fall)),
                  testing::AffineBox("plank", Vec3(1, 0.2, 0.02), testing::StiffMaterial(250, 1e7))};
  scene.bodies[1].pose.position.z() = -0.01;
  scene.bodies[1].linear_velocity = Vec3(-slide, 0, 0.5 * fall);
  return scene;
}

// What slides lends nothing: growth makes as much energy as where nothing does.
TEST(BarrierStiffness, GrowthMakesAsLittleEnergyBesideWhatSlides) {
  constexpr double kFall = 3, kDt = 2e-6;
  constexpr int kSteps = 600;
  for (const IntegratorKind kind : kSomeMethods) {
    double corner[2], plank[2];
    for (const int slides : {0, 1}) {
      World cornered(testing::Compile(Cornered(kind, kFall, slides * 30))),
          landed(testing::Compile(OnAPlank(kind, kFall, slides * 15)));
      const double initial = cornered.state().barrier_stiffness;
      corner[slides] = LargestEnergy(&cornered, kSteps, kDt) / (kFall * kFall);
      plank[slides] = (LargestEnergy(&landed, kSteps, kDt) - slides * 15 * 15) / (0.25 * kFall * kFall);
      EXPECT_GT(cornered.state().barrier_stiffness, 1.5 * initial) << "the landing is hard";
      EXPECT_GT(landed.state().barrier_stiffness, 1.5 * InitialBarrierStiffness(landed.model())) << "so is this one";
    }
    EXPECT_LT(corner[0], 1.3) << "method " << static_cast<int>(kind);
    EXPECT_NEAR(corner[1], corner[0], 0.01) << "method " << static_cast<int>(kind);
    EXPECT_LT(plank[0], 1.2) << "method " << static_cast<int>(kind);
    EXPECT_NEAR(plank[1], plank[0], 0.01) << "method " << static_cast<int>(kind);
  }
}

// A hammer of 8 kg lands on a tip of 0.8 g that is welded to it. The tip stands still while the joint presses it, and yet the
// landing is an impact: a stiffness that doubles in every step of it throws the hammer back with a third more than it came with.
TEST(BarrierStiffness, GrowthMakesLessEnergyThroughAJoint) {
  SceneSpec scene = WithoutFriction(IntegratorKind::kBackwardEuler);
  scene.bodies = {testing::AffineBox("hammer", Vec3::Constant(0.1), testing::StiffMaterial(8000, 1e7)),
                  testing::AffineBox("tip", Vec3::Constant(0.02), testing::StiffMaterial(100, 1e7)),
                  testing::StaticSheet("floor", 0.4)};
  const double floor = 1.1 * scene.contact.dhat_m;
  scene.bodies[0].pose.position.z() = floor + 0.075;
  scene.bodies[1].pose.position.z() = floor + 0.01;
  for (const int b : {0, 1}) scene.bodies[b].linear_velocity.z() = -0.6;
  JointSpec weld;
  weld.name = "weld";
  weld.kind = JointKind::kWeld;
  weld.body_a = "hammer";
  weld.body_b = "tip";
  weld.point.z() = floor + 0.02;
  weld.width_m = 0.01;
  weld.contact = false;
  scene.joints = {weld};
  World world(testing::Compile(scene));
  const double initial = world.state().barrier_stiffness;
  const double most = LargestEnergy(&world, 600, 2e-5);
  EXPECT_LT(most, 1.25 * 0.5 * 8 * 0.36);
  EXPECT_GT(world.state().barrier_stiffness, 1.5 * initial) << "the landing is hard";
}

// The stiffness is that of all contacts: what rests elsewhere must not be thrown up by a landing.
TEST(BarrierStiffness, ALandingLiftsNothingBesideIt) {
  double heights[2] = {};  // the largest, parts of dhat
  for (const bool hard : {false, true}) {
    SceneSpec scene = WithoutFriction(IntegratorKind::kBackwardEuler);
    scene.gravity = Vec3(0, 0, -9.81);
    const double dhat = scene.contact.dhat_m;
    scene.bodies = {SoftCube("box", Vec3(0.003, 0.002, 0.05 + 1.2 * dhat), Vec3(0, 0, hard ? -6 : -1e-3)),
                    testing::AffineBox("resting", Vec3::Constant(0.1), testing::StiffMaterial(1000, 1e7)),
                    testing::StaticSheet("floor", 1)};
    scene.bodies[1].pose.position = Vec3(0.3, 0, 0.05 + 0.5 * dhat);
    World world(testing::Compile(scene));
    for (int n = 0; n < 500; ++n) {
      testing::RunSteps(&world, 1, 4e-5);
      std::vector<Vec3> x;
      world.SurfacePositions(&x);
      heights[hard] = std::max(heights[hard], x[world.model().bodies[1].vertices.begin].z() / dhat);
    }
  }
  EXPECT_GT(heights[0], 0.5);
  EXPECT_LT(heights[1], heights[0] + 0.2);
}

// A foot that is held where no force can open its gap, or hardly, is no reason to grow: over a floor, and beside a wall whose upper
// edge is a little above the nodes that are held.
TEST(BarrierStiffness, LeavesAloneWhatForcesCannotOpen) {
  for (const double above : {0.0, 1e-8, 1e-4}) {
    SceneSpec scene = WithoutFriction(IntegratorKind::kBackwardEuler);
    const double dhat = scene.contact.dhat_m;
    scene.bodies = {SoftCube("post", Vec3::Zero(), Vec3::Zero()), testing::StaticSheet("wall", 0.4)};
    scene.bodies[1].pose.position.z() = -0.05 - 0.01 * dhat;
    if (above > 0) {
      scene.bodies[1].pose = {Vec3(-0.05 - 0.01 * dhat, 0, -0.25 + above), Quat(Eigen::AngleAxisd(0.5 * M_PI, Vec3::UnitY()))};
    }
    BoundarySetSpec foot;
    foot.name = "foot";
    foot.box = SelectionBox{Vec3(-1, -1, -0.051), Vec3(1, 1, -0.049)};
    scene.bodies[0].boundary_sets = {foot};
    World world(testing::Compile(scene));
    const double initial = world.state().barrier_stiffness;
    testing::RunSteps(&world, 20, 0.01);
    EXPECT_LT(world.report().min_distance_m, 0.02 * dhat);
    EXPECT_EQ(world.state().barrier_stiffness, initial) << above;
  }
}

// What an impact adds to the energy of the barrier is bounded by what moves; what lies pressed already is left alone.
TEST(BarrierStiffness, GrowsAtImpactsByWhatMovesOnly) {
  const auto model = testing::Compile(BoxScene(BarrierForm::kAreaWeighted, 0));
  const double initial = InitialBarrierStiffness(*model);
  const auto pressed = [](double barrier_energy) {
    return std::vector<ContactGroup>{{.least_gap = 0.01, .barrier_energy = barrier_energy}};
  };
  EXPECT_EQ(StiffnessForImpact(*model, initial, 1, 0, {}, 1), 100 * initial);
  EXPECT_EQ(StiffnessForImpact(*model, initial, 1, 0, pressed(1e-5), 1), 100 * initial);
  EXPECT_NEAR(StiffnessForImpact(*model, initial, 1, 0, pressed(1e-3), 1) / initial, 11, 1e-12);
  EXPECT_EQ(StiffnessForImpact(*model, initial, 1, 0, pressed(0.02), 1), initial);
  EXPECT_EQ(StiffnessForImpact(*model, 5e9 * initial, 1, 0, {}, 1), BarrierStiffnessLimit(*model));
  // A blocked drive: by what brings what it presses to a hundredth of the energy.
  EXPECT_NEAR(StiffnessForImpact(*model, initial, 1, 1e-3, {}, 1) / initial, 10, 1e-12);
  EXPECT_EQ(StiffnessForImpact(*model, initial, 1, 6e-3, {}, 1), initial);
  // What rests elsewhere: in a step that takes it where a stiffer barrier carries it, and in one that would throw it.
  const std::vector<ContactGroup> resting = {{.least_gap = 0.5, .contact_n = 1, .barrier_energy = 1e-4}};
  EXPECT_EQ(StiffnessForImpact(*model, initial, 1, 0, resting, 0.1), 100 * initial);
  EXPECT_EQ(StiffnessForImpact(*model, initial, 1, 0, resting, 1e-4), initial);
  const auto given = testing::Compile(BoxScene(BarrierForm::kAreaWeighted, 123));
  EXPECT_EQ(StiffnessForImpact(*given, 123, 1, 0, {}, 1), 123);
}

TEST(BarrierStiffness, PinchedIsWhatStaysSo) {
  PinchDetector pinch;
  for (int k = 0; k < 3; ++k) EXPECT_FALSE(pinch.Pinched(1e-3));
  EXPECT_FALSE(pinch.Pinched(0.02)) << "opened by itself";
  for (int k = 0; k < 3; ++k) EXPECT_FALSE(pinch.Pinched(1e-3));
  EXPECT_TRUE(pinch.Pinched(1e-3));
}

// A heavy block set down hard: while the stiffness grows, the smallest gap of a step is never less than that of the step before it
// grew, no state intersects, and the block comes to rest with the gap that the rule wants.
TEST(BarrierStiffness, GrowthOpensGaps) {
  SceneSpec scene = testing::EmptyScene();
  scene.gravity = Vec3(0, 0, -9.81);
  scene.solver.newton_tolerance_m_s = 1e-4;
  scene.contact.form = BarrierForm::kPerPair;
  scene.bodies = {testing::AffineBox("block", Vec3(0.1, 0.1, 0.1), testing::StiffMaterial(2000, 1e8)),
                  testing::StaticSheet("floor", 0.5)};
  scene.bodies[0].pose.position.z() = 0.05 + 2e-4;
  const auto model = testing::Compile(scene);
  World world(model);
  State softer = world.state();
  softer.barrier_stiffness = 2e-3 * InitialBarrierStiffness(*model);  // far too soft for the load
  ASSERT_TRUE(world.Restore(softer).ok());
  double last_gap = 0, last_stiffness = softer.barrier_stiffness;
  int grown = 0;
  for (int i = 0; i < 60; ++i) {
    ASSERT_TRUE(world.Step({0.01, {}}, {}).ok());
    ASSERT_TRUE(testing::IsIntersectionFree(world)) << i;
    const double gap = world.report().min_distance_m, stiffness = world.report().barrier_stiffness;
    EXPECT_GE(stiffness, last_stiffness);
    if (stiffness > last_stiffness) {
      ++grown;
      EXPECT_GE(gap, last_gap * 0.999) << i;
    }
    last_gap = gap;
    last_stiffness = stiffness;
  }
  EXPECT_GT(grown, 2);
  EXPECT_GE(last_gap, 0.05 * model->contact.dhat_m);
}

}  // namespace
}  // namespace eipc
