#ifndef EIPC_SIM_SOLVER_STEP_BUDGET_H_
#define EIPC_SIM_SOLVER_STEP_BUDGET_H_

#include <chrono>
#include <functional>

#include "absl/status/status.h"

namespace eipc {

// What may end a solve early. Polled in every Newton iteration; when it trips, the step is abandoned whole.
struct StepBudget {
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  std::function<bool()> cancelled;  // may be empty

  absl::Status Poll() const {
    if (cancelled && cancelled()) return absl::CancelledError("step cancelled; the session stays at its last whole step");
    if (deadline != std::chrono::steady_clock::time_point::max() && std::chrono::steady_clock::now() > deadline) {
      return absl::DeadlineExceededError("deadline exceeded during the step; the session stays at its last whole step");
    }
    return absl::OkStatus();
  }
};

}  // namespace eipc

#endif  // EIPC_SIM_SOLVER_STEP_BUDGET_H_
