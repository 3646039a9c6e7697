#ifndef EIPC_SIM_COLLISION_NEIGHBOUR_PAIRS_H_
#define EIPC_SIM_COLLISION_NEIGHBOUR_PAIRS_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/collision/collision_surface.h"
#include "sim/collision/contact_kind.h"

namespace eipc {

// Two triangles of one body that have vertices in common.
struct NeighbourPair {
  std::array<int32_t, 2> triangles;
  std::array<int32_t, 5> v;  // those that both have, then the others; the last one again where they are four
  // Of their features without a common vertex at rest, m; 0 unless SeparatedByPlane there.
  double rest_gap = 0;
};

// Whether a plane through what the two have in common, a vertex or an edge, is found to have the rest of either strictly on one
// side, where vertices are at `x`: then they have no more in common.
bool SeparatedByPlane(const NeighbourPair& pair, const std::vector<Vec3>& x);

// Those of the body, by the first triangle, then the second.
std::vector<NeighbourPair> FindNeighbourPairs(const CollisionSurface& surface, int32_t body);

// Calls visit(kind, v) for every pair of features of two triangles without a common vertex: points and triangles, edges and edges;
// v as in ContactForce.
template <typename Visit>
void ForFeaturePairs(const Triangle& a, const Triangle& b, const Visit& visit) {
  for (const auto& [s, t] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    for (int32_t p : *s) {
      if (std::find(t->begin(), t->end(), p) != t->end()) continue;
      visit(ContactKind::kPointTriangle, std::array<int32_t, 4>{p, (*t)[0], (*t)[1], (*t)[2]});
    }
  }
  for (int k = 0; k < 3; ++k) {
    const int32_t a0 = a[k], a1 = a[(k + 1) % 3];
    for (int l = 0; l < 3; ++l) {
      const int32_t b0 = b[l], b1 = b[(l + 1) % 3];
      if (a0 == b0 || a0 == b1 || a1 == b0 || a1 == b1) continue;
      visit(ContactKind::kEdgeEdge, std::array<int32_t, 4>{a0, a1, b0, b1});
    }
  }
}

// Least distance of such features where their vertices are at `x`, m.
double LeastGap(const Triangle& a, const Triangle& b, const std::vector<Vec3>& x);

}  // namespace eipc

#endif  // EIPC_SIM_COLLISION_NEIGHBOUR_PAIRS_H_
