#include "tools/audit_state.h"

#include <chrono>
#include <variant>

#include "sim/audit/audit.h"

namespace eipc {

void AuditState(const Model& model, const State& state, const std::vector<Vec3>& x, AuditTotals* totals) {
  const auto start = std::chrono::steady_clock::now();
  const CollisionSurface& s = model.surface;
  totals->intersections +=
      AuditSurfaces({&x, &s.triangles, &s.triangle_body, s.body_count, &s.pair_enabled}, false).intersection_count;
  std::vector<Vec3> nodes(model.node_count);
  for (int32_t i = 0; i < model.node_count; ++i) nodes[i] = state.q.segment<3>(3 * i);
  for (const ElasticBody& body : model.elastic) {
    const int64_t inverted = static_cast<int64_t>(InvertedTets(nodes, body.nodes).size());
    totals->inversions += inverted;
    const bool forbids = std::visit([](const auto& m) { return std::decay_t<decltype(m)>::kForbidsInversion; }, body.material);
    if (forbids) totals->forbidden_inversions += inverted;
  }
  ++totals->states_checked;
  totals->seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace eipc
