#ifndef EIPC_SIM_AUDIT_PAIR_CHECK_H_
#define EIPC_SIM_AUDIT_PAIR_CHECK_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "sim/base/types.h"

namespace eipc {

// True when any of the given pairs of triangles (indices) has points in common beyond what the two share as mesh neighbours, or a
// coordinate that is not finite. Exact, touching included: what the audit would say of these pairs. `x` in m, one frame.
//
// The solver's second line of defence: its candidates are known anyhow, so a point can be refused before it is accepted at the
// price of a box test a pair and a few exact predicates for pairs whose boxes meet. Nothing of the solver's collision detection is
// used.
bool AnyPairMeets(const std::vector<Vec3>& x, const std::vector<Triangle>& triangles,
                  absl::Span<const std::pair<int32_t, int32_t>> pairs);

}  // namespace eipc

#endif  // EIPC_SIM_AUDIT_PAIR_CHECK_H_
