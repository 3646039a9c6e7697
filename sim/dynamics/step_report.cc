#include "sim/dynamics/step_report.h"

namespace eipc {

const char* StepOutcomeName(StepOutcome outcome) {
  switch (outcome) {
    case StepOutcome::kConverged:
      return "converged";
    case StepOutcome::kIterationCap:
      return "iteration_cap";
    case StepOutcome::kTargetNotReached:
      return "target_not_reached";
    case StepOutcome::kStalled:
      return "stalled";
  }
  return "unknown";
}

StepOutcome WorseOutcome(StepOutcome a, StepOutcome b) {
  const auto badness = [](StepOutcome outcome) {
    switch (outcome) {
      case StepOutcome::kConverged:
        return 0;
      case StepOutcome::kTargetNotReached:
        return 1;
      case StepOutcome::kIterationCap:
        return 2;
      case StepOutcome::kStalled:
        return 3;
    }
    return 3;
  };
  return badness(a) >= badness(b) ? a : b;
}

}  // namespace eipc
