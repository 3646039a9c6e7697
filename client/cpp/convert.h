#ifndef EIPC_CLIENT_CPP_CONVERT_H_
#define EIPC_CLIENT_CPP_CONVERT_H_

// Between messages and the client's own types.

#include <array>
#include <string>

#include "absl/status/statusor.h"
#include "client/cpp/types.h"
#include "eipc/v1/service.pb.h"

namespace eipc::client {

void VectorToProto(const Vector3& v, v1::Vec3* out);
void QuaternionToProto(const std::array<double, 4>& wxyz, v1::Quaternion* out);
Pose PoseFromProto(const v1::Pose& pose);
StepOutcome OutcomeFromProto(v1::StepOutcome outcome);
void ObserveToProto(const Observe& observe, v1::ObservationRequest* out);
v1::StepRequest StepToProto(const std::string& session, double dt_s, const StepOptions& options);
// DATA_LOSS when an array does not fit its shape.
absl::StatusOr<Observation> ObservationFromProto(const v1::Observation& observation);
SceneInfo SceneInfoFromProto(const v1::SceneInfo& info);

}  // namespace eipc::client

#endif  // EIPC_CLIENT_CPP_CONVERT_H_
