#include "sim/dynamics/step_report.h"

#include <algorithm>

namespace eipc {

const char* StepOutcomeName(StepOutcome outcome) {
  switch (outcome) {
    case StepOutcome::kConverged:
      return "converged";
    case StepOutcome::kIterationCap:
      return "iteration_cap";
    case StepOutcome::kStalled:
      return "stalled";
  }
  return "unknown";
}

StepOutcome WorseOutcome(StepOutcome a, StepOutcome b) { return std::max(a, b); }

}  // namespace eipc
