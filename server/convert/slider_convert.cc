#include "server/convert/slider_convert.h"

#include "eipc/v1/observation.pb.h"
#include "eipc/v1/scene.pb.h"
#include "server/convert/geometry_convert.h"

namespace eipc {
namespace {

constexpr double kGuideStiffness = 1e7;  // N/m, of a guide that a scene says nothing of

DriveMode ModeFromProto(v1::DriveMotion::Mode mode) {
  switch (mode) {
    case v1::DriveMotion::VELOCITY:
      return DriveMode::kVelocity;
    case v1::DriveMotion::FORCE:
      return DriveMode::kForce;
    default:
      return DriveMode::kPosition;
  }
}

v1::DriveMotion::Mode ModeToProto(DriveMode mode) {
  switch (mode) {
    case DriveMode::kPosition:
      return v1::DriveMotion::POSITION;
    case DriveMode::kVelocity:
      return v1::DriveMotion::VELOCITY;
    case DriveMode::kForce:
      return v1::DriveMotion::FORCE;
  }
  return v1::DriveMotion::MODE_UNSPECIFIED;
}

}  // namespace

Interpolation InterpolationFromWire(int interpolation) {
  switch (interpolation) {
    case v1::Trajectory::CUBIC:
      return Interpolation::kCubic;
    case v1::Trajectory::MINIMUM_JERK:
      return Interpolation::kMinimumJerk;
    default:
      return Interpolation::kLinear;
  }
}

DriveMotion DriveMotionFromProto(const v1::DriveMotion& message) {
  DriveMotion motion;
  motion.mode = ModeFromProto(message.mode());
  motion.interpolation = InterpolationFromWire(message.interpolation());
  for (const v1::DriveKey& key : message.keys()) motion.keys.push_back({key.time_s(), key.value()});
  return motion;
}

SliderSpec SliderFromProto(const v1::Slider& message) {
  SliderSpec spec;
  Slider& slider = spec.slider;
  slider.axis = Vec3FromProto(message.axis());
  slider.max_force_n = message.max_force_n();
  slider.stiffness_n_m = message.stiffness_n_m();
  slider.damping_n_s_m = message.damping_n_s_m();
  slider.max_speed_m_s = message.max_speed_m_s();
  slider.guide_stiffness_n_m = message.guide_stiffness_n_m() == 0 ? kGuideStiffness : message.guide_stiffness_n_m();
  slider.motion = DriveMotionFromProto(message.motion());
  spec.mass_kg = message.mass_kg();
  return spec;
}

JointDrive JointDriveFromProto(const v1::JointDrive& message) {
  JointDrive drive;
  drive.gains = {message.max_effort(), message.stiffness(), message.damping(), message.max_speed()};
  drive.max_acceleration = message.max_acceleration();
  drive.motion = DriveMotionFromProto(message.motion());
  return drive;
}

PoseDriveGains PoseDriveFromProto(const v1::PoseDrive& message) {
  PoseDriveGains gains;
  gains.stiffness = Vec3FromProto(message.stiffness_n_m());
  gains.damping = Vec3FromProto(message.damping_n_s_m());
  gains.max_force = Vec3FromProto(message.max_force_n());
  gains.turn_stiffness = message.stiffness_nm_rad();
  gains.turn_damping = message.damping_nm_s_rad();
  gains.max_moment = message.max_moment_nm();
  return gains;
}

void PoseDriveReadingToProto(const State::PoseDrive& drive, v1::PoseDriveReading* out) {
  Vec3ToProto(drive.force_n, out->mutable_force_n());
  Vec3ToProto(drive.moment_nm, out->mutable_moment_nm());
  out->set_saturated(drive.saturated);
  out->set_blocked(drive.blocked);
}

void DriveReadingToProto(const State::Slider& slider, v1::DriveReading* out) {
  out->set_mode(ModeToProto(slider.mode));
  out->set_commanded(slider.value);
  out->set_position_m(slider.position_m);
  out->set_velocity_m_s(slider.velocity_m_s);
  out->set_effort_n(slider.effort_n);
  out->set_saturated(slider.saturated);
  out->set_blocked(slider.blocked);
}

}  // namespace eipc
