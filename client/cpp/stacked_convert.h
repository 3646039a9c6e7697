#ifndef EIPC_CLIENT_CPP_STACKED_CONVERT_H_
#define EIPC_CLIENT_CPP_STACKED_CONVERT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cpp/stacked.h"
#include "eipc/v1/service.pb.h"

namespace eipc::client {

// The observations that the steps themselves ask for are left out.
v1::StepBatchRequest StackedBatchToProto(const std::string& session, double dt_s, const std::vector<StepOptions>& steps,
                                         const StackOptions& stack);

// worlds: requests of the batch. DATA_LOSS when an array does not fit its shape or the request.
absl::StatusOr<StackedObservations> StackedFromProto(const v1::StackedObservations& stacked, size_t worlds,
                                                     const StackOptions& stack);

}  // namespace eipc::client

#endif  // EIPC_CLIENT_CPP_STACKED_CONVERT_H_
