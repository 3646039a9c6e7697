#ifndef EIPC_SERVER_CONVERT_TARGETS_CONVERT_H_
#define EIPC_SERVER_CONVERT_TARGETS_CONVERT_H_

#include <google/protobuf/repeated_ptr_field.h>

#include <vector>

#include "absl/status/statusor.h"
#include "sim/dynamics/substep_input.h"

namespace eipc::v1 {
class DriveCommand;
class TargetPose;
class TargetTrajectory;
}  // namespace eipc::v1

namespace eipc {

// Poses that a client wants frames to reach. NOT_FOUND names the bodies or boundary sets there are; INVALID_ARGUMENT for a missing
// or malformed pose, a body that cannot be driven, or a frame that is named twice.
absl::StatusOr<std::vector<Target>> TargetsFromProto(const Model& model,
                                                     const google::protobuf::RepeatedPtrField<v1::TargetPose>& targets);

// Where frames should be during a request. Likewise; and INVALID_ARGUMENT for keyframes that are missing, not in order, or too
// many, and for a frame that `targets` names too.
absl::StatusOr<std::vector<FrameTrajectory>> TargetTrajectoriesFromProto(
    const Model& model, const google::protobuf::RepeatedPtrField<v1::TargetTrajectory>& trajectories,
    const std::vector<Target>& targets);

// What drives of sliders and joints should do during a request. Likewise; INVALID_ARGUMENT (TARGET_NOT_DRIVABLE) for a set that no
// slider holds or a joint without a drive, and for what its drive cannot do.
absl::StatusOr<std::vector<TimedDrive>> DriveCommandsFromProto(
    const Model& model, const google::protobuf::RepeatedPtrField<v1::DriveCommand>& commands);

}  // namespace eipc

#endif  // EIPC_SERVER_CONVERT_TARGETS_CONVERT_H_
