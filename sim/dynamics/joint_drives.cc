#include "sim/dynamics/joint_drives.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/dynamics/drive_gains.h"

namespace eipc {
namespace {

// What is asked of a drive at the end of a part of a step.
struct Order {
  DriveMode mode;
  double value;
  double rate;
};

const DriveCommand* CommandOf(const Model& model, const StepInput& input, size_t joint) {
  const auto index = static_cast<int32_t>(model.sliders.size() + joint);
  for (const DriveCommand& command : input.drives) {
    if (command.drive == index) return &command;
  }
  return nullptr;
}

Order OrderOf(const JointDrive& drive, const DriveCommand* command, double time_s, double part, const State::Joint& joint) {
  const State::Slider& now = joint.drive;
  if (command != nullptr) {
    const bool same = now.mode == command->mode && part < 1;
    return {command->mode, same ? joint.goal + part * (command->value - joint.goal) : command->value, command->rate};
  }
  if (now.by_client || drive.motion.empty()) return {now.mode, joint.goal, 0};
  return {drive.motion.mode, drive.motion.At(time_s), drive.motion.RateAt(time_s)};
}

// The setpoint with which the drive gets there without exceeding its acceleration.
Setpoint Limited(const JointDrive& drive, const Order& order, double h, const State::Joint& joint) {
  const bool same = joint.drive.mode == order.mode;
  switch (order.mode) {
    case DriveMode::kPosition: {
      const Setpoint from = same ? Setpoint{joint.drive.value, joint.drive.rate} : Setpoint{joint.position, joint.velocity};
      return Approach(from, order.value, order.rate, drive.max_acceleration, drive.gains.max_speed, h);
    }
    case DriveMode::kVelocity: {
      const double from = same ? joint.drive.value : joint.velocity, most = drive.max_acceleration * h;
      return {std::clamp(order.value, from - most, from + most), 0};
    }
    case DriveMode::kForce:
      break;
  }
  return {order.value, 0};
}

}  // namespace

Setpoint Approach(const Setpoint& from, double goal, double goal_rate, double acceleration, double max_speed, double h) {
  const double limit = max_speed > 0 ? max_speed : std::numeric_limits<double>::infinity();
  // In the frame of the goal: the greatest speed r now from which r h, (r - a h) h, ... ends within the distance to it.
  const double away = goal - (from.value + h * goal_rate), distance = std::abs(away), once = acceleration * h;
  const double braking = -0.5 * once + std::sqrt(0.25 * once * once + 2 * acceleration * distance);
  const double wanted = goal_rate + std::copysign(std::min(braking, distance / h), away);
  double rate = std::clamp(std::clamp(wanted, -limit, limit), from.rate - once, from.rate + once);
  rate = std::clamp(rate, std::min(-limit, from.rate + once), std::max(limit, from.rate - once));
  return {from.value + h * rate, rate};
}

void StartJointDrives(const Model& model, std::vector<State::Joint>* joints) {
  for (size_t j = 0; j < model.joints.size(); ++j) {
    if (!model.joints[j].drive) continue;
    const JointDrive& drive = *model.joints[j].drive;
    State::Joint& joint = (*joints)[j];
    joint.drive = {};
    joint.goal = 0;
    if (!(drive.gains.stiffness > 0)) joint.drive.mode = DriveMode::kForce;  // it takes no positions: nothing is commanded
    joint.drive.position_m = joint.position;
    if (drive.motion.empty()) continue;
    joint.drive.mode = drive.motion.mode;
    joint.goal = drive.motion.At(0);
    // With a limited acceleration it sets out from where it is.
    const bool jumps = drive.max_acceleration == 0 || joint.drive.mode == DriveMode::kForce;
    joint.drive.value = jumps ? joint.goal : 0;
  }
}

void CommandJoints(const Model& model, const StepInput& input, double time_s, double part, std::vector<State::Joint>* joints) {
  for (size_t j = 0; j < model.joints.size(); ++j) {
    if (!model.joints[j].drive) continue;
    const JointDrive& drive = *model.joints[j].drive;
    State::Joint& joint = (*joints)[j];
    const DriveCommand* command = CommandOf(model, input, j);
    const Order order = OrderOf(drive, command, time_s, part, joint);
    const Setpoint setpoint =
        drive.max_acceleration > 0 ? Limited(drive, order, part * input.dt_s, joint) : Setpoint{order.value, order.rate};
    joint.goal = order.value;
    joint.drive.mode = order.mode;
    joint.drive.value = setpoint.value;
    joint.drive.rate = setpoint.rate;
    joint.drive.by_client |= command != nullptr;
  }
}

std::vector<DriveLaw> StageJointLaws(const Model& model, const std::vector<State::Joint>& start,
                                     const std::vector<State::Joint>& last, double end) {
  std::vector<DriveLaw> laws(model.joints.size());
  for (size_t j = 0; j < model.joints.size(); ++j) {
    if (!model.joints[j].drive) continue;
    const State::Slider &first = start[j].drive, &goal = last[j].drive;
    const bool same = first.mode == goal.mode && end < 1;
    laws[j] = LawOf(model.joints[j].drive->gains, goal.mode, same ? first.value + end * (goal.value - first.value) : goal.value,
                    goal.rate);
  }
  return laws;
}

void MeasureJointDrive(const Model& model, const Joint& of, double effort, State::Joint* joint) {
  constexpr double kAtLimit = 0.01;  // of the limit, as of sliders
  State::Slider& drive = joint->drive;
  drive.position_m = joint->position;
  drive.velocity_m_s = joint->velocity;
  drive.effort_n = effort;
  const double limit = LawOf(of.drive->gains, drive.mode, drive.value, drive.rate).force_limit;
  drive.saturated = limit > 0 && std::abs(effort) >= (1 - kAtLimit) * limit;
  const double forward = (effort > 0 ? joint->velocity : -joint->velocity) * of.drive->lever;
  drive.blocked = drive.saturated && forward < model.contact.friction_velocity_m_s;
}

bool JointDrivesFit(const State& state, const Model& model) {
  for (size_t j = 0; j < model.joints.size(); ++j) {
    if (!model.joints[j].drive) continue;
    const DriveMode mode = state.joints[j].drive.mode;
    if (mode != DriveMode::kPosition && mode != DriveMode::kVelocity && mode != DriveMode::kForce) return false;
    if (!DriveProblem(model.joints[j].drive->gains, kJointDriveNames, mode, state.joints[j].drive.value).empty()) return false;
  }
  return true;
}

}  // namespace eipc
