#include "sim/dynamics/drives.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "sim/dynamics/sliders.h"

namespace eipc {

namespace {

absl::Status CheckDriveCommands(const Model& model, const StepInput& input) {
  const size_t sliders = model.sliders.size();
  std::vector<uint8_t> commanded(sliders + model.joints.size(), 0);
  for (size_t i = 0; i < input.drives.size(); ++i) {
    const DriveCommand& command = input.drives[i];
    const std::string path = absl::StrCat("drives[", i, "]");
    const auto index = static_cast<size_t>(command.drive);
    const bool known = command.drive >= 0 && index < commanded.size();
    if (!known || (index >= sliders && !model.joints[index - sliders].drive)) {
      return absl::InvalidArgumentError(path + ": no such drive");
    }
    if (commanded[index]++ != 0) {
      return absl::InvalidArgumentError(path + ": this drive has another command in the same step");
    }
    const std::string problem =
        index < sliders ? DriveProblem(model.sliders[index], command.mode, command.value)
                        : DriveProblem(model.joints[index - sliders].drive->gains, kJointDriveNames, command.mode, command.value);
    if (!problem.empty()) return absl::InvalidArgumentError(absl::StrCat(path, ".value: ", problem));
    if (!std::isfinite(command.rate)) return absl::InvalidArgumentError(path + ".rate: must be finite");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckStepInput(const Model& model, const StepInput& input) {
  if (!(input.dt_s > 0) || !(input.dt_s <= 1)) {
    return absl::InvalidArgumentError(absl::StrCat("dt_s: must be in (0, 1], got ", input.dt_s));
  }
  for (size_t i = 0; i < input.targets.size(); ++i) {
    const Target& target = input.targets[i];
    if (target.boundary_set < 0 || target.boundary_set >= static_cast<int32_t>(model.boundary_sets.size())) {
      return absl::InvalidArgumentError(absl::StrCat("targets[", i, "]: no such boundary set"));
    }
    const auto same = [&target](const Target& other) { return other.boundary_set == target.boundary_set; };
    if (std::any_of(input.targets.begin(), input.targets.begin() + static_cast<std::ptrdiff_t>(i), same)) {
      return absl::InvalidArgumentError(absl::StrCat("targets[", i, "]: this boundary set has another target in the same step"));
    }
    if (!target.pose.position.allFinite() || !target.pose.rotation.coeffs().allFinite()) {
      return absl::InvalidArgumentError(absl::StrCat("targets[", i, "].pose: must be finite"));
    }
    if (std::abs(target.pose.rotation.norm() - 1) > 1e-6) {
      return absl::InvalidArgumentError(
          absl::StrCat("targets[", i, "].pose.quaternion: must have length 1, got ", target.pose.rotation.norm()));
    }
  }
  return CheckDriveCommands(model, input);
}

void CommandDrives(const Model& model, const StepInput& input, double time_s, double part, std::vector<State::Drive>* drives) {
  for (size_t i = 0; i < drives->size(); ++i) {
    State::Drive& drive = (*drives)[i];
    if (!drive.by_client && !model.boundary_sets[i].trajectory.empty())
      drive.commanded = model.boundary_sets[i].trajectory.At(time_s);
  }
  for (const Target& target : input.targets) {
    State::Drive& drive = (*drives)[target.boundary_set];
    const Pose goal = {target.pose.position, target.pose.rotation.normalized()};
    drive.commanded = part < 1 ? Trajectory{{{0, drive.commanded}, {1, goal}}}.At(part) : goal;
    drive.by_client = true;
  }
}

void DriveTargets(const Model& model, const std::vector<State::Drive>& drives, std::vector<uint8_t>* prescribed, VecX* target) {
  prescribed->assign(model.node_count, 0);
  for (size_t i = 0; i < drives.size(); ++i) {
    const BoundarySet& set = model.boundary_sets[i];
    if (set.slides) continue;
    for (size_t k = 0; k < set.nodes.size(); ++k) {
      (*prescribed)[set.nodes[k]] = 1;
      target->segment<3>(3 * set.nodes[k]) = drives[i].commanded.Apply(set.local_positions[k]);
    }
  }
}

double MeasureDriveErrors(const Model& model, const VecX& target, const VecX& q, std::vector<State::Drive>* drives) {
  double largest = 0;
  for (size_t i = 0; i < drives->size(); ++i) {
    if (model.boundary_sets[i].slides) continue;
    double error = 0;
    for (int32_t node : model.boundary_sets[i].nodes) {
      error = std::max(error, (target.segment<3>(3 * node) - q.segment<3>(3 * node)).norm());
    }
    (*drives)[i].error_m = error;
    largest = std::max(largest, error);
  }
  return largest;
}

bool Missed(const Model& model, const std::vector<State::Drive>& drives, size_t drive) {
  return !model.boundary_sets[drive].slides && drives[drive].error_m > 0;
}

int MissedTargets(const Model& model, const std::vector<State::Drive>& drives) {
  int missed = 0;
  for (size_t i = 0; i < drives.size(); ++i) missed += Missed(model, drives, i);
  return missed;
}

}  // namespace eipc
