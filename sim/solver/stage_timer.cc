#include "sim/solver/stage_timer.h"

namespace eipc {

const char* StageName(Stage stage) {
  switch (stage) {
    case Stage::kElasticity:
      return "elasticity";
    case Stage::kContactDetection:
      return "contact_detection";
    case Stage::kContactEnergy:
      return "contact_energy";
    case Stage::kFriction:
      return "friction";
    case Stage::kInertia:
      return "inertia";
    case Stage::kFactorize:
      return "factorize";
    case Stage::kSolve:
      return "solve";
    case Stage::kCcd:
      return "ccd";
    case Stage::kExactCheck:
      return "exact_check";
    case Stage::kOther:
      return "other";
  }
  return "unknown";
}

}  // namespace eipc
