#ifndef EIPC_SERVER_CONVERT_SLIDER_CONVERT_H_
#define EIPC_SERVER_CONVERT_SLIDER_CONVERT_H_

#include "sim/dynamics/interpolation.h"
#include "sim/dynamics/slider.h"
#include "sim/dynamics/state.h"
#include "sim/scene/scene_spec.h"

namespace eipc::v1 {
class DriveMotion;
class DriveReading;
class JointDrive;
class PoseDrive;
class PoseDriveReading;
class Slider;
}  // namespace eipc::v1

namespace eipc {

// The interpolation that has the number of a v1::Trajectory::Interpolation; linear when it is not set.
Interpolation InterpolationFromWire(int interpolation);
DriveMotion DriveMotionFromProto(const v1::DriveMotion& message);
SliderSpec SliderFromProto(const v1::Slider& message);
JointDrive JointDriveFromProto(const v1::JointDrive& message);
PoseDriveGains PoseDriveFromProto(const v1::PoseDrive& message);
void PoseDriveReadingToProto(const State::PoseDrive& drive, v1::PoseDriveReading* out);
void DriveReadingToProto(const State::Slider& slider, v1::DriveReading* out);

}  // namespace eipc

#endif  // EIPC_SERVER_CONVERT_SLIDER_CONVERT_H_
