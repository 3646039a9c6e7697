// What an import of a robot description in SDF has, what it passes over, and what it says of bad ones.

#include "sim/robot/read_sdf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "sim/mesh/mass_properties.h"
#include "sim/robot/kinematics.h"
#include "sim/robot/read_robot.h"
#include "sim/robot/shape_mesh.h"
#include "tests/sim/robot/robots.h"

namespace eipc {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

// A robot of three links: a turntable, an arm whose axis is beside its frame, and a rod that slides in it, in lines that tests
// replace.
constexpr char kArm[] = R"(<sdf version="1.9">
  <model name="arm">
    <pose>1 0 0 0 0 1.5707963267948966</pose>
    <link name="base">
      <inertial><mass>2</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial>
      <collision name="disc"><geometry><cylinder><radius>0.1</radius><length>0.05</length></cylinder></geometry></collision>
    </link>
    <link name="beam">
      <pose>0.5 0 0.2 0 0 0</pose>
      <inertial><pose>0.1 0 0 0 0 0</pose><mass>1</mass><inertia><ixx>1</ixx><iyy>2</iyy><izz>2</izz></inertia></inertial>
      <collision name="beam"><pose>0 0 0.1 0 0 0</pose><geometry><box><size>0.9 0.1 0.1</size></box></geometry></collision>
      <self_collide>true</self_collide>
    </link>
    <joint name="shoulder" type="revolute">
      <pose relative_to="base">0 0 0.2 0 0 0</pose>
      <parent>base</parent>
      <child>beam</child>
      <axis>
        <xyz expressed_in="__model__">0 0 2</xyz>
        <limit><lower>-1</lower><upper>2</upper><effort>5</effort><velocity>3</velocity></limit>
        <dynamics><damping>0.5</damping><friction>0.1</friction>
          <spring_reference>0.3</spring_reference><spring_stiffness>7</spring_stiffness></dynamics></axis>
    </joint>
    <link name="rod"><pose relative_to="beam">0.4 0 0 0 1.5707963267948966 0</pose></link>
    <joint name="slide" type="prismatic">
      <parent>beam</parent>
      <child>rod</child>
      <axis><xyz>0 0 1</xyz><limit><lower>0</lower><upper>0.3</upper></limit></axis>
      <drake:mimic joint="shoulder" multiplier="0.1" offset="0.2"/>
    </joint>
  </model>
</sdf>)";

std::string Changed(const std::string& from, const std::string& to) {
  const std::string text = absl::StrReplaceAll(kArm, {{from, to}});
  EXPECT_NE(text, kArm) << from;
  return text;
}

RobotImport Imported(const std::string& text) {
  absl::StatusOr<RobotImport> import = ParseSdf(text, "arm.sdf");
  if (import.ok()) return *std::move(import);
  ADD_FAILURE() << import.status();
  return {};
}

std::vector<std::string> Problems(const std::string& text) {
  const absl::StatusOr<RobotImport> import = ParseSdf(text, "arm.sdf");
  if (import.ok()) return {};
  EXPECT_EQ(import.status().code(), absl::StatusCode::kInvalidArgument);
  return absl::StrSplit(std::string(import.status().message()), '\n');
}

Vec3 PositionOf(const RobotImport& import, const std::string& link, const std::map<std::string, double>& given) {
  const auto coordinates = JointCoordinates(import.robot, given);
  EXPECT_TRUE(coordinates.ok()) << coordinates.status();
  const std::vector<Pose> poses = LinkPoses(import.robot, import.root, *coordinates);
  size_t l = 0;
  while (import.robot.links.at(l).name != link) ++l;
  return poses[l].position;
}

TEST(ReadSdf, HasLinksJointsAndLimits) {
  const RobotImport import = Imported(kArm);
  const Robot& robot = import.robot;
  std::vector<std::string> links, joints;
  for (const Link& link : robot.links) links.push_back(link.name);
  for (const RobotJoint& joint : robot.joints) joints.push_back(joint.name);
  EXPECT_EQ(robot.name, "arm");
  // The shoulder's axis is beside the beam's frame.
  EXPECT_THAT(links, ElementsAre("base", "shoulder_axis", "beam", "rod"));
  EXPECT_THAT(joints, ElementsAre("shoulder", "shoulder_offset", "slide"));
  const RobotJoint &shoulder = robot.joints[0], &slide = robot.joints[2];
  EXPECT_EQ(shoulder.type, JointType::kRevolute);
  EXPECT_LT((shoulder.axis - Vec3::UnitZ()).norm(), 1e-15);
  EXPECT_EQ(shoulder.limits.lower, -1);
  EXPECT_EQ(shoulder.limits.upper, 2);
  EXPECT_EQ(shoulder.limits.effort, 5);
  EXPECT_EQ(shoulder.limits.speed, 3);
  EXPECT_EQ(shoulder.damping, 0.5);
  EXPECT_EQ(shoulder.friction, 0.1);
  EXPECT_EQ(shoulder.spring, 7);
  EXPECT_EQ(shoulder.spring_rest, 0.3);
  EXPECT_EQ(slide.spring, 0);
  EXPECT_EQ(slide.type, JointType::kPrismatic);
  EXPECT_TRUE(std::isinf(slide.limits.effort) && std::isinf(slide.limits.speed));
  ASSERT_TRUE(slide.mimic.has_value());
  EXPECT_EQ(slide.mimic->joint, 0);
  EXPECT_EQ(slide.mimic->multiplier, 0.1);
  EXPECT_EQ(slide.mimic->offset, 0.2);
  EXPECT_THAT(import.ignored, ElementsAre("sdf/model/link/self_collide (line 12)"));
  EXPECT_THAT(import.warnings, IsEmpty());
}

// The model is turned by a quarter about z and stands at x = 1; its beam turns about the model's origin, 0.5 m away, and the rod
// slides out along the beam.
TEST(ReadSdf, PlacesLinksAsTheJointsMove) {
  const RobotImport import = Imported(kArm);
  for (const double angle : {0.0, 0.7, -0.4}) {
    const double a = angle + M_PI / 2, out = 0.5 + 0.4 + 0.1 * angle + 0.2;
    const Vec3 beam = Vec3(1, 0, 0.2) + 0.5 * Vec3(std::cos(a), std::sin(a), 0);
    const Vec3 rod = Vec3(1, 0, 0.2) + out * Vec3(std::cos(a), std::sin(a), 0);
    EXPECT_LT((PositionOf(import, "beam", {{"shoulder", angle}}) - beam).norm(), 1e-12) << angle;
    EXPECT_LT((PositionOf(import, "rod", {{"shoulder", angle}}) - rod).norm(), 1e-12) << angle;
  }
}

TEST(ReadSdf, HasInertiaAndCollisionShapes) {
  const Robot robot = Imported(kArm).robot;
  const Link &base = robot.links[0], &beam = robot.links[2], &rod = robot.links[3];
  ASSERT_TRUE(base.inertia.has_value() && beam.inertia.has_value());
  EXPECT_FALSE(rod.inertia.has_value());
  EXPECT_EQ(base.inertia->mass_kg, 2);
  EXPECT_EQ(beam.inertia->frame.position, Vec3(0.1, 0, 0));
  EXPECT_EQ(beam.inertia->inertia.diagonal(), Vec3(1, 2, 2));
  EXPECT_EQ(std::get<CylinderShape>(base.collision[0].shape).length, 0.05);
  EXPECT_EQ(beam.collision[0].pose.position, Vec3(0, 0, 0.1));
  EXPECT_EQ(std::get<BoxShape>(beam.collision[0].shape).size, Vec3(0.9, 0.1, 0.1));
}

TEST(ReadSdf, MakesClosedMeshesOfRoundShapes) {
  const std::string capsule = "<capsule><radius>0.1</radius><length>0.3</length></capsule>";
  const std::string ellipsoid = "<ellipsoid><radii>0.1 0.2 0.3</radii></ellipsoid>";
  const double expected[] = {M_PI * 0.01 * 0.3 + 4 * M_PI / 3 * 0.001, 4 * M_PI / 3 * 0.006};
  int k = 0;
  for (const std::string& shape : {capsule, ellipsoid}) {
    const RobotImport import = Imported(Changed("<box><size>0.9 0.1 0.1</size></box>", shape));
    const absl::StatusOr<MeshData> mesh = ShapeMesh(import.robot.links[2].collision[0]);
    ASSERT_TRUE(mesh.ok()) << mesh.status();
    const double volume = SolidMassProperties(mesh->vertices, mesh->triangles, 1).mass;
    EXPECT_LT(volume, expected[k]) << shape;  // inscribed
    EXPECT_GT(volume, 0.93 * expected[k]) << shape;
    std::map<std::pair<int32_t, int32_t>, int> edges;
    for (const Triangle& t : mesh->triangles) {
      for (int c = 0; c < 3; ++c) ++edges[{t[c], t[(c + 1) % 3]}];
    }
    for (const auto& [edge, times] : edges) {
      EXPECT_EQ(times, 1);
      EXPECT_EQ((edges.count({edge.second, edge.first})), 1u);
    }
    ++k;
  }
}

// The same gripper as written for the tests of the command: its fingers follow each other, and "world" is its root.
TEST(ReadSdf, HangsOnTheWorld) {
  const std::string file = absl::StrCat(std::getenv("EIPC_SOURCE_DIR"), "/models/robots/pad_gripper.sdf");
  const absl::StatusOr<RobotImport> import = ReadRobot(file);
  ASSERT_TRUE(import.ok()) << import.status();
  EXPECT_EQ(import->robot.links[0].name, "world");
  EXPECT_LT((PositionOf(*import, "palm", {{"lift", 0.05}}) - Vec3(0, 0, 0.2)).norm(), 1e-12);
  EXPECT_LT((PositionOf(*import, "left_finger", {{"left", 0.01}}) - Vec3(0, 0.04, 0.09)).norm(), 1e-12);
  EXPECT_LT((PositionOf(*import, "right_finger", {{"left", 0.01}}) - Vec3(0, -0.04, 0.09)).norm(), 1e-12);
}

TEST(ReadSdf, ReadsModelsInModels) {
  const std::string hand =
      "<model name=\"hand\"><pose>0 0 0.5 0 0 0</pose><link name=\"palm\"/><link name=\"finger\"><pose>0.1 0 0 0 0 0</pose></link>"
      "<joint name=\"bend\" type=\"continuous\"><parent>palm</parent><child>finger</child><axis><xyz>0 0 "
      "1</xyz></axis></joint></model>"
      "<joint name=\"mount\" type=\"fixed\"><parent>rod</parent><child>hand::palm</child></joint></model>";
  const RobotImport import = Imported(Changed("</model>", hand));
  EXPECT_EQ(import.robot.links.back().name, "hand::finger");
  EXPECT_EQ(import.robot.joints.back().name, "hand::bend");
  // The hand hangs on the rod, which is out by 0.2 m along the beam where the joints are at 0: along the model's x, the world's y.
  EXPECT_LT((PositionOf(import, "hand::finger", {{"shoulder", 0}}) - Vec3(1, 0.1 + 0.2, 0.5)).norm(), 1e-12);
}

struct BadInput {
  const char *from, *to, *place, *what;
};

class BadSdf : public ::testing::TestWithParam<BadInput> {};

TEST_P(BadSdf, IsRefusedWithItsPlace) {
  const BadInput& bad = GetParam();
  EXPECT_THAT(Problems(Changed(bad.from, bad.to)),
              ElementsAre(AllOf(StartsWith(absl::StrCat("arm.sdf", bad.place)), HasSubstr(bad.what))));
}

INSTANTIATE_TEST_SUITE_P(
    ReadSdf, BadSdf,
    ::testing::Values(
        BadInput{"0 0 2</xyz>", "0 0 0</xyz>", ":19: sdf/model[@name=\"arm\"]/joint[@name=\"shoulder\"]/axis/xyz",
                 "must not be zero"},
        BadInput{"0 0 2</xyz>", "0 nan 2</xyz>", ":19: sdf/model[@name=\"arm\"]/joint[@name=\"shoulder\"]/axis/xyz",
                 "does not hold"},
        BadInput{"0 0 2</xyz>", "0 2</xyz>", ":19: sdf/model[@name=\"arm\"]/joint[@name=\"shoulder\"]/axis/xyz", "does not hold"},
        BadInput{"<mass>2</mass>", "<mass>heavy</mass>", ":5: sdf/model[@name=\"arm\"]/link[@name=\"base\"]/inertial/mass",
                 "does not hold"},
        BadInput{"<mass>2</mass>", "<mass>-2</mass>", ":5: sdf/model[@name=\"arm\"]/link[@name=\"base\"]/inertial/mass",
                 "must be > 0, got -2"},
        BadInput{"<mass>2</mass>", "<mass>nan</mass>", ":5: sdf/model[@name=\"arm\"]/link[@name=\"base\"]/inertial/mass", ""},
        BadInput{"<ixx>1</ixx><iyy>1</iyy>", "<ixx>1</ixx><iyy>-1</iyy>", "", "base has invalid inertia"},
        BadInput{"<upper>2</upper>", "<upper>-2</upper>", ":18: sdf/model[@name=\"arm\"]/joint[@name=\"shoulder\"]/axis",
                 "limit/upper: must be >= lower (-1), got -2"},
        BadInput{"<damping>0.5", "<damping>-0.5", ":18: sdf/model[@name=\"arm\"]/joint[@name=\"shoulder\"]/axis",
                 "dynamics/damping: must be >= 0, got -0.5"},
        BadInput{"<spring_stiffness>7", "<spring_stiffness>-7", ":18: sdf/model[@name=\"arm\"]/joint[@name=\"shoulder\"]/axis",
                 "dynamics/spring_stiffness: must be >= 0, got -7"},
        BadInput{"<spring_reference>0.3", "<spring_reference>nan",
                 ":22: sdf/model[@name=\"arm\"]/joint[@name=\"shoulder\"]/axis/dynamics/spring_reference",
                 "must be finite, got nan"},
        BadInput{"<parent>base</parent>", "<parent>bass</parent>", ":16: sdf/model[@name=\"arm\"]/joint[@name=\"shoulder\"]/parent",
                 "no link is named \"bass\""},
        BadInput{"<child>rod</child>", "<child>nobody</child>", ":27: sdf/model[@name=\"arm\"]/joint[@name=\"slide\"]/child",
                 "no link is named \"nobody\""},
        BadInput{"joint name=\"slide\" type=\"prismatic\"", "joint name=\"slide\" type=\"ball\"",
                 ":25: sdf/model[@name=\"arm\"]/joint[@name=\"slide\"]", "several coordinates"},
        BadInput{"joint name=\"slide\"", "joint name=\"beam\"", ":25: sdf/model[@name=\"arm\"]/joint[@name=\"beam\"]",
                 "used twice"},
        BadInput{"<child>rod</child>", "<child>base</child>", ":25: sdf/model[@name=\"arm\"]/joint[@name=\"slide\"]",
                 "form a loop"},
        BadInput{"mimic joint=\"shoulder\"", "mimic joint=\"elbow\"",
                 ":25: sdf/model[@name=\"arm\"]/joint[@name=\"slide\"]/drake:mimic", "no joint is named \"elbow\""},
        BadInput{"mimic joint=\"shoulder\"", "mimic joint=\"slide\"", ":25: sdf/model[@name=\"arm\"]/joint[@name=\"slide\"]",
                 "mimic each other in a loop"},
        BadInput{"multiplier=\"0.1\"", "multiplier=\"inf\"", ":25: sdf/model[@name=\"arm\"]/joint[@name=\"slide\"]/drake:mimic",
                 "multiplier: must be a finite number, got \"inf\""},
        BadInput{"multiplier=\"0.1\"", "multiplier=\"0\"", ":25: sdf/model[@name=\"arm\"]/joint[@name=\"slide\"]/drake:mimic",
                 "multiplier: must not be 0; make the joint fixed"},
        BadInput{"<spring_stiffness>7", "<spring_stiffness>7 8",
                 ":22: sdf/model[@name=\"arm\"]/joint[@name=\"shoulder\"]/axis/dynamics/spring_stiffness",
                 "has 2 numbers, of which at most 1 are read"},
        BadInput{"0 0 2</xyz>", "0 0 2 9</xyz>", ":19: sdf/model[@name=\"arm\"]/joint[@name=\"shoulder\"]/axis/xyz",
                 "has 4 numbers, of which at most 3 are read"},
        BadInput{"<radius>0.1</radius>", "<radius>-0.1</radius>",
                 ":6: sdf/model[@name=\"arm\"]/link[@name=\"base\"]/collision[@name=\"disc\"]", "radius: must be > 0, got -0.1"},
        BadInput{"<box><size>0.9 0.1 0.1</size></box>", "<plane><normal>0 0 1</normal></plane>",
                 ":11: sdf/model[@name=\"arm\"]/link[@name=\"beam\"]/collision[@name=\"beam\"]", "must hold one of <box>"},
        BadInput{"<box><size>0.9 0.1 0.1</size></box>", "<mesh><uri>none.obj</uri></mesh>",
                 ":11: sdf/model[@name=\"arm\"]/link[@name=\"beam\"]/collision[@name=\"beam\"]",
                 "\"none.obj\": there is no file none.obj"},
        BadInput{"<box><size>0.9 0.1 0.1</size></box>", "<mesh><uri>package://none/x.obj</uri></mesh>",
                 ":11: sdf/model[@name=\"arm\"]/link[@name=\"beam\"]/collision[@name=\"beam\"]", "--package none=FOLDER"},
        BadInput{"</model>", "<include><uri>model://hand</uri></include></model>", ":", "hand"},
        BadInput{"</model>", "", ":", "is no XML"}));

TEST(ReadSdf, RefusesPartsOfMeshes) {
  const std::string part = "<mesh><uri>none.obj</uri><submesh><name>pad</name></submesh></mesh>";
  EXPECT_THAT(Problems(Changed("<box><size>0.9 0.1 0.1</size></box>", part)),
              Contains(AllOf(StartsWith("arm.sdf:11: "), HasSubstr("submesh: parts of a mesh are not read; make \"pad\" a file"))));
}

TEST(ReadSdf, SaysEveryProblemAtOnce) {
  EXPECT_THAT(
      Problems(absl::StrReplaceAll(kArm, {{"0 0 2</xyz>", "0 0 0</xyz>"}, {"<child>rod</child>", "<child>nobody</child>"}})),
      SizeIs(2));
}

TEST(ReadSdf, RefusesLoops) {
  const std::string joint = "</joint><joint name=\"back\" type=\"fixed\"><parent>rod</parent><child>base</child></joint></model>";
  const std::string text = absl::StrReplaceAll(kArm, {{"</joint>\n  </model>", joint}});
  EXPECT_THAT(Problems(text), ElementsAre(HasSubstr("joints \"shoulder\", \"slide\", \"back\" form a loop")));
}

TEST(ReadSdf, RefusesHostileDocuments) {
  std::string deep;
  for (int k = 0; k < 100000; ++k) deep += "<a>";
  EXPECT_THAT(Problems(deep), ElementsAre(HasSubstr("nested more than")));
  EXPECT_THAT(Problems(""), SizeIs(1));
  EXPECT_THAT(Problems("<robot/>"), ElementsAre(HasSubstr("its first element must be <sdf>")));
  EXPECT_THAT(Problems("<sdf version=\"1.9\"/>"), ElementsAre(HasSubstr("must hold one <model>")));
  EXPECT_THAT(Problems("<sdf version=\"1.9\"><world name=\"w\"/></sdf>"), ElementsAre(HasSubstr("must hold one <model>")));
  EXPECT_EQ(ReadSdf("/nowhere/robot.sdf").status().code(), absl::StatusCode::kNotFound);
}

class SdfFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) / "sdf_files";
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void Write(const std::string& name, const std::string& text) { std::ofstream(folder_ / name) << text; }

  std::filesystem::path folder_;
};

TEST_F(SdfFiles, AreIncluded) {
  Write("finger.sdf",
        "<sdf version=\"1.9\"><model name=\"finger\"><link name=\"tip\"><collision name=\"c\"><geometry>"
        "<sphere><radius>0.01</radius></sphere></geometry></collision></link></model></sdf>");
  Write("hand.sdf",
        "<sdf version=\"1.9\"><model name=\"hand\"><link name=\"palm\"/>"
        "<include><uri>finger.sdf</uri><name>thumb</name><pose>0 0 0.1 0 0 0</pose></include>"
        "<joint name=\"weld\" type=\"fixed\"><parent>palm</parent><child>thumb::tip</child></joint></model></sdf>");
  const absl::StatusOr<RobotImport> import = ReadRobot((folder_ / "hand.sdf").string());
  ASSERT_TRUE(import.ok()) << import.status();
  EXPECT_EQ(import->robot.links[1].name, "thumb::tip");
  EXPECT_EQ(import->robot.joints[0].origin.position, Vec3(0, 0, 0.1));
  EXPECT_THAT(import->robot.links[1].collision, SizeIs(1));
}

TEST_F(SdfFiles, ThatIncludeThemselvesAreRefused) {
  const std::string twice = "<include><uri>self.sdf</uri></include>";
  Write("self.sdf", absl::StrCat("<sdf version=\"1.9\"><model name=\"self\"><link name=\"a\"/>", twice, twice, "</model></sdf>"));
  EXPECT_EQ(ReadRobot((folder_ / "self.sdf").string()).status().code(), absl::StatusCode::kInvalidArgument);
}

// libsdformat looks into the present folder before it asks.
TEST_F(SdfFiles, ThatIncludeThemselvesAreRefusedInTheirFolderToo) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder_);
  Write("a.sdf", R"(<sdf version="1.9"><model name="a"><link name="l"/><include><uri>b.sdf</uri></include></model></sdf>)");
  Write("b.sdf", R"(<sdf version="1.9"><model name="b"><link name="l"/><include><uri>a.sdf</uri></include></model></sdf>)");
  const absl::Status refused = ReadRobot("a.sdf").status();
  std::filesystem::current_path(before);
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("b.sdf:1: include/uri: \"a.sdf\": a.sdf includes itself"));
}

TEST_F(SdfFiles, OfThePresentFolderAreNotTakenForThoseBesideTheDescription) {
  const std::string finger = R"(<sdf version="1.9"><model name="finger"><link name="tip"/></model></sdf>)";
  std::filesystem::create_directories(folder_ / "elsewhere");
  Write("finger.sdf", finger);
  Write("elsewhere/finger.sdf", finger);
  Write("hand.sdf", R"(<sdf version="1.9"><include><uri>finger.sdf</uri></include></sdf>)");
  EXPECT_TRUE(ReadRobot((folder_ / "hand.sdf").string()).ok());
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder_ / "elsewhere");
  const absl::Status refused = ReadRobot((folder_ / "hand.sdf").string()).status();
  std::filesystem::current_path(before);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("from the present folder"));
}

TEST_F(SdfFiles, IncludedTooOftenAreRefused) {
  Write("finger.sdf", R"(<sdf version="1.9"><model name="finger"><link name="tip"/></model></sdf>)");
  std::string many;
  for (int k = 0; k < 101; ++k) absl::StrAppend(&many, "<include><uri>finger.sdf</uri><name>f", k, "</name></include>");
  Write("hand.sdf", absl::StrCat(R"(<sdf version="1.9"><model name="hand"><link name="palm"/>)", many, "</model></sdf>"));
  EXPECT_THAT(std::string(ReadRobot((folder_ / "hand.sdf").string()).status().message()),
              HasSubstr("more than 100 files are included"));
}

TEST(ReadSdf, NamesWhatItAddsUnlikeWhatIsThere) {
  const absl::StatusOr<RobotImport> import = ParseSdf(R"(<sdf version="1.9"><model name="m"><link name="a"/>
    <link name="b"><pose>1 0 0 0 0 0</pose></link><link name="j_axis"><pose>2 0 0 0 0 0</pose></link>
    <joint name="j" type="revolute"><pose>0 0.1 0 0 0 0</pose><parent>a</parent><child>b</child><axis><xyz>0 0 1</xyz></axis></joint>
    <joint name="j_offset" type="fixed"><parent>b</parent><child>j_axis</child></joint></model></sdf>)",
                                                      "m.sdf", {});
  ASSERT_TRUE(import.ok()) << import.status();
  EXPECT_EQ(import->robot.links[1].name, "j_axis_2");
  EXPECT_EQ(import->robot.links[3].name, "j_axis");
  EXPECT_EQ(import->robot.joints[1].name, "j_offset_2");
}

// Whether a model stands still is the scene's choice.
TEST(ReadSdf, ListsThatAModelIsStaticAsIgnored) {
  const absl::StatusOr<RobotImport> import =
      ParseSdf(R"(<sdf version="1.9"><model name="m"><static>true</static><link name="a"/></model></sdf>)", "m.sdf", {});
  ASSERT_TRUE(import.ok()) << import.status();
  EXPECT_THAT(import->ignored, ElementsAre("sdf/model/static (line 1)"));
}

// Public descriptions of a simple gripper, of one without collision shapes, and of soft objects.
TEST(ReadSdf, ReadsPublicDescriptions) {
  const char* data = std::getenv("EIPC_DATA");
  const std::filesystem::path folder = data == nullptr ? "" : data;
  if (!std::filesystem::exists(folder / "drake_torus/simple_gripper.sdf")) GTEST_SKIP() << "no data";
  const absl::StatusOr<RobotImport> gripper = ReadRobot((folder / "drake_torus/simple_gripper.sdf").string());
  ASSERT_TRUE(gripper.ok()) << gripper.status();
  const RobotJoint& right = gripper->robot.joints[FindJoint(gripper->robot, "right_slider")];
  ASSERT_TRUE(right.mimic.has_value());
  EXPECT_EQ(right.mimic->multiplier, -1);
  EXPECT_EQ(right.limits.effort, 0);
  // The fingers close on each other.
  const Vec3 apart = PositionOf(*gripper, "right_finger", {{"left_slider", -0.02}}) -
                     PositionOf(*gripper, "left_finger", {{"left_slider", -0.02}});
  EXPECT_NEAR(apart.norm(), 2 * 0.0105 + 2 * 0.02, 1e-9);
  EXPECT_THAT(gripper->ignored, ::testing::Contains(HasSubstr("sdf/model/joint/drake:controller_gains")));
  const absl::StatusOr<RobotImport> schunk =
      ReadRobot((folder / "drake_bubble_teddy/schunk_wsg_50_deformable_bubble.sdf").string());
  ASSERT_TRUE(schunk.ok()) << schunk.status();
  EXPECT_THAT(schunk->robot.links, SizeIs(4));  // with "world"
  const absl::StatusOr<RobotImport> bubbles = ReadRobot((folder / "drake_bubble_teddy/bubbles.sdf").string());
  EXPECT_THAT(std::string(bubbles.status().message()), HasSubstr("one link alone may be the root"));
  for (const auto& [folder_name, file, mesh] : {std::tuple{"drake_torus", "deformable_torus.sdf", "torus.vtk"},
                                                {"drake_bubble_teddy", "deformable_teddy.sdf", "teddy.vtk"}}) {
    // The package that the file names, as far as it needs it.
    const std::filesystem::path root = std::filesystem::path(::testing::TempDir()) / "drake";
    std::filesystem::create_directories(root / "examples/multibody/deformable/models");
    std::filesystem::copy_file(folder / folder_name / mesh, root / "examples/multibody/deformable/models" / mesh,
                               std::filesystem::copy_options::overwrite_existing);
    const absl::StatusOr<RobotImport> soft = ReadRobot((folder / folder_name / file).string(), {{"drake", root.string()}});
    ASSERT_TRUE(soft.ok()) << soft.status();
    EXPECT_GT(std::get<MeshShape>(soft->robot.links[0].collision[0].shape).tets, 100);
    EXPECT_THAT(soft->ignored, ::testing::Contains(HasSubstr("drake:deformable_properties")));
    std::filesystem::remove_all(root);
  }
}

}  // namespace
}  // namespace eipc
