#ifndef EIPC_SIM_CONTACT_BROAD_PHASE_H_
#define EIPC_SIM_CONTACT_BROAD_PHASE_H_

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/contact/contact_forces.h"
#include "sim/contact/surface.h"

namespace eipc {

// A pair of primitives that may come within the detection distance. Vertices as in ContactForce.
struct Candidate {
  std::array<int32_t, 4> v;
  // Point (vertex index) or first edge, and triangle or second edge, in surface indices.
  int32_t first;
  int32_t second;
  ContactKind kind;
};

// Finds every pair of primitives that can come within `dhat` while each vertex stays inside its own region: the hull of two
// positions grown by a margin.
//
// Why it misses none: let two primitives be within dhat at a moment at which every vertex is inside its region. A primitive is the
// convex hull of its vertices, so it lies in the union box B of their regions; a point of one is within dhat of a point of the
// other, hence the boxes grown by dhat / 2 each overlap. Those are the boxes that the trees compare, and every primitive is
// owned by one triangle whose box contains its own. Boxes are grown by a few ulp more than asked to absorb rounding.
class BroadPhase {
 public:
  explicit BroadPhase(const CollisionSurface* surface) : surface_(surface), node_boxes_(surface->trees.size()) {}

  // Regions = hull(from, to) grown by `margin`; fills candidates(), in an order that depends on the arguments alone.
  void Build(const std::vector<Vec3>& from, const std::vector<Vec3>& to, double dhat, double margin);
  const std::vector<Candidate>& candidates() const { return candidates_; }
  // The pairs of triangles (surface indices) whose regions come that close: every candidate is a pair of their primitives, and two
  // triangles that meet inside their regions are among them. Those that share a vertex are apart: they are many and stay near.
  const std::vector<std::pair<int32_t, int32_t>>& triangle_pairs() const { return triangle_pairs_; }
  const std::vector<std::pair<int32_t, int32_t>>& neighbour_pairs() const { return neighbour_pairs_; }

  // True when every vertex is inside its region. Regions are convex: a straight path between two such states is covered as well.
  bool Covers(const std::vector<Vec3>& x) const;

 private:
  Box TriangleBox(int32_t t) const;
  void Traverse(int32_t body_a, int32_t body_b);
  void AddTrianglePair(int32_t a, int32_t b, bool self);
  void AddPointTriangle(int32_t p, int32_t t, const Box& box_t, bool self);
  void AddEdgeEdge(int32_t e, int32_t f, bool self);

  const CollisionSurface* surface_;
  std::vector<Box> regions_;       // by vertex
  std::vector<Box> vertex_boxes_;  // regions grown by dhat / 2
  std::vector<std::vector<Box>> node_boxes_;
  std::vector<std::pair<int32_t, int32_t>> stack_;
  std::vector<Candidate> candidates_;
  std::vector<std::pair<int32_t, int32_t>> triangle_pairs_;
  std::vector<std::pair<int32_t, int32_t>> neighbour_pairs_;
};

}  // namespace eipc

#endif  // EIPC_SIM_CONTACT_BROAD_PHASE_H_
