#ifndef EIPC_SIM_CONTACT_BROAD_PHASE_H_
#define EIPC_SIM_CONTACT_BROAD_PHASE_H_

#include <array>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "sim/contact/contact_forces.h"
#include "sim/contact/surface.h"
#include "sim/geometry/wide_box.h"

namespace eipc {

// A pair of primitives that may come within the detection distance. Vertices as in ContactForce.
struct Candidate {
  std::array<int32_t, 4> v;
  // Point (vertex index) or first edge, and triangle or second edge, in surface indices.
  int32_t first;
  int32_t second;
  ContactKind kind;
  // The pair is at least this far apart where each vertex is at its anchor (BroadPhase::Travel), m; certified, negative when
  // unknown.
  double bound = -std::numeric_limits<double>::infinity();
};

// Finds every pair of primitives that can come within `dhat` while each vertex stays inside its own region: the hull of two
// positions grown by a margin.
//
// Why it misses none: let two primitives be within dhat at a moment at which every vertex is inside its region. A primitive is the
// convex hull of its vertices, so it lies in the union box B of their regions; a point of one is within dhat of a point of the
// other, hence the boxes grown by dhat / 2 each overlap. Those are the boxes that the trees compare, and every primitive is
// owned by one triangle whose box contains its own. Boxes are grown by a few ulp more than asked to absorb rounding.
//
// Boxes of long or slanted primitives overlap long before they are near. So each pair of boxes that overlap is given a lower bound
// of its distance at the anchors, the positions `from`: a primitive moves no farther than its farthest-moving vertex, so while the
// vertices of either side stay within r_a and r_b of their anchors, the distance is at least bound - r_a - r_b. Pairs that this
// keeps apart wherever their vertices go within their regions are dropped; of the others it tells later, from how far the
// vertices are from their anchors now, which need no look.
//
// The order of candidates is that of one fixed traversal, less what is pruned: the active ones among them come in the same order
// whatever the regions were.
class BroadPhase {
 public:
  explicit BroadPhase(const CollisionSurface* surface) : surface_(surface), node_boxes_(surface->trees.size()) {}

  // Regions = hull(from, to) grown by `margin`; fills candidates(), in an order that depends on the arguments alone.
  void Build(const std::vector<Vec3>& from, const std::vector<Vec3>& to, double dhat, double margin);
  const std::vector<Candidate>& candidates() const { return candidates_; }
  // Pairs of triangles (surface indices) that may meet where each vertex is `travel` (Travel) from its anchor: two that meet inside
  // their regions are among them. Those that share a vertex are apart, in neighbour_pairs(): they are many and stay near.
  void NearTriangles(const std::vector<double>& travel, std::vector<std::pair<int32_t, int32_t>>* out) const;
  const std::vector<std::pair<int32_t, int32_t>>& neighbour_pairs() const { return neighbour_pairs_; }

  // Pairs of tree nodes that the last Build looked at: its cost, beside the boxes.
  int64_t node_pairs() const { return node_pairs_; }

  // True when every vertex is inside its region. Regions are convex: a straight path between two such states is covered as well.
  bool Covers(const std::vector<Vec3>& x) const;

  // How far each vertex is from its anchor, m, rounded up.
  void Travel(const std::vector<Vec3>& x, std::vector<double>* travel) const;

 private:
  void SetRegions(const std::vector<Vec3>& from, const std::vector<Vec3>& to, double margin);
  void Traverse(int32_t body_a, int32_t body_b);
  void AddTrianglePair(int32_t a, int32_t b, bool self);
  void AddTriangles(int32_t a, int32_t b);
  void AddPointTriangle(int32_t p, int32_t t, bool self);
  void AddEdgeEdge(int32_t e, int32_t f, bool self);
  void AddIfNear(const std::array<int32_t, 4>& v, int32_t first, int32_t second, ContactKind kind);

  const CollisionSurface* surface_;
  double dhat_ = 0;
  std::vector<Vec3> anchors_;
  std::vector<Box> regions_;           // by vertex
  std::vector<double> reach_;          // by vertex: how far a region extends from its anchor, m
  std::vector<WideBox> vertex_boxes_;  // regions grown by dhat / 2, and their unions
  std::vector<WideBox> edge_boxes_;
  std::vector<WideBox> triangle_boxes_;
  std::vector<std::vector<WideBox>> node_boxes_;
  std::vector<std::pair<int32_t, int32_t>> stack_;
  int64_t node_pairs_ = 0;
  std::vector<Candidate> candidates_;
  std::vector<std::pair<int32_t, int32_t>> triangle_pairs_;
  std::vector<double> triangle_gaps_;  // of their boxes along the axis where it is largest, at the anchors, m
  std::vector<std::pair<int32_t, int32_t>> neighbour_pairs_;
};

// Larger of the values at a stencil's vertices on either side, added: bounds how much nearer the two sides are than when every
// value was zero, if the values are displacements.
inline double SumOfLargest(const Candidate& c, const std::vector<double>& value) {
  const double v0 = value[c.v[0]], v1 = value[c.v[1]], v2 = value[c.v[2]], v3 = value[c.v[3]];
  const double far = v2 > v3 ? v2 : v3;
  return c.kind == ContactKind::kPointTriangle ? v0 + (v1 > far ? v1 : far) : (v0 > v1 ? v0 : v1) + far;
}

}  // namespace eipc

#endif  // EIPC_SIM_CONTACT_BROAD_PHASE_H_
