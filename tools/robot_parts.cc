#include "tools/robot_parts.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "sim/base/status_macros.h"
#include "sim/robot/kinematics.h"

namespace eipc {
namespace {

absl::StatusOr<std::vector<uint8_t>> DynamicJoints(const Robot& robot, const std::vector<std::string>& names) {
  std::vector<uint8_t> dynamic(robot.joints.size(), 0);
  for (const std::string& name : names) {
    const int32_t joint = FindJoint(robot, name);
    if (joint < 0) {
      const auto add_name = [](std::string* out, const RobotJoint& known) { out->append(known.name); };
      return absl::InvalidArgumentError(absl::StrCat("--dynamic ", name, ": robot \"", robot.name, "\" has no such joint; it has: ",
                                                     absl::StrJoin(robot.joints, ", ", add_name)));
    }
    dynamic[joint] = 1;
  }
  for (size_t j = 0; j < robot.joints.size(); ++j) {
    if (!robot.joints[j].mimic) continue;
    const size_t leader = robot.joints[j].mimic->joint;
    if (names.empty()) dynamic[j] = dynamic[leader] = 1;
    // What follows a joint of the scene is one too.
    if (dynamic[leader]) dynamic[j] = 1;
  }
  return dynamic;
}

}  // namespace

absl::StatusOr<std::vector<RobotPart>> RobotParts(const Robot& robot, const std::vector<std::string>& names) {
  EIPC_ASSIGN_OR_RETURN(const std::vector<uint8_t> dynamic, DynamicJoints(robot, names));
  std::vector<RobotPart> parts(1);
  std::vector<int32_t> part_of(robot.links.size(), 0);
  parts[0].links = {0};
  for (size_t j = 0; j < robot.joints.size(); ++j) {
    const RobotJoint& joint = robot.joints[j];
    const int32_t parent = part_of[joint.parent];
    if (!joint.moves() && !dynamic[j]) {
      part_of[joint.child] = parent;
      parts[parent].links.push_back(joint.child);
      continue;
    }
    part_of[joint.child] = static_cast<int32_t>(parts.size());
    const bool moved_by_forces = dynamic[j] != 0 || parts[parent].kind == RobotPartKind::kDynamic;
    parts.push_back(
        {moved_by_forces ? RobotPartKind::kDynamic : RobotPartKind::kKinematic, {joint.child}, static_cast<int32_t>(j), parent});
  }
  return parts;
}

MassProperties MassOfLinks(const Robot& robot, const std::vector<int32_t>& links, const std::vector<Pose>& poses) {
  MassProperties sum;
  Vec3 moment = Vec3::Zero();
  for (const int32_t link : links) {
    if (!robot.links[link].inertia) continue;
    const double mass = robot.links[link].inertia->mass_kg;
    sum.mass += mass;
    moment += mass * (poses[link] * robot.links[link].inertia->frame).position;
  }
  if (sum.mass > 0) sum.center_of_mass = moment / sum.mass;
  for (const int32_t link : links) {
    if (!robot.links[link].inertia) continue;
    const LinkInertia& inertia = *robot.links[link].inertia;
    const Pose frame = poses[link] * inertia.frame;
    const Mat3 r = frame.rotation.toRotationMatrix();
    const Vec3 arm = frame.position - sum.center_of_mass;
    sum.inertia +=
        r * inertia.inertia * r.transpose() + inertia.mass_kg * (arm.squaredNorm() * Mat3::Identity() - arm * arm.transpose());
  }
  return sum;
}

std::vector<int32_t> LinksBelow(const Robot& robot, int32_t joint) {
  std::vector<uint8_t> below(robot.links.size(), 0);
  below[robot.joints[joint].child] = 1;
  for (const RobotJoint& other : robot.joints) below[other.child] |= below[other.parent];
  std::vector<int32_t> links;
  for (size_t l = 0; l < below.size(); ++l) {
    if (below[l]) links.push_back(static_cast<int32_t>(l));
  }
  return links;
}

}  // namespace eipc
