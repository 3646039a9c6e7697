// What is wrong with a scene is all said at once, each problem with its path.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "tests/sim/mesh/shapes.h"
#include "tests/support/scene_problems.h"
#include "tests/support/scenes.h"

namespace eipc {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using testing::ExpectOnly;
using ::testing::HasSubstr;
using testing::ProblemsOf;
using ::testing::SizeIs;
using ::testing::StartsWith;

MaterialSpec Soft() { return testing::SoftMaterial(1000, 1e5, 0.3); }

// A soft box, a stiff one and a floor, well apart and sound.
SceneSpec Sound() {
  SceneSpec scene = testing::EmptyScene();
  scene.bodies = {testing::FullSpaceBox("soft", Vec3(0.1, 0.1, 0.1), {2, 2, 2}, Soft()),
                  testing::AffineBox("stiff", Vec3(0.1, 0.1, 0.1), testing::StiffMaterial(1000, 1e7)),
                  testing::StaticSheet("floor", 0.5)};
  scene.bodies[0].pose.position = Vec3(0, 0, 0.1);
  scene.bodies[1].pose.position = Vec3(0.3, 0, 0.1);
  return scene;
}

TEST(SceneProblems, ASoundSceneHasNone) { EXPECT_THAT(ProblemsOf(Sound()), SizeIs(0)); }

// Masses, moments and the barrier's stiffness would not be finite, and what would be said of them would not be what is wrong.
TEST(SceneProblems, OfNumbersOutOfRangeNameTheFieldTheNumberAndTheBound) {
  const auto expect = [](const std::function<void(SceneSpec*)>& spoil, const std::string& path, const std::string& problem) {
    SceneSpec scene = Sound();
    spoil(&scene);
    ExpectOnly(scene, path, problem);
  };
  expect([](SceneSpec* s) { s->bodies[0].external_force.x() = -1e300; }, "bodies[0].external_force_n",
         "must be at most 1e+30 in each coordinate, got 1e+300");
  expect([](SceneSpec* s) { s->bodies[0].material.density_kg_m3 = 1e307; }, "bodies[0].material.density_kg_m3",
         "must be at most 1e+30, got 1e+307");
  expect([](SceneSpec* s) { s->bodies[1].material.youngs_modulus_pa = 1e300; }, "bodies[1].material.youngs_modulus_pa",
         "must be at most 1e+30, got 1e+300");
  expect([](SceneSpec* s) { s->bodies[1].pose.position.z() = 1e200; }, "bodies[1].pose.position_m",
         "must be at most 1e+12 in each coordinate, got 1e+200");
  expect([](SceneSpec* s) { s->gravity.z() = -1e308; }, "gravity_m_s2", "must be at most 1e+30 in each coordinate, got 1e+308");
  expect([](SceneSpec* s) { s->contact.dhat_m = 1e-160; }, "contact.dhat_m", "must be at least 1e-30, got 1e-160");
  const auto scale = [](double factor) {
    return [factor](SceneSpec* s) {
      for (Vec3& p : s->bodies[1].mesh.vertices) p *= factor;
    };
  };
  expect(scale(1e160), "bodies[1].affine.surface", "must be at most 1e+12 in each coordinate, got 5e+158");
  expect(scale(1e-120), "bodies[1].affine.surface", "must have an extent of at least 1e-12 m, got 1e-121; is its scale right?");
}

TEST(SceneProblems, LargeAndSmallNumbersWithinTheRangeAreNone) {
  SceneSpec scene = Sound();
  scene.bodies[0].material.density_kg_m3 = scene.bodies[0].material.youngs_modulus_pa = 1e30;
  scene.bodies[1].external_force.x() = 1e30;
  scene.bodies[2].pose.position.z() = -1e12;
  EXPECT_THAT(ProblemsOf(scene), SizeIs(0));
}

SliderSpec SoundSlider() {
  SliderSpec spec;
  spec.slider.axis = Vec3::UnitX();
  spec.slider.max_force_n = 10;
  spec.slider.stiffness_n_m = 100;
  spec.slider.damping_n_s_m = 10;
  spec.slider.guide_stiffness_n_m = 1e7;
  spec.mass_kg = 0.1;
  return spec;
}

TEST(SceneProblems, OfSlidersNameTheField) {
  SceneSpec sound = Sound();
  sound.bodies[1].slider = SoundSlider();
  sound.bodies[0].boundary_sets.resize(1);
  BoundarySetSpec& set = sound.bodies[0].boundary_sets[0];
  set.name = "back";
  set.box = {Vec3(-1, -1, -0.06), Vec3(1, 1, -0.04)};
  set.slider = SoundSlider();
  EXPECT_THAT(ProblemsOf(sound), SizeIs(0));
  struct Case {
    double SliderSpec::*mass;
    double Slider::*number;
    double value;
    const char* path;
    const char* message;
  };
  const double nan = std::nan("");
  for (const Case& c : {Case{nullptr, &Slider::max_force_n, 0, ".max_force_n", "must be > 0, got 0"},
                        Case{nullptr, &Slider::max_force_n, -5, ".max_force_n", "must be > 0, got -5"},
                        Case{nullptr, &Slider::stiffness_n_m, nan, ".stiffness_n_m", "must be >= 0, got nan"},
                        Case{nullptr, &Slider::damping_n_s_m, -1, ".damping_n_s_m", "must be >= 0, got -1"},
                        Case{nullptr, &Slider::max_speed_m_s, nan, ".max_speed_m_s", "must be >= 0, got nan"},
                        Case{nullptr, &Slider::guide_stiffness_n_m, -1, ".guide_stiffness_n_m", "must be > 0, got -1"},
                        Case{&SliderSpec::mass_kg, nullptr, nan, ".mass_kg", "must be >= 0, got nan"}}) {
    SceneSpec whole = sound, part = sound;
    for (SliderSpec* spec : {&*whole.bodies[1].slider, &*part.bodies[0].boundary_sets[0].slider}) {
      (c.mass != nullptr ? spec->*c.mass : spec->slider.*c.number) = c.value;
    }
    ExpectOnly(whole, std::string("bodies[1].slider") + c.path, c.message);
    ExpectOnly(part, std::string("bodies[0].boundary_sets[0].slider") + c.path, c.message);
  }
}

TEST(SceneProblems, OfSlidersOnWhatCannotSlide) {
  SceneSpec scene = Sound();
  scene.bodies[1].slider = SoundSlider();
  SceneSpec axis = scene, motion = scene, force = scene, soft = scene, fixed = scene;
  axis.bodies[1].slider->slider.axis.setZero();
  ExpectOnly(axis, "bodies[1].slider.axis", "must be finite and not zero");
  motion.bodies[1].slider->slider.motion = {DriveMode::kForce, Interpolation::kLinear, {{0, 0}, {0, 11}}};
  EXPECT_THAT(ProblemsOf(motion),
              ::testing::UnorderedElementsAre(StartsWith("bodies[1].slider.motion.keys[1].time_s: must be later"),
                                              HasSubstr("bodies[1].slider.motion.keys[1].value: must be at most")));
  force.bodies[1].external_force = Vec3(1, 0, 0);
  ExpectOnly(force, "bodies[1].slider.mass_kg", "the body has an external_force_n");
  soft.bodies[0].slider = SoundSlider();
  ExpectOnly(soft, "bodies[0].slider", "a body that deforms does not slide as a whole");
  fixed.bodies[2].slider = SoundSlider();
  ExpectOnly(fixed, "bodies[2].slider", "forces do not move a static body");
}

TEST(SceneProblems, EveryWrongValueIsListedWithItsPath) {
  const double nan = std::nan("");
  SceneSpec scene = Sound();
  scene.gravity.y() = nan;
  scene.contact.dhat_m = 0;
  scene.contact.stiffness = -1;
  scene.contact.friction_velocity_m_s = nan;
  scene.contact.friction_lag_iterations = 0;
  scene.friction.dynamic_coefficient = -0.1;
  scene.solver.newton_tolerance_m_s = -1e-3;
  scene.solver.max_newton_iterations = 0;
  scene.dynamics.sleep = {-0.5, nan, 0};
  scene.schedule_duration_s = -1;
  scene.schedule_dt_s = nan;
  scene.holding = HoldingSpec{"nobody", 2, 1};
  scene.contact_pairs = {{"soft", "ghost", true, -1.0}, {"spirit", "floor", true, 0.5}};
  BodySpec& soft = scene.bodies[0];
  soft.material.density_kg_m3 = 0;
  soft.material.youngs_modulus_pa = -5;
  soft.material.poissons_ratio = 0.5;
  soft.material.rayleigh_alpha_per_s = -1;
  soft.material.rayleigh_beta_s = nan;
  soft.material.model = &MooneyRivlin::kDescriptor;
  soft.material.mooney_second_share = 1.5;
  soft.pose.position.x() = nan;
  soft.linear_velocity.x() = nan;
  soft.angular_velocity.x() = nan;
  soft.boundary_sets.resize(2);
  soft.boundary_sets[1].trajectory.keys = {{0, {}}, {0, {}}, {nan, {}}};
  scene.bodies[1].boundary_sets.resize(1);
  scene.bodies[1].boundary_sets[0].name = "grip";
  scene.bodies[1].boundary_sets[0].vertices = {0};
  scene.bodies[2].name = "soft";
  scene.bodies[2].linear_velocity = Vec3(1, 0, 0);
  scene.bodies[2].external_force = Vec3(0, 1, 0);
  scene.bodies[2].trajectory.keys = {{1, {}}, {0.5, {}}};
  const std::vector<std::string> lines = ProblemsOf(scene);
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"gravity_m_s2", "must be finite"},
      {"contact.dhat_m", "must be > 0, got 0"},
      {"contact.area_stiffness_n_m3", "must be >= 0, got -1"},
      {"contact.friction_velocity_m_s", "must be > 0"},
      {"contact.friction_lag_iterations", "must be in [1, 1000], got 0"},
      {"contact.friction_coefficient", "must be >= 0, got -0.1"},
      {"solver.newton_tolerance_m_s", "must be >= 0, got -0.001"},
      {"solver.max_newton_iterations", "must be in [1, 100000], got 0"},
      {"solver.sleep.after_s", "must be >= 0, got -0.5"},
      {"solver.sleep.speed_m_s", "must be >= 0"},
      {"solver.sleep.wake_acceleration_m_s2", "must be > 0, got 0"},
      {"schedule.duration_s", "must be >= 0, got -1"},
      {"schedule.dt_s", "must be >= 0"},
      {"schedule.holding.body", "no body is named \"nobody\""},
      {"schedule.holding.end_s", "must be later than start_s"},
      {"contact_pairs[0].body_b", "no body is named \"ghost\""},
      {"contact_pairs[0].friction_coefficient", "must be >= 0, got -1"},
      {"contact_pairs[1].body_a", "no body is named \"spirit\""},
      {"contact_pairs[1].body_b", "no body is named \"floor\""},
      {"bodies[2].external_force_n", "a force does not move a kinematic or static body"},
      {"bodies[0].material.density_kg_m3", "must be > 0, got 0"},
      {"bodies[0].material.youngs_modulus_pa", "must be > 0, got -5"},
      {"bodies[0].material.poissons_ratio", "must be > -1 and < 0.5, got 0.5"},
      {"bodies[0].material.rayleigh_alpha_per_s", "must be >= 0, got -1"},
      {"bodies[0].material.rayleigh_beta_s", "must be >= 0"},
      {"bodies[0].material.mooney_second_share", "must be in [0, 1], got 1.5"},
      {"bodies[0].pose.position_m", "must be finite"},
      {"bodies[0].linear_velocity_m_s", "must be finite"},
      {"bodies[0].angular_velocity_rad_s", "must be finite"},
      {"bodies[0].boundary_sets[0].name", "must not be empty"},
      {"bodies[0].boundary_sets[0]", "give vertices or a box"},
      {"bodies[0].boundary_sets[1].name", "is used by another set"},
      {"bodies[0].boundary_sets[1].trajectory.keyframes[1].time_s", "must be later than the keyframe before it (0), got 0"},
      {"bodies[0].boundary_sets[1].trajectory.keyframes[2].time_s", "must be finite"},
      {"bodies[1].boundary_sets", "this body (affine) is moved as a whole"},
      {"bodies[2].name", "\"soft\" is used by another body"},
      {"bodies[2]", "cannot have an initial velocity"},
      {"bodies[2].kinematic.trajectory.keyframes[1].time_s", "must be later"},
  };
  for (const auto& [path, what] : expected) {
    EXPECT_THAT(lines, Contains(AllOf(StartsWith(path + ": "), HasSubstr(what)))) << path;
  }
}

TEST(SceneProblems, NamesHaveALength) {
  SceneSpec scene = Sound();
  scene.name = scene.bodies[0].name = std::string(256, 'x');
  EXPECT_THAT(ProblemsOf(scene), SizeIs(0));
  scene.bodies[0].name += 'x';
  ExpectOnly(scene, "bodies[0].name", "must have at most 256 bytes, has 257");
  scene = Sound();
  scene.name = std::string(257, 'x');
  ExpectOnly(scene, "display_name", "must have at most 256 bytes, has 257");
}

TEST(SceneProblems, GoalsAreCheckedWithTheirPaths) {
  const double nan = std::nan("");
  SceneSpec scene = Sound();
  scene.schedule_duration_s = 2;
  const GoalMeasure anywhere = PositionMeasure{Vec3(0, 0, 0), Vec3(1, 1, 1), {}};
  scene.goals = {{"there", "soft", "floor", anywhere, 0, 2.0}, {"still", "soft", "", SpeedMeasure{}, 0, {}}};
  EXPECT_THAT(ProblemsOf(scene), SizeIs(0));
  scene.goals = {{"", "ghost", "spirit", PositionMeasure{Vec3(0, 2, 0), Vec3(1, 1, 1), Vec3(nan, 0, 0)}, -1, -0.5},
                 {"twice", "soft", "soft", DirectionMeasure{Vec3(0, 0, 0), Vec3(nan, 0, 0)}, nan, 2.5},
                 {"twice", "soft", "floor", SpeedMeasure{}, -2, {}},
                 {"nothing", "soft", "", std::nullopt, 0, {}},
                 {"endless", "soft", "", PositionMeasure{Vec3(0, nan, 0), Vec3(1, 1, 1), {}}, 0, {}}};
  const std::vector<std::string> lines = ProblemsOf(scene);
  const std::pair<std::string, std::string> expected[] = {
      {"goals[0].name", "must not be empty"},
      {"goals[0].body", "no body is named \"ghost\""},
      {"goals[0].relative_to", "no body is named \"spirit\""},
      {"goals[0].from_s", "must be >= 0, got -0.5"},
      {"goals[0].position.tolerance_m", "must be >= 0, got -1"},
      {"goals[0].position.point_m", "must be finite"},
      {"goals[0].position.region", "min_m must not exceed max_m"},
      {"goals[1].relative_to", "is the body itself"},
      {"goals[1].from_s", "must not be later than schedule.duration_s (2), got 2.5"},
      {"goals[1].direction.tolerance_rad", "must be >= 0"},
      {"goals[1].direction.axis", "must be finite and not zero"},
      {"goals[1].direction.direction", "must be finite and not zero"},
      {"goals[2].name", "\"twice\" is used by another goal"},
      {"goals[2].relative_to", "speeds are measured in the world"},
      {"goals[2].speed.tolerance_m_s", "must be >= 0, got -2"},
      {"goals[3]", "give one of position, direction and speed"},
      {"goals[4].position.region", "must be finite"},
  };
  EXPECT_THAT(lines, SizeIs(std::size(expected)));
  for (const auto& [path, what] : expected) {
    EXPECT_THAT(lines, Contains(AllOf(StartsWith(path + ": "), HasSubstr(what)))) << path;
  }
}

TEST(SceneProblems, WhatTheReaderFoundComesFirst) {
  Problems found;
  found.Add("bodies[0].full_space.mesh", "no such file");
  SceneSpec scene = Sound();
  scene.bodies[0].mesh = {};  // could not be read
  scene.bodies[1].material.density_kg_m3 = -1;
  const std::vector<std::string> lines = ProblemsOf(scene, found);
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_EQ(lines[0], "bodies[0].full_space.mesh: no such file");
  EXPECT_THAT(lines[1], HasSubstr("bodies[1].material.density_kg_m3"));
}

// What is checked of a material are its own parameters, whatever the kind of the body.
TEST(SceneProblems, MaterialsAreCheckedByTheirOwnParameters) {
  SceneSpec scene = Sound();
  scene.bodies[1].material.poissons_ratio = 0.7;  // the orthogonality potential of affine bodies has none
  EXPECT_THAT(ProblemsOf(scene), SizeIs(0));
  scene.bodies[1].material.model = &StableNeoHookean::kDescriptor;
  ExpectOnly(scene, "bodies[1].material.poissons_ratio", "must be > -1 and < 0.5, got 0.7");
}

TEST(SceneProblems, ASceneNeedsBodiesWithNames) {
  ExpectOnly(testing::EmptyScene(), "bodies", "at least one body");
  SceneSpec scene = Sound();
  scene.bodies[1].name = "";
  ExpectOnly(scene, "bodies[1].name", "must not be empty");
}

TEST(SceneProblems, PerPairStiffnessHasItsOwnField) {
  SceneSpec scene = Sound();
  scene.contact.form = BarrierForm::kPerPair;
  scene.contact.stiffness = -2;
  ExpectOnly(scene, "contact.pair_stiffness_n_m", "must be >= 0, got -2");
}

TEST(SceneProblems, MeshesThatCannotBeBodies) {
  const auto with_mesh = [](BodyKind kind, const MeshData& mesh) {
    SceneSpec scene = testing::EmptyScene();
    BodySpec body = testing::AffineBox("body", Vec3(0.1, 0.1, 0.1), testing::StiffMaterial(1000, 1e7));
    body.kind = kind;
    body.mesh = mesh;
    body.cage_vertices = 8;
    scene.bodies = {body};
    return scene;
  };
  const MeshData box = testing::BoxSurface(Vec3(0, 0, 0), Vec3(0.1, 0.1, 0.1));
  const MeshData tets = testing::BoxTetGrid(Vec3(0, 0, 0), Vec3(0.1, 0.1, 0.1), {2, 2, 2});
  ExpectOnly(with_mesh(BodyKind::kFullSpace, box), "bodies[0].full_space.mesh", "triangles only");

  MeshData inverted = tets;
  std::swap(inverted.tets[5][0], inverted.tets[5][1]);
  ExpectOnly(with_mesh(BodyKind::kFullSpace, inverted), "bodies[0].full_space.mesh", "5");

  MeshData open = box;
  open.triangles.pop_back();
  ExpectOnly(with_mesh(BodyKind::kEmbedded, open), "bodies[0].embedded.surface", "not closed");
  ExpectOnly(with_mesh(BodyKind::kAffine, open), "bodies[0].affine.surface", "not closed");
  EXPECT_THAT(ProblemsOf(with_mesh(BodyKind::kStatic, open)), SizeIs(0)) << "obstacles may be open";
  EXPECT_THAT(ProblemsOf(with_mesh(BodyKind::kKinematic, open)), SizeIs(0));

  MeshData inside_out = box;
  for (Triangle& t : inside_out.triangles) std::swap(t[0], t[1]);
  ExpectOnly(with_mesh(BodyKind::kEmbedded, inside_out), "bodies[0].embedded.surface", "inside out");
  ExpectOnly(with_mesh(BodyKind::kAffine, inside_out), "bodies[0].affine.surface", "inside out");

  MeshData not_finite = box;
  not_finite.vertices[3].z() = std::nan("");
  ExpectOnly(with_mesh(BodyKind::kStatic, not_finite), "bodies[0].static_body.surface", "3");
  MeshData out_of_range = box;
  out_of_range.triangles[2][1] = 99;
  ExpectOnly(with_mesh(BodyKind::kKinematic, out_of_range), "bodies[0].kinematic.surface", "2");
  ExpectOnly(with_mesh(BodyKind::kStatic, {}), "bodies[0].static_body.surface", "needs vertices and triangles");
}

TEST(SceneProblems, ACageMustHoldItsSurface) {
  SceneSpec scene = testing::EmptyScene();
  scene.bodies = {testing::EmbeddedBox("box", Vec3(0.1, 0.1, 0.1), {1, 1, 1}, Soft())};
  scene.bodies[0].cage = testing::BoxTetGrid(Vec3(-0.04, -0.06, -0.06), Vec3(0.06, 0.06, 0.06), {1, 1, 1});
  ExpectOnly(scene, "bodies[0].embedded", "outside");
  scene.bodies[0].cage = std::nullopt;
  scene.bodies[0].cage_vertices = 3;
  const std::vector<std::string> lines = ProblemsOf(scene);
  EXPECT_THAT(lines, Contains(AllOf(StartsWith("bodies[0].embedded.cage_vertices: "), HasSubstr("must be >= 4"))));
}

TEST(SceneProblems, CalibrationsOfCages) {
  SceneSpec scene = testing::EmptyScene();
  scene.bodies = {testing::EmbeddedBox("box", Vec3(0.1, 0.1, 0.1), {1, 1, 1}, Soft())};
  scene.bodies[0].calibration = CageCalibration{-1.0, std::nullopt};
  ExpectOnly(scene, "bodies[0].embedded.calibration.youngs_scale", "must be > 0");
  scene.bodies[0].calibration = CageCalibration{0.5, 0.5};
  ExpectOnly(scene, "bodies[0].embedded.calibration.poissons_ratio", "must be in [0, 0.5)");
  scene.bodies[0].calibration = CageCalibration{};
  scene.bodies[0].coarse_space = CoarseSpace::kCondensed;
  ExpectOnly(scene, "bodies[0].embedded.calibration", "belongs to the plain coarse space");
  scene.bodies[0].calibration.reset();
  scene.bodies[0].material.model = &LogBarrierNeoHookean::kDescriptor;
  ExpectOnly(scene, "bodies[0].embedded.coarse_space", "does not forbid inversion");
  scene.bodies[0].material.model = &AbdOrthogonality::kDescriptor;
  ExpectOnly(scene, "bodies[0].embedded.coarse_space", "elastic moduli");
}

TEST(SceneProblems, BoundarySets) {
  SceneSpec scene = Sound();
  BoundarySetSpec set;
  set.name = "a";
  set.vertices = {0, 27};
  scene.bodies[0].boundary_sets = {set};
  ExpectOnly(scene, "bodies[0].boundary_sets[0].vertices", "index 27 is not one of the mesh's 27 vertices");
  scene.bodies[0].boundary_sets[0].vertices = {-1};
  ExpectOnly(scene, "bodies[0].boundary_sets[0].vertices", "index -1");
  scene.bodies[0].boundary_sets[0].vertices = {};
  scene.bodies[0].boundary_sets[0].box = SelectionBox{Vec3(5, 5, 5), Vec3(6, 6, 6)};
  ExpectOnly(scene, "bodies[0].boundary_sets[0]", "selects no vertex");
  BoundarySetSpec other;
  other.name = "b";
  other.vertices = {4, 9};
  scene.bodies[0].boundary_sets = {set, other};
  scene.bodies[0].boundary_sets[0].vertices = {9, 1};
  ExpectOnly(scene, "bodies[0].boundary_sets[1]", "vertex 9 is already driven by \"a\"");
}

TEST(SceneProblems, InitialIntersectionsAreNamedByBodyAndTriangle) {
  SceneSpec scene = Sound();
  scene.bodies[1].pose.position = Vec3(0.05, 0.013, 0.107);  // half inside the soft box
  const std::vector<std::string> lines = ProblemsOf(scene);
  ASSERT_GE(lines.size(), 4u);
  EXPECT_THAT(lines[0], AllOf(StartsWith("bodies: initial intersection of bodies[0] \"soft\" triangle "),
                              HasSubstr(" with bodies[1] \"stiff\" triangle ")));
  // Disabling the pair makes the scene a scene.
  scene.contact_pairs = {{"stiff", "soft", false, std::nullopt}};
  EXPECT_THAT(ProblemsOf(scene), SizeIs(0));
}

TEST(SceneProblems, TouchingIsIntersecting) {
  SceneSpec scene = Sound();
  scene.bodies[0].pose.position.z() = 0.05;  // on the floor
  EXPECT_THAT(ProblemsOf(scene), Contains(HasSubstr("initial intersection")));
  scene.bodies[0].pose.position.z() = 0.05 + 1e-12;
  EXPECT_THAT(ProblemsOf(scene), SizeIs(0));
}

TEST(SceneProblems, ABodyInsideAnotherIsFound) {
  SceneSpec scene = Sound();
  BodySpec pebble = testing::AffineBox("pebble", Vec3(0.01, 0.01, 0.01), testing::StiffMaterial(1000, 1e7));
  pebble.pose.position = Vec3(0.31, 0.01, 0.11);
  scene.bodies.push_back(pebble);
  ExpectOnly(scene, "bodies", "\"pebble\" lies wholly inside \"stiff\" at the start");
}

TEST(SceneProblems, OfWhatFillsBodies) {
  const auto scene_with = [](int body, const EnclosedVolumeSpec& volume) {
    SceneSpec scene = Sound();
    scene.bodies[body].enclosed_volumes = {volume};
    return scene;
  };
  EnclosedVolumeSpec gas;
  EXPECT_THAT(ProblemsOf(scene_with(0, gas)), SizeIs(0));
  EXPECT_THAT(ProblemsOf(scene_with(1, gas)), SizeIs(0)) << "affine bodies can be filled";
  ExpectOnly(scene_with(2, gas), "bodies[2].enclosed_volumes", "cannot change its volume");
  gas.filling.overpressure_pa = -101325;
  ExpectOnly(scene_with(0, gas), "bodies[0].enclosed_volumes[0].overpressure_pa", "leaves no gas");
  EnclosedVolumeSpec water;
  water.filling.law = VolumeLaw::kNearlyIncompressible;
  ExpectOnly(scene_with(0, water), "bodies[0].enclosed_volumes[0].compressibility_per_pa", "must be > 0 for this law");
  EnclosedVolumeSpec cavity;
  cavity.cavities = true;
  ExpectOnly(scene_with(0, cavity), "bodies[0].enclosed_volumes[0]", "the surface has no cavity");
  EnclosedVolumeSpec elsewhere;
  elsewhere.box = SelectionBox{Vec3(5, 5, 5), Vec3(6, 6, 6)};
  ExpectOnly(scene_with(0, elsewhere), "bodies[0].enclosed_volumes[0]", "no closed part of the surface lies in the box");
}

TEST(SceneProblems, ManyIntersectionsAreCounted) {
  SceneSpec scene = testing::EmptyScene();
  scene.bodies = {testing::EmbeddedBox("a", Vec3(0.1, 0.1, 0.1), {4, 4, 4}, Soft()),
                  testing::EmbeddedBox("b", Vec3(0.1, 0.1, 0.1), {4, 4, 4}, Soft())};
  scene.bodies[1].pose = {Vec3(0.03, 0.02, 0.01), Quat(Eigen::AngleAxisd(0.5, Vec3(1, 1, 1).normalized()))};
  const std::vector<std::string> lines = ProblemsOf(scene);
  EXPECT_THAT(lines, SizeIs(17));
  EXPECT_THAT(lines.back(), HasSubstr("pairs of triangles intersect in all; the first 16 are listed"));
}

}  // namespace
}  // namespace eipc
