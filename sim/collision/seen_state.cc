#include "sim/collision/seen_state.h"

#include <cmath>
#include <cstring>

namespace eipc {

void SeenState::Resize(Eigen::Index size, size_t bodies, size_t node_count) {
  known = false;
  q.resize(size);
  frames.resize(bodies);
  radii.resize(bodies);
  nodes.resize(node_count);
}

bool SeenState::Is(const VecX& other) const {
  // Bits, so that it is fast; zeros of different sign are two states. NOLINTNEXTLINE(bugprone-suspicious-memory-comparison)
  return known && q.size() == other.size() &&
         (q.size() == 0 || std::memcmp(q.data(), other.data(), sizeof(double) * static_cast<size_t>(q.size())) == 0);
}

void SeenState::See(const SurfaceSummaries& summaries, int32_t body, const ViewFrame& frame) {
  frames[body] = frame;
  const QuadFrame from(frame);
  Quad largest2 = {};
  ForFours(summaries.body_nodes[body], [&](const std::array<int32_t, 4>& n) {
    Quad p[4];
    for (int i = 0; i < 4; ++i) nodes[n[i]] = p[i] = from.See(LoadThree(q.data() + 3 * n[i]));
    largest2 = Larger(largest2, SquaredLengths(p));
  });
  radii[body] = std::sqrt(LargestOf(largest2));
}

}  // namespace eipc
