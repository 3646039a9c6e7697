#include "sim/dynamics/drive_gains.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "sim/base/number_range.h"

namespace eipc {

std::string DriveProblem(const DriveGains& gains, const GainNames& names, DriveMode mode, double value) {
  if (!std::isfinite(value)) return "must be finite";
  if (std::abs(value) > kLargestNumber) return absl::StrCat("must be at most ", kLargestNumber, ", got ", std::abs(value));
  if (mode == DriveMode::kPosition && !(gains.stiffness > 0)) {
    return absl::StrCat("a position needs a drive with ", names.stiffness, " > 0");
  }
  if (mode == DriveMode::kVelocity && !(gains.damping > 0)) {
    return absl::StrCat("a velocity needs a drive with ", names.damping, " > 0");
  }
  if (mode == DriveMode::kVelocity && gains.max_speed > 0 && std::abs(value) > gains.max_speed) {
    return absl::StrCat("must be at most the drive's ", names.max_speed, " (", gains.max_speed, "), got ", value);
  }
  if (mode == DriveMode::kForce && std::abs(value) > gains.max_effort) {
    return absl::StrCat("must be at most the drive's ", names.max_effort, " (", gains.max_effort, "), got ", value);
  }
  return "";
}

DriveLaw LawOf(const DriveGains& gains, DriveMode mode, double value, double rate) {
  DriveLaw law;
  law.force_limit = mode == DriveMode::kForce ? std::abs(value) : gains.max_effort;
  law.damping = gains.damping;
  if (gains.max_speed > 0) law.max_speed = gains.max_speed;
  switch (mode) {
    case DriveMode::kPosition:
      law.stiffness = gains.stiffness;
      law.target = value;
      law.velocity = rate;
      break;
    case DriveMode::kVelocity:
      law.velocity = value;
      break;
    case DriveMode::kForce:
      law.bias = value;
      break;
  }
  return law;
}

}  // namespace eipc
