// Coordinates of joints, and where they place links.

#include "sim/robot/kinematics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "tests/sim/robot/robots.h"

namespace eipc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double kTolerance = 1e-12;

size_t FindLink(const Robot& robot, const std::string& name) {
  size_t link = 0;
  while (robot.links.at(link).name != name) ++link;
  return link;
}

// The arm by hand: it turns by `turn` about z, bends by `elbow` about y, and the fingers open by `open` across, turned by `roll`.
Pose FingerByHand(double turn, double elbow, double roll, double open, double side) {
  const auto about = [](double angle, const Vec3& axis) { return Mat3(Eigen::AngleAxisd(angle, axis)); };
  const Mat3 arm = about(turn, Vec3::UnitZ()), bent = arm * about(elbow, Vec3::UnitY());
  const Mat3 hand = bent * about(M_PI / 2, Vec3::UnitY()) * about(roll, Vec3::UnitZ());
  const Vec3 position =
      Vec3(0, 0, 0.1) + arm * Vec3(0.3, 0, 0.03) + bent * Vec3(0.2, 0, 0) + hand * Vec3(0, side * (0.002 + open), 0.02 + 0.015);
  return {position, Quat(side > 0 ? hand : Mat3(hand * about(M_PI, Vec3::UnitZ())))};
}

TEST(Kinematics, PlacesLinks) {
  const Robot robot = testing::Arm().robot;
  const auto coordinates = JointCoordinates(robot, {{"turn", 0.7}, {"elbow", -1.1}, {"roll", 5}, {"left", 0.02}});
  ASSERT_TRUE(coordinates.ok()) << coordinates.status();
  EXPECT_THAT(*coordinates, ElementsAre(0.7, -1.1, 5, 0, 0.02, 0.02));
  const Pose root = {Vec3(1, 2, 3), Quat(Eigen::AngleAxisd(0.3, Vec3(1, 2, 3).normalized()))};
  const std::vector<Pose> poses = LinkPoses(robot, root, *coordinates);
  for (const auto& [name, side] : {std::pair{"left_finger", 1.0}, {"right_finger", -1.0}}) {
    const Pose expected = root * FingerByHand(0.7, -1.1, 5, 0.02, side), &found = poses[FindLink(robot, name)];
    EXPECT_LT((found.position - expected.position).norm(), kTolerance) << name;
    EXPECT_LT(found.rotation.angularDistance(expected.rotation), 1e-7) << name;
  }
}

TEST(Kinematics, StartsAtTheLimitNearestToZero) {
  Robot robot = testing::Arm().robot;
  robot.joints[FindJoint(robot, "left")].limits.lower = 0.01;
  const auto coordinates = JointCoordinates(robot, {});
  ASSERT_TRUE(coordinates.ok()) << coordinates.status();
  EXPECT_THAT(*coordinates, ElementsAre(0, 0, 0, 0, 0.01, 0.01));
}

struct Refused {
  const char* joint;
  double value;
  const char* what;
};

class BadCoordinates : public ::testing::TestWithParam<Refused> {};

TEST_P(BadCoordinates, NameTheJoint) {
  const auto found = JointCoordinates(testing::Arm().robot, {{GetParam().joint, GetParam().value}});
  EXPECT_EQ(found.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(found.status().message()), HasSubstr(GetParam().what));
}

INSTANTIATE_TEST_SUITE_P(Kinematics, BadCoordinates,
                         ::testing::Values(Refused{"knee", 0, "joint \"knee\": robot \"arm_gripper\" has no such joint"},
                                           Refused{"mount", 0, "joint \"mount\": is fixed"},
                                           Refused{"right", 0.01, "joint \"right\": follows joint \"left\"; give that one"},
                                           Refused{"elbow", 2.5, "joint \"elbow\": 2.5 is beyond its limits -2 to 2"},
                                           Refused{"roll", std::numeric_limits<double>::quiet_NaN(),
                                                   "joint \"roll\": its coordinate must be finite"}));

TEST(Kinematics, RefusesWhatBringsAFollowerBeyondItsLimits) {
  Robot robot = testing::Arm().robot;
  robot.joints[FindJoint(robot, "right")].mimic->multiplier = 2;
  const auto found = JointCoordinates(robot, {{"left", 0.02}});
  EXPECT_THAT(std::string(found.status().message()),
              HasSubstr("joint \"right\": follows joint \"left\" to 0.04 is beyond its limits 0 to 0.03"));
}

}  // namespace
}  // namespace eipc
