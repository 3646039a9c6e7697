#ifndef EIPC_SERVER_CONVERT_TARGETS_CONVERT_H_
#define EIPC_SERVER_CONVERT_TARGETS_CONVERT_H_

#include <google/protobuf/repeated_ptr_field.h>

#include <vector>

#include "absl/status/statusor.h"
#include "sim/dynamics/simulation.h"

namespace eipc::v1 {
class TargetPose;
}  // namespace eipc::v1

namespace eipc {

// Poses that a client wants frames to reach. NOT_FOUND names the bodies or boundary sets there are; INVALID_ARGUMENT for a missing
// or malformed pose, a body that cannot be driven, or a frame that is named twice.
absl::StatusOr<std::vector<Target>> TargetsFromProto(const Model& model,
                                                     const google::protobuf::RepeatedPtrField<v1::TargetPose>& targets);

}  // namespace eipc

#endif  // EIPC_SERVER_CONVERT_TARGETS_CONVERT_H_
