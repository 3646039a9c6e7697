#include "sim/solver/phase_timer.h"

namespace eipc {

const char* PhaseName(Phase phase) {
  switch (phase) {
    case Phase::kElasticity:
      return "elasticity";
    case Phase::kContactDetection:
      return "contact_detection";
    case Phase::kContactEnergy:
      return "contact_energy";
    case Phase::kFriction:
      return "friction";
    case Phase::kInertia:
      return "inertia";
    case Phase::kFactorize:
      return "factorize";
    case Phase::kSolve:
      return "solve";
    case Phase::kCcd:
      return "ccd";
    case Phase::kExactCheck:
      return "exact_check";
    case Phase::kOther:
      return "other";
  }
  return "unknown";
}

}  // namespace eipc
