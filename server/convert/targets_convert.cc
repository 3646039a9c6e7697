#include "server/convert/targets_convert.h"

#include <set>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "eipc/v1/service.pb.h"
#include "server/convert/geometry_convert.h"
#include "server/convert/slider_convert.h"
#include "server/convert/wire_check.h"
#include "sim/base/status_macros.h"
#include "sim/dynamics/sliders.h"
#include "sim/scene/problems.h"

namespace eipc {
namespace {

std::string BodyNames(const Model& model) {
  return absl::StrJoin(model.bodies, ", ", [](std::string* out, const Body& body) { out->append(body.name); });
}

std::string SetNames(const Model& model, int body) {
  std::vector<std::string> names;
  for (const BoundarySet& set : model.boundary_sets) {
    if (set.body == body) names.push_back(set.name);
  }
  return absl::StrJoin(names, ", ");
}

// Of a TargetPose, a TargetTrajectory or a DriveCommand.
template <typename T>
absl::StatusOr<int> FindFrame(const Model& model, const T& target, const std::string& path) {
  const int body = model.FindBody(target.body());
  if (body < 0) {
    return absl::NotFoundError(absl::StrCat("TARGET_NOT_FOUND: ", path, ".body: no body '", absl::CEscape(target.body()),
                                            "'; there are: ", BodyNames(model)));
  }
  const int set = model.FindBoundarySet(target.body(), target.boundary_set());
  if (set >= 0) return set;
  const std::string sets = SetNames(model, body);
  if (sets.empty() && !model.bodies[body].traits.IsDriven()) {
    return absl::InvalidArgumentError(absl::StrCat("TARGET_NOT_DRIVABLE: ", path, ".body: '", target.body(), "' is ",
                                                   model.bodies[body].kind, " and has no boundary sets to drive"));
  }
  return absl::NotFoundError(absl::StrCat("TARGET_NOT_FOUND: ", path, ".boundary_set: '", target.body(), "' has no boundary set '",
                                          absl::CEscape(target.boundary_set()), "'",
                                          sets.empty()
                                              ? absl::StrCat("; it is ", model.bodies[body].kind, ": leave the field empty")
                                              : absl::StrCat("; it has: ", sets)));
}

absl::Status Invalid(const Problems& problems) {
  return absl::InvalidArgumentError(absl::StrCat("INVALID_REQUEST: ", problems.ToStatus().message()));
}

constexpr int kMaxKeys = 100'000;

Trajectory KeysFromProto(const v1::Trajectory& message, const std::string& path, Problems* problems) {
  Trajectory trajectory;
  trajectory.interpolation = InterpolationFromWire(message.interpolation());
  if (message.keyframes().empty()) problems->Add(path, "must have at least one keyframe");
  if (message.keyframes_size() > kMaxKeys) {
    problems->Add(path, "must have at most ", kMaxKeys, " keyframes, got ", message.keyframes_size());
    return trajectory;
  }
  CheckFiniteAndKnown(message, path, problems);
  if (!problems->empty()) return trajectory;
  for (int i = 0; i < message.keyframes_size(); ++i) {
    const std::string key_path = absl::StrCat(path, ".keyframes[", i, "]");
    const double time = message.keyframes(i).time_s();
    if (!trajectory.empty() && !(time > trajectory.keys.back().time_s)) {
      problems->Add(key_path + ".time_s", "must be later than the one before, got ", time);
      return trajectory;
    }
    trajectory.keys.push_back({time, PoseFromProto(message.keyframes(i).pose(), key_path + ".pose", problems)});
  }
  return trajectory;
}

// What is wrong with a command of this drive (DriveCommand::drive); empty: nothing.
std::string ProblemOf(const Model& model, int drive, DriveMode mode, double value) {
  const auto index = static_cast<size_t>(drive);
  if (index < model.sliders.size()) return DriveProblem(model.sliders[index], mode, value);
  return DriveProblem(model.joints[index - model.sliders.size()].drive->gains, kJointDriveNames, mode, value);
}

DriveMotion MotionFromProto(const v1::DriveMotion& message, const Model& model, int drive, const std::string& path,
                            Problems* problems) {
  if (message.keys().empty()) problems->Add(path + ".keys", "must have at least one key");
  if (message.keys_size() > kMaxKeys) {
    problems->Add(path + ".keys", "must have at most ", kMaxKeys, " keys, got ", message.keys_size());
    return {};
  }
  CheckFiniteAndKnown(message, path, problems);
  if (!problems->empty()) return {};
  DriveMotion motion = DriveMotionFromProto(message);
  for (size_t i = 0; i < motion.keys.size(); ++i) {
    const std::string key_path = absl::StrCat(path, ".keys[", i, "]");
    if (i > 0 && !(motion.keys[i].time_s > motion.keys[i - 1].time_s)) {
      problems->Add(key_path + ".time_s", "must be later than the one before, got ", motion.keys[i].time_s);
    }
    const std::string problem = ProblemOf(model, drive, motion.mode, motion.keys[i].value);
    if (!problem.empty()) problems->Add(key_path + ".value", problem);
  }
  return motion;
}

absl::StatusOr<int> FindJointDrive(const Model& model, const v1::DriveCommand& command, const std::string& path) {
  if (!command.body().empty() || !command.boundary_set().empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("INVALID_REQUEST: ", path, ".joint: a command names a joint or a body, not both"));
  }
  const int joint = model.FindJoint(command.joint());
  if (joint >= 0 && model.joints[joint].drive) return static_cast<int>(model.sliders.size()) + joint;
  std::vector<std::string> driven;
  for (const Joint& known : model.joints) {
    if (known.drive) driven.push_back(known.name);
  }
  const std::string there =
      driven.empty() ? "; the scene has none with a drive" : absl::StrCat("; there are: ", absl::StrJoin(driven, ", "));
  if (joint >= 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("TARGET_NOT_DRIVABLE: ", path, ".joint: '", command.joint(), "' has no drive", there));
  }
  return absl::NotFoundError(
      absl::StrCat("TARGET_NOT_FOUND: ", path, ".joint: no joint '", absl::CEscape(command.joint()), "'", there));
}

// DriveCommand::drive.
absl::StatusOr<int> FindDrive(const Model& model, const v1::DriveCommand& command, const std::string& path) {
  if (!command.joint().empty()) return FindJointDrive(model, command, path);
  EIPC_ASSIGN_OR_RETURN(const int frame, FindFrame(model, command, path));
  const int slider = model.FindSlider(frame);
  if (slider >= 0) return slider;
  std::vector<std::string> sliders;
  for (size_t i = 0; i < model.sliders.size(); ++i) sliders.push_back(SliderName(model, i));
  return absl::InvalidArgumentError(
      absl::StrCat("TARGET_NOT_DRIVABLE: ", path, ": '", command.body(), "' has no slider there; ",
                   sliders.empty() ? "the scene has none" : "there are: ", absl::StrJoin(sliders, ", ")));
}

}  // namespace

absl::StatusOr<std::vector<Target>> TargetsFromProto(const Model& model,
                                                     const google::protobuf::RepeatedPtrField<v1::TargetPose>& targets) {
  std::vector<Target> result;
  std::set<int> seen;
  for (int i = 0; i < targets.size(); ++i) {
    const std::string path = absl::StrCat("targets[", i, "]");
    EIPC_ASSIGN_OR_RETURN(const int frame, FindFrame(model, targets[i], path));
    if (!seen.insert(frame).second) {
      return absl::InvalidArgumentError(absl::StrCat("INVALID_REQUEST: ", path, ": this frame has a target already"));
    }
    if (!targets[i].has_pose()) return absl::InvalidArgumentError(absl::StrCat("INVALID_REQUEST: ", path, ".pose: missing"));
    Problems problems;
    CheckFiniteAndKnown(targets[i].pose(), absl::StrCat(path, ".pose"), &problems);
    const Pose pose = PoseFromProto(targets[i].pose(), absl::StrCat(path, ".pose"), &problems);
    if (!problems.empty()) return Invalid(problems);
    result.push_back({frame, pose});
  }
  return result;
}

absl::StatusOr<std::vector<FrameTrajectory>> TargetTrajectoriesFromProto(
    const Model& model, const google::protobuf::RepeatedPtrField<v1::TargetTrajectory>& trajectories,
    const std::vector<Target>& targets) {
  std::vector<FrameTrajectory> result;
  std::set<int> seen;
  for (const Target& target : targets) seen.insert(target.boundary_set);
  for (int i = 0; i < trajectories.size(); ++i) {
    const std::string path = absl::StrCat("trajectories[", i, "]");
    EIPC_ASSIGN_OR_RETURN(const int frame, FindFrame(model, trajectories[i], path));
    if (!seen.insert(frame).second) {
      return absl::InvalidArgumentError(absl::StrCat("INVALID_REQUEST: ", path, ": this frame has a target or trajectory already"));
    }
    Problems problems;
    Trajectory keys = KeysFromProto(trajectories[i].trajectory(), path + ".trajectory", &problems);
    if (!problems.empty()) return Invalid(problems);
    result.push_back({frame, std::move(keys)});
  }
  return result;
}

absl::StatusOr<std::vector<TimedDrive>> DriveCommandsFromProto(
    const Model& model, const google::protobuf::RepeatedPtrField<v1::DriveCommand>& commands) {
  std::vector<TimedDrive> result;
  std::set<int> seen;
  for (int i = 0; i < commands.size(); ++i) {
    const std::string path = absl::StrCat("drives[", i, "]");
    EIPC_ASSIGN_OR_RETURN(const int drive, FindDrive(model, commands[i], path));
    if (!seen.insert(drive).second) {
      return absl::InvalidArgumentError(absl::StrCat("INVALID_REQUEST: ", path, ": this drive has a command already"));
    }
    Problems problems;
    DriveMotion motion = MotionFromProto(commands[i].motion(), model, drive, path + ".motion", &problems);
    if (!problems.empty()) return Invalid(problems);
    result.push_back({drive, std::move(motion)});
  }
  return result;
}

}  // namespace eipc
