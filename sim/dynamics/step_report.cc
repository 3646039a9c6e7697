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

}  // namespace eipc
