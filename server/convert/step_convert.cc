#include "server/convert/step_convert.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "eipc/v1/service.pb.h"
#include "server/convert/targets_convert.h"
#include "sim/base/status_macros.h"

namespace eipc {

absl::StatusOr<StepOrder> StepOrderFromProto(const Model& model, const v1::StepRequest& request, int max_substeps) {
  if (!(request.dt_s() > 0) || !std::isfinite(request.dt_s())) {
    return absl::InvalidArgumentError(absl::StrCat("INVALID_REQUEST: dt_s: must be finite and > 0, got ", request.dt_s()));
  }
  if (request.substeps() < 0 || request.substeps() > max_substeps) {
    return absl::InvalidArgumentError(
        absl::StrCat("INVALID_REQUEST: substeps: must be in [0, ", max_substeps, "], got ", request.substeps()));
  }
  if (!(request.time_limit_s() >= 0) || !std::isfinite(request.time_limit_s())) {
    return absl::InvalidArgumentError(
        absl::StrCat("INVALID_REQUEST: time_limit_s: must be finite and >= 0 (0: no limit), got ", request.time_limit_s()));
  }
  StepOrder order;
  order.dt_s = request.dt_s();
  order.time_limit_s = request.time_limit_s();
  order.substeps = std::max(1, request.substeps());
  if (request.has_expected_step()) order.expected_step = request.expected_step();
  EIPC_ASSIGN_OR_RETURN(order.targets, TargetsFromProto(model, request.targets()));
  EIPC_ASSIGN_OR_RETURN(order.trajectories, TargetTrajectoriesFromProto(model, request.trajectories(), order.targets));
  EIPC_ASSIGN_OR_RETURN(order.drives, DriveCommandsFromProto(model, request.drives()));
  return order;
}

}  // namespace eipc
