#ifndef EIPC_SERVER_CONVERT_STEP_CONVERT_H_
#define EIPC_SERVER_CONVERT_STEP_CONVERT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/dynamics/substep_input.h"

namespace eipc::v1 {
class StepRequest;
}  // namespace eipc::v1

namespace eipc {

// What a StepRequest asks of a session.
struct StepOrder {
  double dt_s = 0;
  std::vector<Target> targets;
  std::vector<FrameTrajectory> trajectories;
  int substeps = 1;
  std::optional<int64_t> expected_step;
  std::vector<TimedDrive> drives = {};
  double time_limit_s = 0;
};

// INVALID_ARGUMENT or NOT_FOUND, naming the field.
absl::StatusOr<StepOrder> StepOrderFromProto(const Model& model, const v1::StepRequest& request, int max_substeps);

}  // namespace eipc

#endif  // EIPC_SERVER_CONVERT_STEP_CONVERT_H_
