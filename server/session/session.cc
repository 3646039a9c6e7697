#include "server/session/session.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/base/status_macros.h"

namespace eipc {

Session::Session(SceneRegistry::Pin scene, int threads) : scene_(std::move(scene)), world_(scene_->model, threads) {}

absl::Status Session::Step(const StepCommand& command, const StepBudget& budget, SolveSlots* slots) {
  const int64_t start = world_.state().step;
  if (command.expected_step && *command.expected_step != start) {
    return absl::AbortedError(
        absl::StrCat("STEP_MISMATCH: expected_step is ", *command.expected_step, ", but the session is at step ", start));
  }
  for (int taken = 0; taken < command.substeps; ++taken) {
    const absl::Status status = StepOnce(command, budget, slots);
    if (status.ok()) continue;
    return absl::Status(status.code(), absl::StrCat(status.message(), " (session at step ", world_.state().step, ", ", taken,
                                                    " of ", command.substeps, " substeps taken)"));
  }
  return absl::OkStatus();
}

absl::Status Session::StepOnce(const StepCommand& command, const StepBudget& budget, SolveSlots* slots) {
  EIPC_ASSIGN_OR_RETURN(const FifoGate::Pass slot, slots->Take(budget));
  return world_.Step(command.input, budget);
}

void Session::Reset() {
  world_.Reset();
  retries_.Forget();
}

}  // namespace eipc
