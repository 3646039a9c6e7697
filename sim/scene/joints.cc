#include "sim/scene/joints.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "sim/dynamics/joints.h"
#include "sim/scene/check_name.h"

namespace eipc {
namespace {

const BodySpec* FindBody(const SceneSpec& spec, const std::string& name) {
  const auto at = std::find_if(spec.bodies.begin(), spec.bodies.end(), [&](const BodySpec& body) { return body.name == name; });
  return at == spec.bodies.end() ? nullptr : &*at;
}

void CheckNumber(double value, bool positive, const std::string& path, Problems* problems) {
  const bool good = std::isfinite(value) && (positive ? value > 0 : value >= 0);
  if (!good) problems->Add(path, "must be ", positive ? "> 0" : ">= 0", ", got ", value);
}

void CheckBodies(const JointSpec& joint, const SceneSpec& spec, const std::string& path, Problems* problems) {
  const BodySpec* a = FindBody(spec, joint.body_a);
  const BodySpec* b = FindBody(spec, joint.body_b);
  if (a == nullptr) problems->Add(path + ".body_a", "no body is named \"", joint.body_a, "\"");
  if (b == nullptr && !joint.body_b.empty()) {
    problems->Add(path + ".body_b", "no body is named \"", joint.body_b, "\"; leave it empty for the world");
  }
  if (a == nullptr || (b == nullptr && !joint.body_b.empty())) return;
  if (a == b) {
    problems->Add(path + ".body_b", "is body_a itself; a joint connects two bodies, or one with the world");
    return;
  }
  const bool reacts = RowOf(a->kind).traits.reacts || (b != nullptr && RowOf(b->kind).traits.reacts);
  if (!reacts) problems->Add(path, "forces move neither of its bodies, so it would hold nothing");
  if (joint.kind == JointKind::kAttachment && !RowOf(a->kind).traits.deforms) {
    problems->Add(path + ".body_a", "vertices of a ", RowOf(a->kind).name,
                  " body cannot be attached one by one; name the body that ",
                  "deforms here and the other one as body_b, or weld the two");
  }
}

void CheckStops(const JointSpec& joint, const char* unit, const std::string& path, Problems* problems) {
  const JointLaw& law = joint.law;
  if (std::isnan(law.lower) || std::isnan(law.upper) || !(law.lower <= law.upper)) {
    problems->Add(absl::StrCat(path, ".lower_", unit), "must not exceed upper_", unit, " (", law.upper, "), got ", law.lower);
  } else if (law.lower > 0 || law.upper < 0) {
    problems->Add(absl::StrCat(path, law.lower > 0 ? ".lower_" : ".upper_", unit),
                  "shuts out 0, which is where the joint is as placed; place the bodies within the stops");
  }
  CheckNumber(law.stop_stiffness, false, absl::StrCat(path, ".stop_stiffness_", unit[0] == 'r' ? "nm_rad" : "n_m"), problems);
  if (law.stop_stiffness > 0 && !law.HasStops()) {
    problems->Add(absl::StrCat(path, ".stop_stiffness_", unit[0] == 'r' ? "nm_rad" : "n_m"), "is set, but no stop is");
  }
}

// Spring and damper along the coordinate of a hinge (angle) or of a slider or spring (length).
void CheckLaw(const JointLaw& law, bool angle, const std::string& path, Problems* problems) {
  CheckNumber(law.stiffness, false, path + (angle ? ".spring_nm_rad" : ".spring_n_m"), problems);
  CheckNumber(law.damping, false, path + (angle ? ".damping_nm_s_rad" : ".damping_n_s_m"), problems);
  if (!std::isfinite(law.rest)) problems->Add(path + (angle ? ".rest_rad" : ".rest_m"), "must be finite");
}

void CheckSpring(const JointSpec& joint, const std::string& path, Problems* problems) {
  CheckLaw(joint.law, false, path, problems);
  if (joint.law.stiffness == 0 && joint.law.damping == 0) {
    problems->Add(path, "gives neither spring_n_m nor damping_n_s_m, so it would exert nothing");
  }
  if (!joint.point_b.allFinite()) problems->Add(path + ".point_b_m", "must be finite");
  if (joint.rest_length_m) CheckNumber(*joint.rest_length_m, false, path + ".rest_length_m", problems);
}

void CheckKind(const JointSpec& joint, const std::string& joint_path, Problems* problems) {
  const std::string path = absl::StrCat(joint_path, ".", JointKindName(*joint.kind));
  if (!joint.point.allFinite()) problems->Add(path + ".point_m", "must be finite");
  CheckNumber(joint.width_m, false, path + ".width_m", problems);
  switch (*joint.kind) {
    case JointKind::kHinge:
    case JointKind::kSlider: {
      const bool angle = joint.kind == JointKind::kHinge;
      if (!joint.axis.allFinite() || joint.axis.isZero(0)) problems->Add(path + ".axis", "must be finite and not zero");
      CheckLaw(joint.law, angle, path, problems);
      CheckStops(joint, angle ? "rad" : "m", path, problems);
      break;
    }
    case JointKind::kSpring:
      CheckSpring(joint, path, problems);
      if (joint.stiffness_n_m > 0 || joint.drift_m > 0) {
        problems->Add(joint_path + (joint.stiffness_n_m > 0 ? ".stiffness_n_m" : ".drift_m"),
                      "a spring holds nothing fast; its stiffness is spring.spring_n_m");
      }
      break;
    case JointKind::kAttachment:
      if (joint.vertices.empty() && !joint.box) problems->Add(path, "give vertices or a box");
      break;
    case JointKind::kWeld:
    case JointKind::kBall:
      break;
  }
}

void CheckDriveKeys(const JointDrive& drive, const std::string& path, Problems* problems) {
  for (size_t k = 0; k < drive.motion.keys.size(); ++k) {
    const auto& [time_s, value] = drive.motion.keys[k];
    const std::string key = absl::StrCat(path, ".keys[", k, "]");
    if (!std::isfinite(time_s)) {
      problems->Add(key + ".time_s", "must be finite");
    } else if (k > 0 && !(time_s > drive.motion.keys[k - 1].time_s)) {
      problems->Add(key + ".time_s", "must be later than the key before it (", drive.motion.keys[k - 1].time_s, "), got ", time_s);
    }
    const std::string problem = DriveProblem(drive.gains, kJointDriveNames, drive.motion.mode, value);
    if (!problem.empty()) problems->Add(key + ".value", problem);
  }
}

bool HasAxis(const JointSpec& joint) { return joint.kind == JointKind::kHinge || joint.kind == JointKind::kSlider; }

void CheckDrive(const JointSpec& joint, const std::string& path, Problems* problems) {
  if (!HasAxis(joint)) {
    problems->Add(path, "only a hinge or slider has a coordinate to drive");
    return;
  }
  const JointDrive& drive = *joint.drive;
  CheckNumber(drive.gains.max_effort, true, path + ".max_effort", problems);
  CheckNumber(drive.gains.stiffness, false, path + ".stiffness", problems);
  CheckNumber(drive.gains.damping, false, path + ".damping", problems);
  CheckNumber(drive.gains.max_speed, false, path + ".max_speed", problems);
  CheckNumber(drive.max_acceleration, false, path + ".max_acceleration", problems);
  CheckDriveKeys(drive, path + ".motion", problems);
}

void CheckMimic(const JointSpec& joint, const SceneSpec& spec, const std::string& path, Problems* problems) {
  if (!HasAxis(joint)) {
    problems->Add(path, "only a hinge or slider has a coordinate that could follow");
    return;
  }
  const MimicSpec& mimic = *joint.mimic;
  const auto leader =
      std::find_if(spec.joints.begin(), spec.joints.end(), [&](const JointSpec& j) { return j.name == mimic.joint; });
  if (leader == spec.joints.end()) {
    problems->Add(path + ".joint", "no joint is named \"", mimic.joint, "\"");
  } else if (mimic.joint == joint.name) {
    problems->Add(path + ".joint", "is the joint itself");
  } else if (!HasAxis(*leader)) {
    problems->Add(path + ".joint", "\"", mimic.joint, "\" is no hinge or slider, so it has no coordinate to follow");
  } else if (leader->mimic) {
    problems->Add(path + ".joint", "\"", mimic.joint, "\" follows \"", leader->mimic->joint, "\" itself; follow that one");
  }
  if (!std::isfinite(mimic.law.multiplier) || mimic.law.multiplier == 0) {
    problems->Add(path + ".multiplier", "must be finite and not zero, got ", mimic.law.multiplier);
  }
  if (!std::isfinite(mimic.law.offset)) problems->Add(path + ".offset", "must be finite");
  CheckNumber(mimic.law.stiffness, false, path + ".stiffness", problems);
}

// Whether two bodies touch is one answer for all joints between them.
void CheckContact(const std::vector<JointSpec>& joints, size_t j, const std::string& path, Problems* problems) {
  if (!joints[j].contact) return;
  for (size_t i = 0; i < j; ++i) {
    if (!joints[i].contact || *joints[i].contact == *joints[j].contact || !SameBodies(joints[i], joints[j])) continue;
    problems->Add(path + ".contact", "joint \"", joints[i].name,
                  "\" between the same bodies says otherwise; give it for one of them");
    return;
  }
}

}  // namespace

void CheckJoints(const SceneSpec& spec, Problems* problems) {
  std::set<std::string> names;
  for (size_t j = 0; j < spec.joints.size(); ++j) {
    const JointSpec& joint = spec.joints[j];
    const std::string path = absl::StrCat("joints[", j, "]");
    CheckUniqueName(joint.name, "joint", path + ".name", &names, problems);
    CheckBodies(joint, spec, path, problems);
    CheckContact(spec.joints, j, path, problems);
    CheckNumber(joint.stiffness_n_m, false, path + ".stiffness_n_m", problems);
    CheckNumber(joint.drift_m, false, path + ".drift_m", problems);
    if (joint.stiffness_n_m > 0 && joint.drift_m > 0) {
      problems->Add(path + ".drift_m", "is what the stiffness is made from where none is given; leave one of the two out");
    }
    if (!joint.kind) {
      problems->Add(path, "must be one of weld, ball, hinge, slider, spring, attachment");
    } else {
      CheckKind(joint, path, problems);
      if (joint.drive) CheckDrive(joint, path + ".drive", problems);
      if (joint.mimic) CheckMimic(joint, spec, path + ".mimic", problems);
    }
  }
}

}  // namespace eipc
