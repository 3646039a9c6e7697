// What an import of a robot description has, what it passes over, and what it says of bad ones.

#include "sim/robot/read_urdf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "sim/robot/kinematics.h"
#include "tests/sim/robot/robots.h"

namespace eipc {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

TEST(ReadUrdf, HasLinksAndJointsInTheOrderOfTheTree) {
  const Robot robot = testing::Arm().robot;
  EXPECT_EQ(robot.name, "arm_gripper");
  std::vector<std::string> links, joints;
  for (const Link& link : robot.links) links.push_back(link.name);
  for (const RobotJoint& joint : robot.joints) joints.push_back(joint.name);
  EXPECT_THAT(links, ElementsAre("base", "upper_arm", "forearm", "wrist", "palm", "left_finger", "right_finger"));
  EXPECT_THAT(joints, ElementsAre("turn", "elbow", "roll", "mount", "left", "right"));
  for (size_t j = 0; j < robot.joints.size(); ++j) {
    EXPECT_EQ(robot.joints[j].child, static_cast<int32_t>(j) + 1);
    EXPECT_LT(robot.joints[j].parent, robot.joints[j].child);
  }
}

TEST(ReadUrdf, HasWhatJointsAre) {
  const Robot robot = testing::Arm().robot;
  const RobotJoint& elbow = robot.joints[FindJoint(robot, "elbow")];
  EXPECT_EQ(elbow.type, JointType::kRevolute);
  EXPECT_EQ(elbow.axis, Vec3(0, 1, 0));  // the description has (0 2 0)
  EXPECT_EQ(elbow.origin.position, Vec3(0.3, 0, 0.03));
  EXPECT_EQ(elbow.limits.lower, -2);
  EXPECT_EQ(elbow.limits.upper, 2);
  EXPECT_EQ(elbow.limits.effort, 20);
  EXPECT_EQ(elbow.limits.speed, 2);
  EXPECT_EQ(elbow.damping, 0.1);
  EXPECT_EQ(elbow.friction, 0.02);
  const RobotJoint& roll = robot.joints[FindJoint(robot, "roll")];
  EXPECT_EQ(roll.type, JointType::kContinuous);
  EXPECT_TRUE(std::isinf(roll.limits.lower) && std::isinf(roll.limits.upper));
  EXPECT_EQ(roll.limits.effort, 5);
  EXPECT_EQ(robot.joints[FindJoint(robot, "mount")].type, JointType::kFixed);
  const RobotJoint& right = robot.joints[FindJoint(robot, "right")];
  EXPECT_EQ(right.type, JointType::kPrismatic);
  ASSERT_TRUE(right.mimic.has_value());
  EXPECT_EQ(right.mimic->joint, FindJoint(robot, "left"));
  EXPECT_EQ(right.mimic->multiplier, 1);
  EXPECT_EQ(right.mimic->offset, 0);
}

TEST(ReadUrdf, HasInertiaAndCollisionShapes) {
  const Robot robot = testing::Arm().robot;
  const Link &base = robot.links[0], &palm = robot.links[4], &finger = robot.links[5];
  ASSERT_TRUE(base.inertia.has_value());
  EXPECT_EQ(base.inertia->mass_kg, 2);
  EXPECT_EQ(base.inertia->frame.position, Vec3(0, 0, 0.05));
  EXPECT_EQ(base.inertia->inertia.diagonal(), Vec3(0.004, 0.004, 0.005));
  EXPECT_EQ(std::get<CylinderShape>(base.collision[0].shape).length, 0.1);
  EXPECT_FALSE(robot.links[3].inertia.has_value());
  ASSERT_THAT(palm.collision, SizeIs(2));
  EXPECT_EQ(palm.collision[1].name, "flange");
  EXPECT_EQ(palm.collision[1].pose.position, Vec3(0, 0, -0.02));
  EXPECT_EQ(std::get<BoxShape>(palm.collision[0].shape).size, Vec3(0.03, 0.1, 0.03));
  EXPECT_EQ(std::get<SphereShape>(palm.collision[1].shape).radius, 0.015);
  const MeshShape& mesh = std::get<MeshShape>(finger.collision[0].shape);
  EXPECT_THAT(mesh.file, HasSubstr("models/robots/finger.obj"));
  EXPECT_EQ(mesh.vertices, 8);
  EXPECT_EQ(mesh.triangles, 12);
}

TEST(ReadUrdf, ListsWhatItIgnores) {
  const RobotImport import = testing::Arm();
  EXPECT_THAT(import.ignored, ElementsAre("robot/joint/safety_controller (line 30)", "robot/link/visual (line 14)",
                                          "robot/material (line 4)", "robot/transmission (line 129)"));
  EXPECT_THAT(import.warnings, IsEmpty());
}

// A robot of two links with one joint between them, in lines that tests replace.
constexpr char kPair[] = R"(<robot name="pair">
  <link name="a"/>
  <link name="b">
    <inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
    <collision><geometry><sphere radius="0.1"/></geometry></collision>
  </link>
  <joint name="j" type="revolute">
    <parent link="a"/>
    <child link="b"/>
    <axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/>
  </joint>
</robot>)";

std::string Changed(const std::string& from, const std::string& to) {
  const std::string text = absl::StrReplaceAll(kPair, {{from, to}});
  EXPECT_NE(text, kPair) << from;
  return text;
}

std::vector<std::string> Problems(const std::string& text) {
  const absl::StatusOr<RobotImport> import = ParseUrdf(text, "pair.urdf");
  if (import.ok()) return {};
  EXPECT_EQ(import.status().code(), absl::StatusCode::kInvalidArgument);
  return absl::StrSplit(std::string(import.status().message()), '\n');
}

TEST(ReadUrdf, TakesTheRobotThatTheTestsChange) { EXPECT_THAT(Problems(kPair), IsEmpty()); }

struct BadInput {
  const char *from, *to, *place, *what;
};

class BadUrdf : public ::testing::TestWithParam<BadInput> {};

TEST_P(BadUrdf, IsRefusedWithItsPlace) {
  const BadInput& bad = GetParam();
  EXPECT_THAT(Problems(Changed(bad.from, bad.to)),
              ElementsAre(AllOf(StartsWith(std::string("pair.urdf:") + bad.place), HasSubstr(bad.what))));
}

constexpr char kJoint[] = "7: robot/joint[@name=\"j\"]";
constexpr char kThird[] =
    "</joint><link name=\"c\"/><joint name=\"k\" type=\"fixed\"><parent link=\"b\"/><child link=\"c\"/></joint>";

INSTANTIATE_TEST_SUITE_P(
    ReadUrdf, BadUrdf,
    ::testing::Values(
        BadInput{"xyz=\"0 0 1\"", "xyz=\"0 0 0\"", "10: robot/joint[@name=\"j\"]/axis/@xyz", "must not be zero"},
        BadInput{"xyz=\"0 0 1\"", "xyz=\"0 nan 1\"", "10: robot/joint[@name=\"j\"]/axis/@xyz", "must be finite, got nan"},
        BadInput{"xyz=\"0 0 1\"", "xyz=\"0 1\"", "10: robot/joint[@name=\"j\"]/axis/@xyz", "must be 3 numbers"},
        BadInput{"xyz=\"0 0 1\"", "", "10: robot/joint[@name=\"j\"]/axis", "needs the attribute xyz"},
        BadInput{"effort=\"1\"", "effort=\"-1\"", "11: robot/joint[@name=\"j\"]/limit/@effort", "must be >= 0, got -1"},
        BadInput{"velocity=\"1\"", "velocity=\"-2\"", "11: robot/joint[@name=\"j\"]/limit/@velocity", "must be >= 0, got -2"},
        BadInput{"upper=\"1\"", "upper=\"-1.5\"", "11: robot/joint[@name=\"j\"]/limit/@upper", "must be >= lower (-1), got -1.5"},
        BadInput{"effort=\"1\"", "effort=\"inf\"", "11: robot/joint[@name=\"j\"]/limit/@effort", "must be finite"},
        BadInput{"effort=\"1\"", "effort=\"a lot\"", "11: robot/joint[@name=\"j\"]/limit/@effort",
                 "must be a number, got \"a lot\""},
        BadInput{"type=\"revolute\"", "type=\"floating\"", "7: robot/joint[@name=\"j\"]/@type", "several coordinates"},
        BadInput{"<parent link=\"a\"/>", "<parent link=\"base\"/>", "8: robot/joint[@name=\"j\"]/parent/@link",
                 "no link is named \"base\""},
        BadInput{"<parent link=\"a\"/>", "", kJoint, "needs an element <parent>"},
        BadInput{"<parent link=\"a\"/>", "<parent link=\"b\"/>", kJoint, "joints \"j\" form a loop"},
        BadInput{"</joint>", "</joint><link name=\"c\"/>", "12: robot/link[@name=\"c\"]", "one link alone may be the root"},
        BadInput{"</joint>", "</joint><link name=\"a\"/>", "12: robot/link[@name=\"a\"]", "the link in line 2 has this name too"},
        BadInput{"<limit lower=\"-1\" upper=\"1\" effort=\"1\" velocity=\"1\"/>",
                 "<mimic joint=\"k\"/><limit effort=\"1\" velocity=\"1\" upper=\"1\"/>",
                 "11: robot/joint[@name=\"j\"]/mimic/@joint", "no joint is named \"k\""},
        BadInput{"<limit ", "<mimic joint=\"j\"/><limit ", "11: robot/joint[@name=\"j\"]/mimic/@joint",
                 "mimic each other in a loop"},
        BadInput{"<limit ", "<mimic joint=\"j\" multiplier=\"0\"/><limit ", "11: robot/joint[@name=\"j\"]/mimic/@multiplier",
                 "must not be 0; make the joint fixed"},
        BadInput{"<sphere radius=\"0.1\"/>", "<sphere radius=\"0\"/>",
                 "5: robot/link[@name=\"b\"]/collision/geometry/sphere/@radius", "must be > 0, got 0"},
        BadInput{"<sphere radius=\"0.1\"/>", "<capsule radius=\"0.1\"/>", "5: robot/link[@name=\"b\"]/collision/geometry",
                 "must hold one of <box>"},
        BadInput{"<sphere radius=\"0.1\"/>", "", "5: robot/link[@name=\"b\"]/collision/geometry", "must hold one of <box>"},
        BadInput{"<sphere radius=\"0.1\"/>", "<box size=\"1 -1 1\"/>", "5: robot/link[@name=\"b\"]/collision/geometry/box/@size",
                 "must be > 0"},
        BadInput{"<sphere radius=\"0.1\"/>", "<mesh filename=\"none.obj\"/>",
                 "5: robot/link[@name=\"b\"]/collision/geometry/mesh/@filename", "\"none.obj\": there is no file none.obj"},
        BadInput{"<sphere radius=\"0.1\"/>", "<mesh filename=\"package://none/x.obj\"/>",
                 "5: robot/link[@name=\"b\"]/collision/geometry/mesh/@filename", "--package none=FOLDER"},
        BadInput{"<mass value=\"1\"/>", "<mass value=\"-1\"/>", "4: robot/link[@name=\"b\"]/inertial/mass/@value",
                 "must be >= 0, got -1"},
        BadInput{"<mass value=\"1\"/>", "", "4: robot/link[@name=\"b\"]/inertial", "needs an element <mass>"},
        BadInput{"ixx=\"1\"", "ixx=\"-1\"", "4: robot/link[@name=\"b\"]/inertial/inertia", "the least is -1"},
        BadInput{"<robot name=\"pair\">", "<robot>", "1: robot", "needs the attribute name"},
        BadInput{"</robot>", "", "1", "is no XML"}));

TEST(ReadUrdf, SaysEveryProblemAtOnce) {
  EXPECT_THAT(Problems(absl::StrReplaceAll(kPair, {{"xyz=\"0 0 1\"", "xyz=\"0 0 0\""}, {"effort=\"1\"", "effort=\"-1\""}})),
              SizeIs(2));
}

TEST(ReadUrdf, FindsLoopsBesideTheTree) {
  const std::string two =
      "</joint><link name=\"c\"/><link name=\"d\"/>"
      "<joint name=\"k\" type=\"fixed\"><parent link=\"c\"/><child link=\"d\"/></joint>"
      "<joint name=\"l\" type=\"fixed\"><parent link=\"d\"/><child link=\"c\"/></joint>";
  EXPECT_THAT(Problems(Changed("</joint>", two)), ElementsAre(HasSubstr("joints \"k\", \"l\" form a loop")));
  const std::string parents = "</joint><joint name=\"k\" type=\"fixed\"><parent link=\"a\"/><child link=\"b\"/></joint>";
  EXPECT_THAT(Problems(Changed("</joint>", parents)), ElementsAre(HasSubstr("link \"b\" is the child of joint \"j\" already")));
}

TEST(ReadUrdf, RefusesWhatUrdfdomRefuses) {
  const std::string version = Changed("<robot name=\"pair\">", "<robot name=\"pair\" version=\"9.0\">");
  EXPECT_THAT(Problems(version), ElementsAre(StartsWith("pair.urdf: ")));
}

TEST(ReadUrdf, RefusesHostileDocuments) {
  std::string deep;
  for (int k = 0; k < 100000; ++k) deep += "<a>";
  EXPECT_THAT(Problems(deep), ElementsAre(HasSubstr("nested more than")));
  EXPECT_THAT(Problems(""), SizeIs(1));
  EXPECT_THAT(Problems("<sdf/>"), ElementsAre("pair.urdf:1: its first element must be <robot>, not <sdf>"));
  EXPECT_THAT(Problems(std::string("<robot\0/>", 9)), ElementsAre(HasSubstr("byte 0")));
  EXPECT_EQ(ReadUrdf("/nowhere/robot.urdf").status().code(), absl::StatusCode::kNotFound);
}

// 'c' mimics 'k' = 2 j + 1 as 3 k + 5.
TEST(ReadUrdf, ResolvesJointsThatMimicOnesThatMimic) {
  std::string text =
      absl::StrReplaceAll(kThird, {{"type=\"fixed\">", "type=\"continuous\"><mimic joint=\"j\" multiplier=\"2\" offset=\"1\"/>"}});
  text +=
      "<link name=\"d\"/><joint name=\"m\" type=\"continuous\"><mimic joint=\"k\" multiplier=\"3\" offset=\"5\"/>"
      "<parent link=\"c\"/><child link=\"d\"/></joint>";
  const absl::StatusOr<RobotImport> import = ParseUrdf(Changed("</joint>", text), "pair.urdf");
  ASSERT_TRUE(import.ok()) << import.status();
  const RobotJoint& last = import->robot.joints[2];
  EXPECT_EQ(last.mimic->joint, 0);
  EXPECT_EQ(last.mimic->multiplier, 6);
  EXPECT_EQ(last.mimic->offset, 8);
}

TEST(ReadUrdf, WarnsOfInertiaThatNoSolidHas) {
  const absl::StatusOr<RobotImport> import = ParseUrdf(Changed("ixx=\"1\"", "ixx=\"3\""), "pair.urdf");
  ASSERT_TRUE(import.ok()) << import.status();
  EXPECT_THAT(import->warnings,
              ElementsAre(AllOf(StartsWith("pair.urdf:4: robot/link[@name=\"b\"]/inertial/inertia"), HasSubstr("no solid"))));
}

}  // namespace
}  // namespace eipc
