#include "sim/dynamics/state_audit.h"

#include <algorithm>
#include <chrono>
#include <variant>

#include "sim/audit/audit.h"
#include "sim/audit/separation.h"
#include "sim/dynamics/model.h"
#include "sim/dynamics/state.h"
#include "sim/dynamics/surface_audit.h"

namespace eipc {

void StateAudit::Add(const StateAudit& other) {
  states += other.states;
  intersections += other.intersections;
  inversions += other.inversions;
  forbidden_inversions += other.forbidden_inversions;
  least_relative_distance = std::min(least_relative_distance, other.least_relative_distance);
  seconds += other.seconds;
}

StateAudit AuditState(const Model& model, const State& state, const std::vector<Vec3>& x) {
  const auto start = std::chrono::steady_clock::now();
  const CollisionSurface& s = model.surface;
  StateAudit audit;
  audit.states = 1;
  const AuditInput input = {&x, &s.triangles, &s.triangle_body, s.body_count, &s.pair_enabled};
  audit.intersections = AuditSurfaces(input, false).intersection_count;
  audit.least_relative_distance = LeastRelativeDistance(
      input, s.sheets.body_half_thickness, [&](const AuditFeatures& features) { return RequiredSeparation(model, features); });
  std::vector<Vec3> nodes(model.node_count);
  for (int32_t i = 0; i < model.node_count; ++i) nodes[i] = state.q.segment<3>(3 * i);
  for (const ElasticBody& body : model.elastic) {
    const int64_t inverted = static_cast<int64_t>(InvertedTets(nodes, body.nodes).size());
    audit.inversions += inverted;
    const bool forbids = std::visit([](const auto& m) { return std::decay_t<decltype(m)>::kForbidsInversion; }, body.material);
    if (forbids) audit.forbidden_inversions += inverted;
  }
  audit.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return audit;
}

}  // namespace eipc
