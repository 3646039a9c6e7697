#ifndef EIPC_SERVER_CONVERT_STACK_CONVERT_H_
#define EIPC_SERVER_CONVERT_STACK_CONVERT_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/dynamics/model.h"

namespace eipc::v1 {
class StackedObservations;
class StackRequest;
class StepBatchResponse;
}  // namespace eipc::v1

namespace eipc {

class ObservationPlan;

// A checked StackRequest: puts the observations of many worlds side by side, one array a quantity. It takes them from the worlds'
// answers, so that the numbers are those of the answers, and an answer that is remembered gives the same arrays again.
class StackPlan {
 public:
  // INVALID_ARGUMENT for a group that does not come stacked, pairs that are missing, given twice or of bodies that are not
  // observed; NOT_FOUND for an unknown body. Model and request outlive the plan.
  static absl::StatusOr<StackPlan> Create(const Model& model, const v1::StackRequest& request);

  // What the arrays of that many worlds take, bytes.
  int64_t Bytes(int64_t worlds) const;
  // What the answers take from which they are made, bytes.
  int64_t AnswerBytes(int64_t worlds) const;

  // A row for each of the answers, whose requests observed what the StackRequest says.
  void Stack(const v1::StepBatchResponse& answers, v1::StackedObservations* out) const;

 private:
  StackPlan(const Model* model, const v1::StackRequest* request, const ObservationPlan& observed);
  absl::Status FindPairs();
  void StackStates(const v1::StepBatchResponse& answers, v1::StackedObservations* out) const;
  void StackBodies(const v1::StepBatchResponse& answers, v1::StackedObservations* out) const;
  void StackContacts(const v1::StepBatchResponse& answers, v1::StackedObservations* out) const;
  int64_t bodies() const { return static_cast<int64_t>(bodies_.size()); }
  int64_t pairs() const { return static_cast<int64_t>(pairs_.size()); }

  const Model* model_;
  const v1::StackRequest* request_;
  std::vector<int> bodies_;        // in the model's order
  int64_t observation_bytes_ = 0;  // of a world
  std::map<std::pair<absl::string_view, absl::string_view>, int64_t> pairs_;
};

}  // namespace eipc

#endif  // EIPC_SERVER_CONVERT_STACK_CONVERT_H_
