#ifndef EIPC_SIM_COLLISION_SEEN_STATE_H_
#define EIPC_SIM_COLLISION_SEEN_STATE_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "sim/base/quad.h"
#include "sim/base/types.h"
#include "sim/collision/surface_summaries.h"
#include "sim/collision/view_frame.h"

namespace eipc {

// The nodes that move the surfaces of bodies, in one state, seen from the frames of their bodies. The same few states are asked for
// again and again: where a direction starts, where it ends, the point that is taken.
struct SeenState {
  bool known = false;             // false: of no state yet
  VecX q;                         // the state, 3 numbers a node, m
  std::vector<ViewFrame> frames;  // by body
  std::vector<double> radii;      // by body: largest distance of a node from the origin of its frame, m, not rounded up
  std::vector<Quad> nodes;        // by node, m, and a zero

  // Forgets the state.
  void Resize(Eigen::Index size, size_t bodies, size_t node_count);
  // Whether it is of this very state, to the last bit.
  bool Is(const VecX& other) const;
  // Sees a body of the state q from this frame.
  void See(const SurfaceSummaries& summaries, int32_t body, const ViewFrame& frame);
};

// Calls visit(n) with four of the nodes at a time; the last one is repeated where they do not come out even.
template <typename Visit>
void ForFours(const std::vector<int32_t>& nodes, const Visit& visit) {
  const size_t count = nodes.size(), whole = count / 4 * 4;
  for (size_t i = 0; i < whole; i += 4) visit(std::array<int32_t, 4>{nodes[i], nodes[i + 1], nodes[i + 2], nodes[i + 3]});
  if (whole == count) return;
  const auto at = [&](size_t i) { return nodes[std::min(i, count - 1)]; };
  visit(std::array<int32_t, 4>{at(whole), at(whole + 1), at(whole + 2), at(whole + 3)});
}

// Squared lengths of four vectors, which this transposes.
inline Quad SquaredLengths(Quad* v) {
  Transpose(v);
  return v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
}

}  // namespace eipc

#endif  // EIPC_SIM_COLLISION_SEEN_STATE_H_
