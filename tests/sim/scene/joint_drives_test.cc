// What is wrong with drives of joints, joints that follow others, pose drives and given inertias, each with its path.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

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

// Two boxes on hinges; the first is driven and the second follows it. A third box is drawn to a pose.
SceneSpec Sound() {
  SceneSpec scene = testing::EmptyScene();
  for (int k = 0; k < 3; ++k) {
    scene.bodies.push_back(testing::AffineBox("box" + std::to_string(k), Vec3(0.1, 0.1, 0.1), testing::StiffMaterial(1000, 1e7)));
    scene.bodies[k].pose.position.x() = 0.3 * k;
  }
  for (int k = 0; k < 2; ++k) {
    JointSpec hinge;
    hinge.name = "hinge" + std::to_string(k);
    hinge.kind = JointKind::kHinge;
    hinge.body_a = "box" + std::to_string(k);
    hinge.point = Vec3(0.3 * k, 0, 0.1);
    hinge.axis = Vec3::UnitY();
    scene.joints.push_back(hinge);
  }
  JointDrive drive;
  drive.gains = {5, 100, 2, 3};
  drive.motion = {DriveMode::kPosition, Interpolation::kLinear, {{0, 0}, {1, 0.5}}};
  scene.joints[0].drive = drive;
  scene.joints[1].mimic = {"hinge0", {-0.5, 0, 0}};
  PoseDriveGains gains;
  gains.stiffness.setConstant(100);
  gains.max_force.setConstant(10);
  scene.bodies[2].pose_drive = gains;
  MassProperties inertia;
  inertia.mass = 2;
  inertia.inertia = Vec3(0.003, 0.003, 0.004).asDiagonal();
  scene.bodies[0].inertia = inertia;
  return scene;
}

TEST(JointDriveProblems, ASoundSceneHasNone) { EXPECT_THAT(ProblemsOf(Sound()), SizeIs(0)); }

TEST(JointDriveProblems, OfNumbersAndNames) {
  struct Case {
    const char* path;
    const char* message;
    void (*change)(SceneSpec*);
  };
  const Case cases[] = {
      {"joints[0].drive.max_effort", "must be > 0, got 0", [](SceneSpec* s) { s->joints[0].drive->gains.max_effort = 0; }},
      {"joints[0].drive.stiffness", "must be >= 0, got nan",
       [](SceneSpec* s) {
         s->joints[0].drive->gains.stiffness = std::nan("");
         s->joints[0].drive->motion = {};
       }},
      {"joints[0].drive.damping", "must be >= 0, got -1", [](SceneSpec* s) { s->joints[0].drive->gains.damping = -1; }},
      {"joints[0].drive.max_speed", "must be >= 0, got -1", [](SceneSpec* s) { s->joints[0].drive->gains.max_speed = -1; }},
      {"joints[0].drive.max_acceleration", "must be >= 0, got -1", [](SceneSpec* s) { s->joints[0].drive->max_acceleration = -1; }},
      {"joints[0].drive.motion.keys[1].time_s", "must be later",
       [](SceneSpec* s) { s->joints[0].drive->motion.keys[1].time_s = 0; }},
      {"joints[0].drive.motion.keys[1].value", "must be at most the drive's max_effort (5), got 6",
       [](SceneSpec* s) {
         s->joints[0].drive->motion.mode = DriveMode::kForce;
         s->joints[0].drive->motion.keys[1].value = 6;
       }},
      {"joints[0].drive", "only a hinge or slider has a coordinate to drive",
       [](SceneSpec* s) {
         s->joints[0].kind = JointKind::kBall;
         s->joints[1].mimic.reset();
       }},
      {"joints[1].mimic.joint", "no joint is named \"knee\"", [](SceneSpec* s) { s->joints[1].mimic->joint = "knee"; }},
      {"joints[1].mimic.joint", "is the joint itself", [](SceneSpec* s) { s->joints[1].mimic->joint = "hinge1"; }},
      {"joints[0].mimic.joint", "\"hinge1\" follows \"hinge0\" itself",
       [](SceneSpec* s) {
         s->joints[0].mimic = {"hinge1", {}};
       }},
      {"joints[1].mimic.multiplier", "must be finite and not zero", [](SceneSpec* s) { s->joints[1].mimic->law.multiplier = 0; }},
      {"bodies[2].pose_drive.max_force_n.y", "must be > 0", [](SceneSpec* s) { s->bodies[2].pose_drive->max_force.y() = 0; }},
      {"bodies[2].pose_drive.stiffness_n_m.z", "must be >= 0, got -5",
       [](SceneSpec* s) { s->bodies[2].pose_drive->stiffness.z() = -5; }},
      {"bodies[2].pose_drive.max_moment_nm", "must be > 0", [](SceneSpec* s) { s->bodies[2].pose_drive->turn_damping = 1; }},
      {"bodies[0].affine.inertia", "is that of no body", [](SceneSpec* s) { s->bodies[0].inertia->inertia(2, 2) = 0.007; }},
      {"bodies[0].affine.inertia.mass_kg", "must be > 0, got 0", [](SceneSpec* s) { s->bodies[0].inertia->mass = 0; }},
  };
  for (const Case& c : cases) {
    SceneSpec scene = Sound();
    c.change(&scene);
    const std::vector<std::string> problems = ProblemsOf(scene);
    EXPECT_THAT(problems, Contains(AllOf(StartsWith(std::string(c.path) + ": "), HasSubstr(c.message)))) << c.path;
  }
}

// Forces would not be finite, or so large that no step is solved.
TEST(JointDriveProblems, OfNumbersOutOfRange) {
  struct Case {
    const char* path;
    void (*change)(SceneSpec*);
    const char* bound;
  };
  const Case cases[] = {
      {"joints[0].stiffness_n_m", [](SceneSpec* s) { s->joints[0].stiffness_n_m = 1e200; }, "at most 1e+30, got 1e+200"},
      {"joints[0].drift_m", [](SceneSpec* s) { s->joints[0].drift_m = 1e-200; }, "at least 1e-30, got 1e-200"},
      {"joints[0].hinge.point_m", [](SceneSpec* s) { s->joints[0].point.x() = 1e200; }, "at most 1e+12"},
      {"joints[0].hinge.width_m", [](SceneSpec* s) { s->joints[0].width_m = 1e200; }, "at most 1e+12"},
      {"joints[0].hinge.spring_nm_rad", [](SceneSpec* s) { s->joints[0].law.stiffness = 1e200; }, "at most 1e+30"},
      {"joints[0].hinge.damping_nm_s_rad", [](SceneSpec* s) { s->joints[0].law.damping = 1e200; }, "at most 1e+30"},
      {"joints[0].hinge.rest_rad", [](SceneSpec* s) { s->joints[0].law.rest = -1e200; }, "at most 1e+30, got -1e+200"},
      {"joints[0].drive.max_effort", [](SceneSpec* s) { s->joints[0].drive->gains.max_effort = 1e200; }, "at most 1e+30"},
      {"joints[0].drive.stiffness", [](SceneSpec* s) { s->joints[0].drive->gains.stiffness = 1e200; }, "at most 1e+30"},
      {"joints[0].drive.damping", [](SceneSpec* s) { s->joints[0].drive->gains.damping = 1e200; }, "at most 1e+30"},
      {"joints[0].drive.max_acceleration", [](SceneSpec* s) { s->joints[0].drive->max_acceleration = 1e200; }, "at most 1e+30"},
      {"joints[0].drive.motion.keys[1].value", [](SceneSpec* s) { s->joints[0].drive->motion.keys[1].value = -1e200; },
       "at most 1e+30, got 1e+200"},
      {"joints[1].mimic.multiplier", [](SceneSpec* s) { s->joints[1].mimic->law.multiplier = 1e200; }, "at most 1e+30"},
      {"joints[1].mimic.stiffness", [](SceneSpec* s) { s->joints[1].mimic->law.stiffness = 1e200; }, "at most 1e+30"},
      {"bodies[2].pose_drive.stiffness_n_m", [](SceneSpec* s) { s->bodies[2].pose_drive->stiffness.y() = 1e200; }, "at most 1e+30"},
      {"bodies[2].pose_drive.max_force_n", [](SceneSpec* s) { s->bodies[2].pose_drive->max_force.x() = 1e200; }, "at most 1e+30"},
  };
  for (const Case& c : cases) {
    SceneSpec scene = Sound();
    c.change(&scene);
    ExpectOnly(scene, c.path, c.bound);
  }
  SceneSpec large = Sound();
  large.joints[0].stiffness_n_m = large.joints[0].drive->gains.stiffness = large.joints[0].drive->max_acceleration = 1e30;
  EXPECT_THAT(ProblemsOf(large), SizeIs(0));
}

TEST(PoseDriveProblems, OfBodiesThatCannotBeDrawn) {
  SceneSpec scene = Sound();
  scene.bodies[2] = testing::KinematicBox("box2", Vec3(0.1, 0.1, 0.1));
  scene.bodies[2].pose.position.x() = 0.6;
  scene.bodies[2].pose_drive = Sound().bodies[2].pose_drive;
  ExpectOnly(scene, "bodies[2].pose_drive", "draws affine bodies only, and this one is kinematic; make it an affine one");
}

// Problems of all bodies are found before the scene is refused, so the drive of a body without nodes must be passed over.
TEST(PoseDriveProblems, OfBodiesThatHaveNoFourNodes) {
  for (const BodySpec& body : {testing::StaticSheet("body", 0.1), testing::FullSpaceBox("body", Vec3(0.1, 0.1, 0.1), {2, 2, 2},
                                                                                        testing::SoftMaterial(1000, 1e5, 0.3))}) {
    SceneSpec scene = testing::EmptyScene();
    scene.bodies = {testing::StaticSheet("floor", 0.5), body};
    scene.bodies[1].pose.position.z() = 1;
    scene.bodies[1].pose_drive = Sound().bodies[2].pose_drive;
    const std::vector<std::string> problems = ProblemsOf(scene);
    EXPECT_THAT(problems, Contains(HasSubstr("bodies[1].pose_drive: draws affine bodies only"))) << RowOf(body.kind).name;
  }
}

// The mass matrix has the given mass, centre and inertia: momenta of a turning body are those of the given one.
TEST(GivenInertia, IsThatOfTheBody) {
  SceneSpec scene = testing::EmptyScene();
  scene.bodies = {testing::AffineBox("link", Vec3(0.1, 0.1, 0.1), testing::StiffMaterial(1000, 1e8))};
  MassProperties given;
  given.mass = 2;
  given.center_of_mass = Vec3(0.02, -0.01, 0.03);
  given.inertia << 0.004, 0.0005, 0, 0.0005, 0.005, -0.0002, 0, -0.0002, 0.006;
  scene.bodies[0].inertia = given;
  scene.bodies[0].pose.rotation = Quat(Eigen::AngleAxisd(0.7, Vec3(1, 2, 3).normalized()));
  scene.bodies[0].angular_velocity = Vec3(0.3, -0.2, 0.5);
  scene.bodies[0].linear_velocity = Vec3(1, 2, 3);
  const auto model = testing::Compile(scene);
  const State state = InitialState(*model);
  const Mat3 r = scene.bodies[0].pose.rotation.toRotationMatrix();
  EXPECT_LT((testing::LinearMomentum(*model, state, 0) - 2 * Vec3(1, 2, 3)).norm(), 1e-12);
  const Vec3 centre = r * given.center_of_mass;
  const Vec3 expected = r * given.inertia * r.transpose() * Vec3(0.3, -0.2, 0.5) + 2 * centre.cross(Vec3(1, 2, 3));
  EXPECT_LT((testing::AngularMomentum(*model, state, 0) - expected).norm(), 1e-12);
  EXPECT_LT((model->bodies[0].initial_pose.position - centre).norm(), 1e-15);
}

}  // namespace
}  // namespace eipc
