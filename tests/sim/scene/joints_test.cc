// What is wrong with joints, each with its path; and what a sound one is made into.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "sim/dynamics/state_codec.h"
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

const Vec3 kSize(0.1, 0.1, 0.1);

// A soft box, two stiff ones and a floor; a hinge of the stiff ones, a spring and an attachment.
SceneSpec Sound() {
  SceneSpec scene = testing::EmptyScene();
  scene.bodies = {testing::FullSpaceBox("soft", kSize, {2, 2, 2}, testing::SoftMaterial(1000, 1e5, 0.3)),
                  testing::AffineBox("stiff", kSize, testing::StiffMaterial(1000, 1e7)),
                  testing::AffineBox("other", kSize, testing::StiffMaterial(1000, 1e7)), testing::StaticSheet("floor", 0.5),
                  testing::KinematicBox("hand", kSize)};
  for (int b = 0; b < 5; ++b) scene.bodies[b].pose.position = Vec3(0.2 * b, 0, b == 3 ? 0 : 0.1);
  JointSpec hinge;
  hinge.name = "hinge";
  hinge.kind = JointKind::kHinge;
  hinge.body_a = "stiff";
  hinge.body_b = "other";
  hinge.point = Vec3(0.3, 0, 0.1);
  hinge.axis = Vec3::UnitY();
  JointSpec spring = hinge, pad = hinge;
  spring.name = "spring";
  spring.kind = JointKind::kSpring;
  spring.point_b = Vec3(0.4, 0, 0.2);
  spring.law.stiffness = 10;
  pad.name = "pad";
  pad.kind = JointKind::kAttachment;
  pad.body_a = "soft";
  pad.body_b = "stiff";
  pad.box = {Vec3(0.049, -1, -1), Vec3(1, 1, 1)};
  scene.joints = {hinge, spring, pad};
  return scene;
}

TEST(JointProblems, ASoundSceneHasNone) { EXPECT_THAT(ProblemsOf(Sound()), SizeIs(0)); }

TEST(JointProblems, OfNamesAndBodies) {
  const SceneSpec sound = Sound();
  const auto with = [&](auto change) {
    SceneSpec scene = sound;
    change(scene.joints[0]);
    return scene;
  };
  SceneSpec torn = sound;
  torn.joints[0].contact = true;
  torn.joints[1].contact = false;
  ExpectOnly(torn, "joints[1].contact", "\"hinge\" between the same bodies says otherwise");
  ExpectOnly(with([](JointSpec& j) { j.name = ""; }), "joints[0].name", "must not be empty");
  ExpectOnly(with([](JointSpec& j) { j.name = "spring"; }), "joints[1].name", "\"spring\" is used by another joint");
  ExpectOnly(with([](JointSpec& j) { j.body_a = "ghost"; }), "joints[0].body_a", "no body is named \"ghost\"");
  ExpectOnly(with([](JointSpec& j) { j.body_b = "ghost"; }), "joints[0].body_b", "no body is named \"ghost\"");
  ExpectOnly(with([](JointSpec& j) { j.body_b = "stiff"; }), "joints[0].body_b", "is body_a itself");
  ExpectOnly(with([](JointSpec& j) { j.kind.reset(); }), "joints[0]", "must be one of weld, ball, hinge");
  SceneSpec held = sound, fixed = sound;
  held.joints[0].body_a = "hand";
  held.joints[0].body_b = "floor";
  ExpectOnly(held, "joints[0]", "forces move neither of its bodies");
  fixed.joints[0].body_a = "hand";
  fixed.joints[0].body_b = "";
  ExpectOnly(fixed, "joints[0]", "forces move neither of its bodies");
  SceneSpec pad = sound;
  std::swap(pad.joints[2].body_a, pad.joints[2].body_b);
  ExpectOnly(pad, "joints[2].body_a", "vertices of a affine body cannot be attached one by one");
}

TEST(JointProblems, OfNumbers) {
  const double nan = std::nan("");
  struct Case {
    int joint;
    const char* path;
    const char* message;
    void (*change)(JointSpec*, double);
    double value;
  };
  const Case cases[] = {
      {0, ".stiffness_n_m", "must be >= 0, got -1", [](JointSpec* j, double v) { j->stiffness_n_m = v; }, -1},
      {0, ".drift_m", "must be >= 0, got nan", [](JointSpec* j, double v) { j->drift_m = v; }, nan},
      {0, ".drift_m", "leave one of the two out", [](JointSpec* j, double v) { j->drift_m = j->stiffness_n_m = v; }, 1},
      {0, ".hinge.point_m", "must be finite", [](JointSpec* j, double v) { j->point.y() = v; }, nan},
      {0, ".hinge.axis", "must be finite and not zero", [](JointSpec* j, double v) { j->axis = Vec3::Constant(v); }, 0},
      {0, ".hinge.axis", "must be finite and not zero", [](JointSpec* j, double v) { j->axis.x() = v; }, nan},
      {0, ".hinge.width_m", "must be >= 0, got -0.1", [](JointSpec* j, double v) { j->width_m = v; }, -0.1},
      {0, ".hinge.spring_nm_rad", "must be >= 0, got nan", [](JointSpec* j, double v) { j->law.stiffness = v; }, nan},
      {0, ".hinge.damping_nm_s_rad", "must be >= 0, got -2", [](JointSpec* j, double v) { j->law.damping = v; }, -2},
      {0, ".hinge.rest_rad", "must be finite", [](JointSpec* j, double v) { j->law.rest = v; }, nan},
      {0, ".hinge.lower_rad", "shuts out 0", [](JointSpec* j, double v) { j->law.lower = v; }, 0.1},
      {0, ".hinge.upper_rad", "shuts out 0", [](JointSpec* j, double v) { j->law.upper = v; }, -0.1},
      {0, ".hinge.lower_rad", "must not exceed upper_rad",
       [](JointSpec* j, double v) {
         j->law.lower = v;
         j->law.upper = -v;
       },
       1},
      {0, ".hinge.lower_rad", "must not exceed upper_rad", [](JointSpec* j, double v) { j->law.lower = v; }, nan},
      {0, ".hinge.stop_stiffness_nm_rad", "must be >= 0",
       [](JointSpec* j, double v) {
         j->law.stop_stiffness = v;
         j->law.upper = 1;
       },
       -1},
      {0, ".hinge.stop_stiffness_nm_rad", "no stop is", [](JointSpec* j, double v) { j->law.stop_stiffness = v; }, 5},
      {1, ".spring", "it would exert nothing", [](JointSpec* j, double v) { j->law.stiffness = v; }, 0},
      {1, ".spring.spring_n_m", "must be >= 0, got -3", [](JointSpec* j, double v) { j->law.stiffness = v; }, -3},
      {1, ".spring.rest_length_m", "must be >= 0, got -1", [](JointSpec* j, double v) { j->rest_length_m = v; }, -1},
      {1, ".spring.point_b_m", "must be finite", [](JointSpec* j, double v) { j->point_b.z() = v; }, nan},
      {1, ".stiffness_n_m", "a spring holds nothing fast", [](JointSpec* j, double v) { j->stiffness_n_m = v; }, 10},
      {2, ".attachment", "give vertices or a box", [](JointSpec* j, double) { j->box.reset(); }, 0},
  };
  for (const Case& c : cases) {
    SceneSpec scene = Sound();
    c.change(&scene.joints[c.joint], c.value);
    ExpectOnly(scene, "joints[" + std::to_string(c.joint) + "]" + c.path, c.message);
  }
}

TEST(JointProblems, OfPlaces) {
  SceneSpec far = Sound(), outside = Sound(), together = Sound(), none = Sound(), index = Sound();
  far.joints[0].point = Vec3(300, 0, 0);  // millimetres
  EXPECT_THAT(ProblemsOf(far), Contains(AllOf(StartsWith("joints[0].hinge.point_m: "), HasSubstr("m away from \"stiff\""))));
  outside.joints[0].body_a = "soft";
  outside.joints[0].kind = JointKind::kBall;
  ExpectOnly(outside, "joints[0].ball.point_m", "is outside of \"soft\", which deforms");
  together.joints[1].point_b = together.joints[1].point;
  together.joints[1].rest_length_m = 0.1;
  ExpectOnly(together, "joints[1].spring", "its ends are at the same place");
  none.joints[2].box = {Vec3(5, 5, 5), Vec3(6, 6, 6)};
  ExpectOnly(none, "joints[2].attachment", "selects no vertex");
  index.joints[2].vertices = {400};
  ExpectOnly(index, "joints[2].attachment.vertices", "index 400 is not one of the mesh's");
}

TEST(Joints, AreClosedAsPlaced) {
  for (const JointKind kind : {JointKind::kWeld, JointKind::kBall, JointKind::kHinge, JointKind::kSlider}) {
    SceneSpec scene = Sound();
    scene.bodies[1].pose.rotation = Quat(0.9, 0.1, -0.3, 0.2).normalized();
    scene.joints[0].kind = kind;
    const auto model = testing::Compile(scene);
    const State state = InitialState(*model);
    EXPECT_LT(state.joints[0].drift_m, 1e-15) << static_cast<int>(kind);
    EXPECT_NEAR(state.joints[0].position, 0, 1e-15) << static_cast<int>(kind);
    EXPECT_LT((model->joints[0].point.At(state.q) - scene.joints[0].point).norm(), 1e-15);
    EXPECT_LT((model->joints[0].pivot_b->At(state.q) - scene.joints[0].point).norm(), 1e-15);
  }
}

// Ten times the weight of what joints connect, and what strains the soft body by a tenth, over the drift.
TEST(Joints, StiffnessIsMadeFromWhatTheyConnect) {
  SceneSpec scene = Sound();
  scene.joints[0].drift_m = 1e-5;
  const auto model = testing::Compile(scene);
  const auto total = [](const Joint& joint) {
    double sum = 0;
    for (const Tie& tie : joint.ties) sum += tie.stiffness;
    return sum;
  };
  const double load = 100 * 3 * 1 + 0.1 * 1e5 * 0.1 * 0.1;  // three bodies of 1 kg
  EXPECT_NEAR(total(model->joints[0]), load / 1e-5, 1e-6 * load / 1e-5);
  EXPECT_NEAR(total(model->joints[2]), load / 1e-6, 1e-6 * load / 1e-6);
  EXPECT_EQ(model->joints[2].ties.size(), 9u);
  scene.joints[0].drift_m = 0;
  scene.joints[0].stiffness_n_m = 12345;
  EXPECT_NEAR(total(testing::Compile(scene)->joints[0]), 12345, 1e-9);
}

// Two sheets of 0.1 x 0.1 m that share an edge; the upper one's vertices are attached to the lower one.
SceneSpec SeamOf(const MaterialSpec& material, const ShellSpec& shell) {
  SceneSpec scene = testing::EmptyScene();
  for (const double side : {1.0, -1.0}) {
    BodySpec& sheet = scene.bodies.emplace_back();
    sheet.name = side > 0 ? "upper" : "lower";
    sheet.kind = BodyKind::kShell;
    sheet.mesh = testing::Sheet(0.05, 0, 4);
    sheet.pose.position.y() = 0.05 * side;
    sheet.material = material;
    sheet.shell = shell;
  }
  JointSpec& seam = scene.joints.emplace_back();
  seam.name = "seam";
  seam.kind = JointKind::kAttachment;
  seam.body_a = "upper";
  seam.body_b = "lower";
  seam.box = {Vec3(-1, -1, -1), Vec3(1, -0.0499, 1)};
  return scene;
}

// Of each sheet ten times the weight, and the tension of a tenth of strain over the width of a square of its area, however its
// constants are given.
TEST(Joints, StiffnessOfSheetsIsMadeFromTheirConstants) {
  constexpr double kThickness = 1e-3, kYoungs = 1e5, kNu = 0.3, kDensity = 400;
  const double stretching = kYoungs * kThickness, load = 2 * (100 * kDensity * kThickness * 0.01 + 0.1 * stretching * 0.1);
  ShellSpec plain, constants, plane_stress, cotton;
  plain.thickness_m = constants.thickness_m = plane_stress.thickness_m = kThickness;
  constants.mass_per_area_kg_m2 = plane_stress.mass_per_area_kg_m2 = kDensity * kThickness;
  constants.membrane_youngs_n_m = stretching;
  plane_stress.membrane_mu_n_m = stretching / (2 * (1 + kNu));
  plane_stress.membrane_lambda_n_m = stretching * kNu / (1 - kNu * kNu);
  const MaterialSpec by_numbers = {.density_kg_m3 = kDensity, .youngs_modulus_pa = kYoungs, .poissons_ratio = kNu};
  const MaterialSpec by_nu = {.poissons_ratio = kNu};
  cotton.fabric = "cotton";
  const Fabric& fabric = *FindFabric("cotton");
  const double fabric_load = 2 * (100 * fabric.density_kg_m3 * fabric.thickness_m * 0.01 +
                                  0.1 * fabric.membrane_share * fabric.youngs_modulus_pa * fabric.thickness_m * 0.1);
  const std::tuple<const char*, MaterialSpec, ShellSpec, double> cases[] = {{"E, nu, t, density", by_numbers, plain, load},
                                                                            {"E t, mass per area", by_nu, constants, load},
                                                                            {"mu, lambda, mass per area", {}, plane_stress, load},
                                                                            {"fabric", {}, cotton, fabric_load}};
  for (const auto& [name, material, shell, expected] : cases) {
    const auto model = testing::Compile(SeamOf(material, shell));
    double total = 0;
    for (const Tie& tie : model->joints[0].ties) total += tie.stiffness;
    EXPECT_EQ(model->joints[0].ties.size(), 5u) << name;
    EXPECT_NEAR(total, expected / 1e-6, 1e-9 * expected / 1e-6) << name;
  }
}

TEST(Joints, ContactIsOffWhereSurfacesOverlapOrTheSceneSaysSo) {
  SceneSpec scene = Sound();
  scene.joints = {scene.joints[0], scene.joints[1]};
  const auto contact = [](const SceneSpec& of, bool* enabled) {
    const auto model = testing::Compile(of);
    *enabled = model->surface.Enabled(1, 2);
    EXPECT_EQ(model->joints[0].contact, model->joints[1].contact);
    return model->joints[0].contact;
  };
  bool enabled = false;
  EXPECT_EQ(contact(scene, &enabled), JointContact::kOn);
  EXPECT_TRUE(enabled);
  scene.joints[0].contact = false;
  EXPECT_EQ(contact(scene, &enabled), JointContact::kOffByScene);
  EXPECT_FALSE(enabled);
  scene.joints[0].contact.reset();
  scene.bodies[2].pose.position.x() = 0.25;  // overlap
  EXPECT_EQ(contact(scene, &enabled), JointContact::kOffByOverlap);
  EXPECT_FALSE(enabled);
  // Asked for, it is an error as without a joint.
  scene.joints[0].contact = true;
  EXPECT_THAT(ProblemsOf(scene), Contains(HasSubstr("initial intersection")));
  scene.joints[0].contact.reset();
  scene.contact_pairs = {{"other", "stiff", true, {}}};
  EXPECT_THAT(ProblemsOf(scene), Contains(HasSubstr("initial intersection")));
}

TEST(Joints, OfAStateAreStoredWithIt) {
  const auto model = testing::Compile(Sound());
  World world(model);
  testing::RunSteps(&world, 3, 0.01);
  const absl::StatusOr<State> stored = DecodeState(EncodeState(world.state()), *model);
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_EQ(stored->Digest(), world.state().Digest());
  State other = *stored;
  other.joints[1].position += 1e-9;
  EXPECT_NE(other.Digest(), stored->Digest());
  other.joints.pop_back();
  EXPECT_FALSE(StateFits(other, *model));
}

}  // namespace
}  // namespace eipc
