#ifndef EIPC_SIM_AUDIT_AUDIT_H_
#define EIPC_SIM_AUDIT_AUDIT_H_

// The exact check of a state. Shares no code with the solver: its predicates are CGAL's exact ones, its inputs plain arrays.

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/base/interrupt.h"
#include "sim/base/types.h"

namespace eipc {

// Surfaces to check: stacked vertices and triangles; two triangles are tested when `enabled[body_a * bodies + body_b]`.
struct AuditInput {
  const std::vector<Vec3>* vertices = nullptr;
  const std::vector<Triangle>* triangles = nullptr;
  const std::vector<int32_t>* triangle_body = nullptr;
  int32_t body_count = 0;
  const std::vector<uint8_t>* pair_enabled = nullptr;
  // Asked between pairs, whose number may be the square of the triangles'; may be null. The report of a check that it ended says
  // nothing.
  Interrupt* interrupt = nullptr;
};

struct AuditReport {
  // Pairs of triangle indices whose closed point sets meet beyond what they share as mesh neighbours (at most `max_pairs` listed).
  std::vector<std::pair<int32_t, int32_t>> intersections;
  int64_t intersection_count = 0;
  // Pairs (inner, outer) of closed bodies of which one lies wholly inside the other (exact ray parity).
  std::vector<std::pair<int32_t, int32_t>> nested;
  bool clean() const { return intersection_count == 0 && nested.empty(); }
};

// Exact triangle-triangle tests, touching counted as intersecting. A triangle with a coordinate that is not finite, or collapsed to
// a segment, counts as the pair (t, t). Pairs are sorted; those listed are the first. A pair of bodies is tested when either order
// of it is enabled.
AuditReport AuditSurfaces(const AuditInput& input, bool check_nesting, int max_pairs = 16);

// Tets with exact orientation <= 0.
std::vector<int32_t> InvertedTets(const std::vector<Vec3>& vertices, const std::vector<Tet>& tets);

}  // namespace eipc

#endif  // EIPC_SIM_AUDIT_AUDIT_H_
