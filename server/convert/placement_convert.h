#ifndef EIPC_SERVER_CONVERT_PLACEMENT_CONVERT_H_
#define EIPC_SERVER_CONVERT_PLACEMENT_CONVERT_H_

#include <optional>

#include "absl/status/statusor.h"
#include "sim/dynamics/placement.h"

namespace eipc::v1 {
class ResetRequest;
}  // namespace eipc::v1

namespace eipc {

// What a reset asks beside the scene's start; nullopt: nothing. NOT_FOUND or INVALID_ARGUMENT, naming the field.
absl::StatusOr<std::optional<StartOrder>> StartOrderFromProto(const Model& model, const v1::ResetRequest& request);

}  // namespace eipc

#endif  // EIPC_SERVER_CONVERT_PLACEMENT_CONVERT_H_
