#include "sim/solver/step_limit.h"

namespace eipc {

const char* StepLimitName(StepLimit limit) {
  switch (limit) {
    case StepLimit::kNothing:
      return "nothing";
    case StepLimit::kCollision:
      return "collision";
    case StepLimit::kInversion:
      return "inversion";
    case StepLimit::kFriction:
      return "friction";
    case StepLimit::kIterations:
      return "iterations";
    case StepLimit::kLineSearch:
      return "line_search";
    case StepLimit::kLinearSolve:
      return "linear_solve";
    case StepLimit::kTime:
      return "time";
  }
  return "unknown";
}

}  // namespace eipc
