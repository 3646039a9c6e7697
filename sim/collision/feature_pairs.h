#ifndef EIPC_SIM_COLLISION_FEATURE_PAIRS_H_
#define EIPC_SIM_COLLISION_FEATURE_PAIRS_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "sim/collision/collision_surface.h"
#include "sim/collision/contact_kind.h"
#include "sim/geometry/bounding_volume_tree.h"

namespace eipc {

inline bool ShareVertex(const Edge& a, const Edge& b) { return a[0] == b[0] || a[0] == b[1] || a[1] == b[0] || a[1] == b[1]; }
inline bool ShareVertex(const Triangle& s, const Triangle& t) {
  return std::any_of(s.begin(), s.end(), [&t](int32_t v) { return v == t[0] || v == t[1] || v == t[2]; });
}

// Two leaves of trees, whose boxes meet.
struct LeafPair {
  const BoundingVolumeTree& tree_a;
  int32_t a;
  const BoundingVolumeTree& tree_b;
  int32_t b;
  bool same;  // one leaf of one tree
};

// Calls visit(triangle_a, triangle_b, box_a, box_b) for the triangles of two leaves whose boxes meet, of one leaf each pair once.
// Most pairs of triangles end here: boxes of b are made once for all triangles of a.
template <typename BoxOfA, typename BoxOfB, typename Visit>
void ForMeetingTriangles(const LeafPair& leaves, const BoxOfA& box_of_a, const BoxOfB& box_of_b, const Visit& visit) {
  using Box = std::decay_t<decltype(box_of_b(0))>;
  const BoundingVolumeTree::Node &a = leaves.tree_a.nodes()[leaves.a], &b = leaves.tree_b.nodes()[leaves.b];
  std::array<Box, BoundingVolumeTree::kLeafSize> boxes_b;
  for (int32_t l = b.begin; l < b.end; ++l) boxes_b[l - b.begin] = box_of_b(leaves.tree_b.primitives()[l]);
  for (int32_t k = a.begin; k < a.end; ++k) {
    const int32_t triangle_a = leaves.tree_a.primitives()[k];
    const Box box_a = box_of_a(triangle_a);
    for (int32_t l = leaves.same ? k + 1 : b.begin; l < b.end; ++l) {
      const Box& box_b = boxes_b[l - b.begin];
      if (box_a.Meets(box_b)) visit(triangle_a, leaves.tree_b.primitives()[l], box_a, box_b);
    }
  }
}

// Calls visit(vertices, first, second, kind) for every pair of features that the two triangles own (CollisionSurface) and whose
// boxes meet: points of one with the other triangle, then edges with edges, e < f where both are of one body (`self`); without
// features that share a vertex. For both the resting and the swept search, which differ in what a box is.
//
// A side has its `triangle`, its `box`, and Vertex(v) and Edge(e), the boxes of what belongs to it; boxes have Meets(other).
template <typename SideA, typename SideB, typename Visit>
void ForMeetingFeatures(const CollisionSurface& surface, bool self, const SideA& side_a, const SideB& side_b, const Visit& visit) {
  using Box = std::decay_t<decltype(side_a.box)>;
  const int32_t a = side_a.triangle, b = side_b.triangle;
  const auto point_triangle = [&](int32_t p, int32_t t) {
    const Triangle& tri = surface.triangles[t];
    if (self && (tri[0] == p || tri[1] == p || tri[2] == p)) return;
    visit(std::array<int32_t, 4>{p, tri[0], tri[1], tri[2]}, p, t, ContactKind::kPointTriangle);
  };
  for (const int32_t p : surface.owned_vertices[a]) {
    if (p >= 0 && side_a.Vertex(p).Meets(side_b.box)) point_triangle(p, b);
  }
  for (const int32_t p : surface.owned_vertices[b]) {
    if (p >= 0 && side_b.Vertex(p).Meets(side_a.box)) point_triangle(p, a);
  }
  const std::array<int32_t, 3>& edges = surface.owned_edges[b];
  const auto box_of = [&](int k) { return edges[k] < 0 ? Box() : side_b.Edge(edges[k]); };
  const std::array<Box, 3> boxes = {box_of(0), box_of(1), box_of(2)};
  std::array<int, 3> near;  // edges of b
  int count = 0;
  for (int k = 0; k < 3; ++k) {
    if (edges[k] >= 0 && boxes[k].Meets(side_a.box)) near[count++] = k;
  }
  if (count == 0) return;
  for (const int32_t owned : surface.owned_edges[a]) {
    if (owned < 0) continue;
    const Box& box = side_a.Edge(owned);
    if (!box.Meets(side_b.box)) continue;
    for (int i = 0; i < count; ++i) {
      const int k = near[i];
      auto [e, f] = std::pair(owned, edges[k]);
      if (self && e > f) std::swap(e, f);
      const Edge &s = surface.edges[e], &t = surface.edges[f];
      if (self && ShareVertex(s, t)) continue;
      if (box.Meets(boxes[k])) visit(std::array<int32_t, 4>{s[0], s[1], t[0], t[1]}, e, f, ContactKind::kEdgeEdge);
    }
  }
}

}  // namespace eipc

#endif  // EIPC_SIM_COLLISION_FEATURE_PAIRS_H_
