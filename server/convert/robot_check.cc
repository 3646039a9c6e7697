#include "server/convert/robot_check.h"

#include <cmath>
#include <map>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "eipc/v1/scene.pb.h"
#include "server/convert/geometry_convert.h"
#include "sim/scene/check_name.h"

namespace eipc {
namespace {

using Names = std::set<std::string>;

bool Moves(const v1::RobotJoint& joint) {
  return joint.type() == v1::RobotJoint::REVOLUTE || joint.type() == v1::RobotJoint::CONTINUOUS ||
         joint.type() == v1::RobotJoint::PRISMATIC;
}

class RobotCheck {
 public:
  RobotCheck(const Names& bodies, const Names& joints, Problems* problems)
      : bodies_(bodies), joints_(joints), problems_(problems) {}

  void Check(const v1::Robot& robot, const std::string& path) {
    PoseFromProto(robot.base(), path + ".base", problems_);
    if (robot.links_size() != robot.joints_size() + 1) {
      problems_->Add(path + ".links", "must be one more than the joints, got ", robot.links_size(), " links and ",
                     robot.joints_size(), " joints");
    }
    Names links, joints;
    for (int l = 0; l < robot.links_size(); ++l) CheckLink(robot.links(l), absl::StrCat(path, ".links[", l, "]"), &links);
    for (int j = 0; j < robot.joints_size(); ++j) {
      const std::string at = absl::StrCat(path, ".joints[", j, "]");
      CheckUniqueName(robot.joints(j).name(), "joint of this robot", at + ".name", &joints, problems_);
      CheckTree(robot, j, at);
      CheckMotion(robot.joints(j), at);
    }
  }

 private:
  void CheckLink(const v1::RobotLink& link, const std::string& path, Names* used) {
    CheckUniqueName(link.name(), "link of this robot", path + ".name", used, problems_);
    for (int b = 0; b < link.bodies_size(); ++b) {
      const std::string at = absl::StrCat(path, ".bodies[", b, "]");
      const std::string& body = link.bodies(b).body();
      if (!bodies_.count(body)) {
        problems_->Add(at + ".body", "no body is named \"", body, "\"");
      } else if (const auto [first, unused] = link_of_body_.emplace(body, path); !unused) {
        problems_->Add(at + ".body", "\"", body, "\" is part of ", first->second, " already");
      }
      PoseFromProto(link.bodies(b).pose(), at + ".pose", problems_);
    }
  }

  // What ties a joint to the others and to the scene.
  void CheckTree(const v1::Robot& robot, int j, const std::string& path) {
    const v1::RobotJoint& joint = robot.joints(j);
    if (joint.parent() < 0 || joint.parent() > j) {
      problems_->Add(path + ".parent", "must be a link before ", j + 1, ", got ", joint.parent());
    }
    if (joint.has_mimic()) {
      const int32_t leader = joint.mimic();
      const bool leads =
          leader >= 0 && leader < robot.joints_size() && Moves(robot.joints(leader)) && !robot.joints(leader).has_mimic();
      if (!leads) problems_->Add(path + ".mimic", "must be a joint that moves and follows none, got ", leader);
      if (!Moves(joint)) problems_->Add(path + ".mimic", "the joint is fixed, so it follows none");
      if (joint.multiplier() == 0) problems_->Add(path + ".multiplier", "must not be 0; make the joint fixed");
    }
    if (!joint.scene_joint().empty() && !joints_.count(joint.scene_joint())) {
      problems_->Add(path + ".scene_joint", "no joint of the scene is named \"", joint.scene_joint(), "\"");
    }
  }

  void CheckMotion(const v1::RobotJoint& joint, const std::string& path) {
    PoseFromProto(joint.origin(), path + ".origin", problems_);
    if (joint.type() == v1::RobotJoint::TYPE_UNSPECIFIED) {
      problems_->Add(path + ".type", "must be FIXED, REVOLUTE, CONTINUOUS or PRISMATIC");
    }
    const double length = Vec3FromProto(joint.axis()).norm();
    if (Moves(joint) && !(std::abs(length - 1) < 1e-6)) problems_->Add(path + ".axis", "must have length 1, has ", length);
    if (joint.has_lower() && joint.has_upper() && !(joint.lower() <= joint.upper())) {
      problems_->Add(path + ".lower", "must be at most upper, ", joint.upper(), ", got ", joint.lower());
    }
    if (joint.max_effort() < 0) problems_->Add(path + ".max_effort", "must be >= 0, got ", joint.max_effort());
    if (joint.max_speed() < 0) problems_->Add(path + ".max_speed", "must be >= 0, got ", joint.max_speed());
  }

  const Names& bodies_;
  const Names& joints_;
  std::map<std::string, std::string> link_of_body_;  // the path of the link, of all robots
  Problems* const problems_;
};

}  // namespace

void CheckRobots(const v1::Scene& scene, Problems* problems) {
  Names bodies, joints, robots;
  for (const v1::Body& body : scene.bodies()) bodies.insert(body.name());
  for (const v1::Joint& joint : scene.joints()) joints.insert(joint.name());
  RobotCheck check(bodies, joints, problems);
  for (int r = 0; r < scene.robots_size(); ++r) {
    const std::string path = absl::StrCat("robots[", r, "]");
    CheckUniqueName(scene.robots(r).name(), "robot", path + ".name", &robots, problems);
    check.Check(scene.robots(r), path);
  }
}

}  // namespace eipc
