#ifndef EIPC_TOOLS_AUDIT_STATE_H_
#define EIPC_TOOLS_AUDIT_STATE_H_

#include <cstdint>
#include <vector>

#include "sim/dynamics/model.h"
#include "sim/dynamics/state.h"

namespace eipc {

// Running totals of the exact audit over accepted states.
struct AuditTotals {
  int64_t states_checked = 0;
  int64_t intersections = 0;         // pairs of triangles
  int64_t inversions = 0;            // elements with exact orientation <= 0, all materials
  int64_t forbidden_inversions = 0;  // those of materials whose energy forbids them
  double seconds = 0;
  bool passed() const { return intersections == 0 && forbidden_inversions == 0; }
};

// Checks one state (surface positions x) with exact predicates and adds what it finds.
void AuditState(const Model& model, const State& state, const std::vector<Vec3>& x, AuditTotals* totals);

}  // namespace eipc

#endif  // EIPC_TOOLS_AUDIT_STATE_H_
