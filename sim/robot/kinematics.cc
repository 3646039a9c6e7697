#include "sim/robot/kinematics.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "sim/base/status_macros.h"

namespace eipc {
namespace {

absl::Status Refuse(const std::string& joint, const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat("joint \"", joint, "\": ", why));
}

absl::Status CheckGiven(const Robot& robot, const std::string& name, double value) {
  const int32_t found = FindJoint(robot, name);
  if (found < 0) return Refuse(name, absl::StrCat("robot \"", robot.name, "\" has no such joint"));
  const RobotJoint& joint = robot.joints[found];
  if (!joint.moves()) return Refuse(name, "is fixed");
  if (joint.mimic)
    return Refuse(name, absl::StrCat("follows joint \"", robot.joints[joint.mimic->joint].name, "\"; give that one"));
  if (!std::isfinite(value)) return Refuse(name, "its coordinate must be finite");
  return absl::OkStatus();
}

// `master`: the joint whose coordinate was given.
absl::Status CheckLimits(const RobotJoint& joint, const RobotJoint& master, double value) {
  constexpr double kRounding = 1e-12;  // of a coordinate that was computed from another one
  if (value >= joint.limits.lower - kRounding && value <= joint.limits.upper + kRounding) return absl::OkStatus();
  return Refuse(joint.name, absl::StrCat(&joint == &master ? "" : absl::StrCat("follows joint \"", master.name, "\" to "), value,
                                         " is beyond its limits ", joint.limits.lower, " to ", joint.limits.upper));
}

Pose JointMotion(const RobotJoint& joint, double coordinate) {
  switch (joint.type) {
    case JointType::kFixed:
      break;
    case JointType::kRevolute:
    case JointType::kContinuous:
      return {Vec3::Zero(), Quat(Eigen::AngleAxisd(coordinate, joint.axis))};
    case JointType::kPrismatic:
      return {coordinate * joint.axis, Quat::Identity()};
  }
  return {};
}

}  // namespace

int32_t FindJoint(const Robot& robot, const std::string& name) {
  const auto found =
      std::find_if(robot.joints.begin(), robot.joints.end(), [&](const RobotJoint& joint) { return joint.name == name; });
  return found == robot.joints.end() ? -1 : static_cast<int32_t>(found - robot.joints.begin());
}

absl::StatusOr<std::vector<double>> JointCoordinates(const Robot& robot, const std::map<std::string, double>& given) {
  std::vector<double> coordinates(robot.joints.size(), 0.0);
  std::vector<uint8_t> chosen(robot.joints.size(), 0);
  for (size_t j = 0; j < robot.joints.size(); ++j) {
    const RobotJoint& joint = robot.joints[j];
    if (joint.moves()) coordinates[j] = std::clamp(0.0, joint.limits.lower, joint.limits.upper);
  }
  for (const auto& [name, value] : given) {
    EIPC_RETURN_IF_ERROR(CheckGiven(robot, name, value));
    const int32_t j = FindJoint(robot, name);
    coordinates[j] = value;
    chosen[j] = 1;
  }
  for (size_t j = 0; j < robot.joints.size(); ++j) {
    const RobotJoint& joint = robot.joints[j];
    const size_t master = joint.mimic ? joint.mimic->joint : j;
    if (joint.mimic) coordinates[j] = joint.mimic->multiplier * coordinates[master] + joint.mimic->offset;
    if (chosen[master] != 0) EIPC_RETURN_IF_ERROR(CheckLimits(joint, robot.joints[master], coordinates[j]));
  }
  return coordinates;
}

std::vector<Pose> LinkPoses(const Robot& robot, const Pose& root, const std::vector<double>& coordinates) {
  std::vector<Pose> poses(robot.links.size(), root);
  for (size_t j = 0; j < robot.joints.size(); ++j) {
    const RobotJoint& joint = robot.joints[j];
    poses[joint.child] = poses[joint.parent] * joint.origin * JointMotion(joint, coordinates[j]);
  }
  return poses;
}

}  // namespace eipc
