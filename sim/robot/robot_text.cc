#include "sim/robot/robot_text.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace eipc {
namespace {

// Rounded to a femtometre, so that what is zero but for rounding reads 0.
std::string Text(const Vec3& v) {
  const auto number = [](double value) { return std::abs(value) < 1e-15 ? 0.0 : value; };
  return absl::StrFormat("(%.6g %.6g %.6g)", number(v[0]), number(v[1]), number(v[2]));
}

std::string ShapeText(const BoxShape& box) {
  return absl::StrFormat("box %.6g x %.6g x %.6g m", box.size[0], box.size[1], box.size[2]);
}
std::string ShapeText(const SphereShape& sphere) { return absl::StrFormat("sphere of radius %.6g m", sphere.radius); }
std::string ShapeText(const CylinderShape& cylinder) {
  return absl::StrFormat("cylinder of radius %.6g m and length %.6g m", cylinder.radius, cylinder.length);
}
std::string ShapeText(const CapsuleShape& capsule) {
  return absl::StrFormat("capsule of radius %.6g m and length %.6g m", capsule.radius, capsule.length);
}
std::string ShapeText(const EllipsoidShape& ellipsoid) {
  return absl::StrFormat("ellipsoid with radii %.6g, %.6g and %.6g m", ellipsoid.radii[0], ellipsoid.radii[1], ellipsoid.radii[2]);
}
std::string ShapeText(const MeshShape& mesh) {
  return absl::StrCat("mesh ", mesh.reference, " (", mesh.vertices, " vertices, ", mesh.tets > 0 ? mesh.tets : mesh.triangles,
                      mesh.tets > 0 ? " tetrahedra" : " triangles",
                      mesh.scale == Vec3::Ones() ? "" : absl::StrCat(", scaled by ", Text(mesh.scale)), ")");
}

std::string LinkText(const Link& link, const Pose& pose) {
  std::vector<std::string> parts = {absl::StrCat("at ", Text(pose.position), " m")};
  if (link.inertia) {
    const Vec3 moments = Eigen::SelfAdjointEigenSolver<Mat3>(link.inertia->inertia, Eigen::EigenvaluesOnly).eigenvalues();
    parts.push_back(absl::StrFormat("%.6g kg", link.inertia->mass_kg));
    parts.push_back(absl::StrCat("principal moments ", Text(moments), " kg m2"));
  } else {
    parts.push_back("no inertia");
  }
  for (const CollisionShape& collision : link.collision) {
    parts.push_back(std::visit([](const auto& shape) { return ShapeText(shape); }, collision.shape));
  }
  if (link.collision.empty()) parts.push_back("no collision shape");
  return absl::StrCat("link ", link.name, ": ", absl::StrJoin(parts, ", "));
}

std::string LimitText(const RobotJoint& joint) {
  const bool turns = joint.type != JointType::kPrismatic;
  std::vector<std::string> parts;
  const JointLimits& limits = joint.limits;
  if (std::isfinite(limits.lower))
    parts.push_back(absl::StrFormat("%.6g to %.6g %s", limits.lower, limits.upper, turns ? "rad" : "m"));
  if (std::isfinite(limits.speed)) parts.push_back(absl::StrFormat("at most %.6g %s", limits.speed, turns ? "rad/s" : "m/s"));
  if (std::isfinite(limits.effort)) parts.push_back(absl::StrFormat("at most %.6g %s", limits.effort, turns ? "N m" : "N"));
  if (joint.damping > 0) parts.push_back(absl::StrFormat("damping %.6g %s", joint.damping, turns ? "N m s/rad" : "N s/m"));
  if (joint.friction > 0) parts.push_back(absl::StrFormat("friction %.6g %s", joint.friction, turns ? "N m" : "N"));
  if (joint.spring > 0) {
    parts.push_back(absl::StrFormat("spring %.6g %s at rest at %.6g %s", joint.spring, turns ? "N m/rad" : "N/m", joint.spring_rest,
                                    turns ? "rad" : "m"));
  }
  return parts.empty() ? "" : absl::StrCat(", ", absl::StrJoin(parts, ", "));
}

std::string JointText(const RobotJoint& joint, const Robot& robot) {
  static constexpr const char* kTypes[] = {"fixed", "revolute about ", "continuous about ", "prismatic along "};
  std::string text = absl::StrCat("joint ", joint.name, ": ", kTypes[static_cast<int>(joint.type)]);
  if (!joint.moves()) return text;
  absl::StrAppend(&text, Text(joint.axis), LimitText(joint));
  if (joint.mimic) {
    absl::StrAppendFormat(&text, ", follows %.6g * %s", joint.mimic->multiplier, robot.joints[joint.mimic->joint].name);
    if (joint.mimic->offset != 0) absl::StrAppendFormat(&text, " %+.6g", joint.mimic->offset);
  }
  return text;
}

}  // namespace

std::string RobotText(const Robot& robot, const std::vector<Pose>& poses) {
  int fixed = 0, following = 0;
  double mass = 0;
  for (const RobotJoint& joint : robot.joints) {
    fixed += joint.moves() ? 0 : 1;
    following += joint.mimic ? 1 : 0;
  }
  for (const Link& link : robot.links) mass += link.inertia ? link.inertia->mass_kg : 0;
  const int joints = static_cast<int>(robot.joints.size());
  std::string text = absl::StrFormat("robot %s: %d links, %d joints (%d driven, %d following, %d fixed), %.6g kg\n", robot.name,
                                     robot.links.size(), joints, joints - fixed - following, following, fixed, mass);
  absl::StrAppend(&text, LinkText(robot.links[0], poses[0]), "\n");
  std::vector<int> depth(robot.links.size(), 0);
  for (const RobotJoint& joint : robot.joints) {
    depth[joint.child] = depth[joint.parent] + 1;
    const std::string indent(4 * depth[joint.child] - 2, ' ');
    absl::StrAppend(&text, indent, JointText(joint, robot), "\n", indent, "  ",
                    LinkText(robot.links[joint.child], poses[joint.child]), "\n");
  }
  return text;
}

}  // namespace eipc
