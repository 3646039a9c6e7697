#ifndef EIPC_SIM_COLLISION_BROAD_PHASE_H_
#define EIPC_SIM_COLLISION_BROAD_PHASE_H_

#include <array>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "sim/base/interrupt.h"
#include "sim/collision/collision_surface.h"
#include "sim/collision/contact_kind.h"
#include "sim/collision/neighbour_proofs.h"
#include "sim/collision/piece_shapes.h"
#include "sim/collision/surface_patches.h"
#include "sim/collision/vertex_list.h"
#include "sim/geometry/wide_box.h"
#include "sim/mesh/embedding.h"

namespace eipc {

// A pair of primitives that may come within the detection distance. Vertices as in ContactForce.
struct Candidate {
  std::array<int32_t, 4> v;
  // Point (vertex index) or first edge, and triangle or second edge, in surface indices.
  int32_t first;
  int32_t second;
  ContactKind kind;
  bool of_one_body = false;
  int32_t list = 0;  // which pair of bodies, in VertexTravel::shift
  double dhat = 0;   // its own (OwnDhat), m
  // The pair is at least this far apart where each vertex is at its anchor (BroadPhase::Travel), m; certified, negative when
  // unknown.
  double bound = -std::numeric_limits<double>::infinity();
};

// How far things are from their anchors, m, rounded up: vertices as seen from the middle of their body (only those of
// BroadPhase::vertices() count), and the middles of pairs of bodies from each other.
struct VertexTravel {
  std::vector<double> own;
  std::vector<double> shift;
  std::vector<double> body;   // no vertex of it is farther from its anchor, m
  std::vector<Vec3> middles;  // of bodies, m
  // Indices of the candidates that are to be looked at, ascending; null: all.
  const std::vector<int32_t>* among = nullptr;

  // The larger of both: of `vertices`, those that count; of bodies and the ways between them.
  void IncludeVertices(const VertexTravel& other, const VertexList& vertices) {
    for (const int32_t v : vertices.list()) own[v] = other.own[v] > own[v] ? other.own[v] : own[v];
  }
  void IncludeBodies(const VertexTravel& other) {
    for (size_t k = 0; k < shift.size(); ++k) shift[k] = other.shift[k] > shift[k] ? other.shift[k] : shift[k];
    for (size_t k = 0; k < body.size(); ++k) body[k] = other.body[k] > body[k] ? other.body[k] : body[k];
  }
  // No pair is nearer than its bound less this.
  double Approach(const Candidate& c) const {
    const double v0 = own[c.v[0]], v1 = own[c.v[1]], v2 = own[c.v[2]], v3 = own[c.v[3]];
    const double far = v2 > v3 ? v2 : v3;
    return shift[c.list] + (c.kind == ContactKind::kPointTriangle ? v0 + (v1 > far ? v1 : far) : (v0 > v1 ? v0 : v1) + far);
  }
};

// Beyond its own dhat by so much nothing asks for a pair, m: collision detection holds 0.1 of it, and at least some rounding
// (LargestExaminedGap; of coordinates of some kilometres it is as much as this).
inline constexpr double kLeastExamined = 1e-9;

// Keeps every pair of primitives that can come within its own dhat (OwnDhat) while the nodes of the cages stay inside their
// regions. Vertices are where the embedding puts them, x = J q + c, so what a vertex can reach follows from the regions of its
// nodes.
//
// Bodies are seen from their own middles, the mean of their nodes: a body has a region for each node relative to its middle, and a
// pair of bodies one for the way from middle to middle. What moves along together stays inside regions for many steps, and only
// what leaves its regions is searched anew.
//
// Why it misses none: let two primitives be within dhat at a moment at which everything is inside its region. A primitive is the
// convex hull of its vertices, so it lies in the union box B of their regions; a point of one is within dhat of a point of the
// other, hence the boxes grown by dhat / 2 each, one of them moved by some way from middle to middle, overlap. Those are the boxes
// that the trees compare, and every primitive is owned by one triangle whose box contains its own. Boxes are grown by a few ulp
// more than asked to absorb rounding. Pairs of one body that are left out without a look at their boxes are
// neighbours of which NeighbourProofs shows that they do not touch while everything is inside its region, and those that
// SurfacePatches proves to be out of contact while the deformation gradients of their pieces stay within given balls; that, too, is
// part of the body's region. Bodies whose boxes do not overlap wherever they go within a wider range are not compared at all.
//
// Boxes are worked out where the traversal comes: those of large patches from the few nodes that carry them. So the cost follows
// what is near, not how finely a surface is cut.
//
// Boxes of long or slanted primitives overlap long before they are near. So each pair of boxes that overlap is given a lower bound
// of its distance at the anchors, where everything was when its region was made: a primitive moves no farther than its
// farthest-moving vertex, so the distance is at least the bound less how far either side, and the way between the middles, have
// travelled from there. Pairs that this keeps beyond their own dhat wherever they go within their regions are dropped: nearly all
// of one body whose triangles are small. Of the others it tells later which need no look. While all bodies are close to their
// anchors, a few pairs are left that may matter (Select); the others, and vertices that only they have, are then not looked at one
// by one.
//
// Candidates come in the order of one fixed traversal, less what is pruned: the active ones among them come in the same order
// whatever the regions are.
class BroadPhase {
 public:
  // `interrupt`, which ends Cover and Anchor early, may be null.
  BroadPhase(const CollisionSurface* surface, const SurfacePatches* patches, const std::vector<EmbeddingRow>* rows,
             const std::vector<Vec3>* offsets, double dhat, Interrupt* interrupt = nullptr);

  // Makes the positions of nodes `here` (3 a node) be inside the regions, and with them `there` and the straight way to it: regions
  // are renewed where they are not, grown by up to `margin`. Of bodies that turn, and pairs whose middles move, by more than `far`
  // m on the way only `here`: what is near a long way is much, and better searched for by where it is when (PathPairs). False when
  // nothing had to be renewed. What is interrupted is not inside its regions, and is renewed by the next Cover.
  bool Cover(const VecX& here, const VecX& there, double margin, double far = std::numeric_limits<double>::infinity());
  // Once a step, before Cover with the same arguments: lets go of regions that have long been much larger than that would make
  // them.
  void LetGo(const VecX& here, const VecX& there, double margin, double far);

  // Before Cover: bodies (non-zero; empty: none) that will not move until told otherwise. Pairs of those, and of those with fixed
  // bodies, are not looked at.
  void SetAsleep(const std::vector<uint8_t>& asleep);

  const std::vector<Candidate>& candidates() const { return candidates_; }
  // Those that candidates have.
  const VertexList& vertices() const { return vertices_; }
  // Triangles (surface indices) that may meet, and a bound of how far apart they stay while none of their vertices leaves its
  // anchor as its body sees it, m.
  struct TrianglePair {
    std::pair<int32_t, int32_t> triangles;
    double apart;
  };
  // Those that may meet where bodies have travelled so far: two that meet inside their regions are among them. Pairs that share a
  // vertex are in neighbour_pairs() instead: they stay near.
  void NearTriangles(const VertexTravel& bodies, std::vector<TrianglePair>* out) const;
  // Those of `pairs` that may meet where vertices (VertexTravel::own of all that the pairs have) have travelled so far.
  void NearTriangles(const VertexTravel& vertices, const std::vector<TrianglePair>& pairs,
                     std::vector<std::pair<int32_t, int32_t>>* out) const;
  const std::vector<std::pair<int32_t, int32_t>>& neighbour_pairs() const { return neighbour_pairs_; }

  // What is to be looked at where bodies have travelled at most so far: candidates (null: all), and their vertices. Valid until the
  // next Cover or Anchor.
  struct Selection {
    const std::vector<int32_t>* candidates;
    const VertexList* vertices;
  };
  Selection Select(const VertexTravel& bodies);

  // Pairs of tree nodes looked at so far: the cost.
  int64_t node_pairs() const { return node_pairs_; }

  // Whether everything is inside its region. Regions are convex: a straight way between two such states is covered as well.
  bool Covers(const VecX& q) const;

  // Which pairs of bodies have everything inside its region all the way to `there` from a place that is covered; true: all have.
  bool CoversWay(const VecX& there);
  // Of the last CoversWay.
  bool InRegions(int32_t a, int32_t b) const;
  // Makes pairs of bodies that were not inside their regions, by the last CoversWay, count as far apart.
  void LeaveOut(VertexTravel* travel) const;

  // Moves the anchors of what is farther than `slack` m from them to q: bounds are those of there. Wanted after Cover has renewed
  // something; and now and then, for far from the anchors bounds say little. Wanted again where it was interrupted.
  void Anchor(const VecX& q, double slack = 0);
  // Of the surface positions x that belong to q.
  void Travel(const VecX& q, const std::vector<Vec3>& x, VertexTravel* travel) const;
  // The same in two parts: of bodies and the ways between them, from the nodes; of these vertices.
  void TravelOfBodies(const VecX& q, VertexTravel* travel) const;
  void TravelOfVertices(const VertexList& vertices, const std::vector<Vec3>& x, VertexTravel* travel) const;

 private:
  // One body, as seen from its middle. Boxes are worked out when they are first asked for after its regions were renewed.
  struct BodyRegion {
    uint64_t stamp = 0;        // of its boxes; 0: no region yet
    uint64_t shape_stamp = 0;  // of what is known of its pieces' shapes
    int loose = 0;             // steps since when it has been too large
    Box middles;               // where its middle may be while the lists are of the right bodies
    WideBox reach;             // of the surface in the world, then
    uint64_t anchor_stamp = 0;
    bool anchor_in_region = false;  // anchor_q_ is points_q_
    double anchor_extent = 0;       // largest coordinate of anchor_q_, m
  };
  // Two bodies, or one with itself.
  struct PairList {
    int32_t a = 0;
    int32_t b = 0;
    uint64_t stamp_a = 0, stamp_b = 0, shape_stamp = 0;  // regions that the list is for
    int loose = 0;
    WideBox shifts;                       // region of the way from the middle of a to that of b
    Vec3 shift = Vec3::Zero();            // a point of it, m
    double shift_reach = 0;               // how far it extends from there, m
    Vec3 anchor_shift = Vec3::Zero();     // where anchors are, m
    uint64_t anchor_a = 0, anchor_b = 0;  // anchors that bounds are for; 0: none yet
    std::vector<Candidate> candidates;
    size_t first = 0;  // of them in candidates_
    std::vector<std::pair<int32_t, int32_t>> triangle_pairs;
    std::vector<double> triangle_gaps;  // of their boxes along the axis where it is largest, at the anchors, m
    std::vector<std::pair<int32_t, int32_t>> neighbour_pairs;
    bool of_one_body() const { return a == b; }
    // Of these bodies, as if new, but for the room that its vectors have.
    void StartAnew(int32_t body_a, int32_t body_b);
    void Clear();
  };
  // Where middles of bodies are at one end of a way, m, and how far it leads.
  struct Way {
    std::vector<Vec3> here, there;
    std::vector<double> turn;  // by body, as seen from its middle: largest coordinate, m
  };

  Vec3 Middle(int32_t body, const VecX& q) const;
  bool Moves(int32_t body) const { return !patches_->fixed[body]; }
  bool Asleep(int32_t body) const { return !asleep_.empty() && asleep_[body] != 0; }
  // One of them asleep, the other asleep or fixed.
  bool AtRest(int32_t a, int32_t b) const { return (Asleep(a) && (Asleep(b) || !Moves(b))) || (Asleep(b) && !Moves(a)); }
  bool Wanted(int32_t a, int32_t b) const { return surface_->Enabled(a, b) && !AtRest(a, b); }
  void MeasureWay(const VecX& here, const VecX& there);
  double MiddleWay(int32_t body) const { return (way_.there[body] - way_.here[body]).cwiseAbs().maxCoeff(); }
  double ShiftWay(const PairList& list) const;
  bool GoesFar(const PairList& list, double far) const;
  bool BodyCovers(int32_t body, const VecX& q, const Vec3& middle) const;
  bool ShapeCovers(int32_t body, const VecX& q) const;
  bool ReachCovers(int32_t body, const Vec3& middle);
  bool ListIsOf(const PairList& list) const;
  void RenewBody(int32_t body, const VecX& here, const VecX& there, double margin, double far);
  void RenewShape(int32_t body, const VecX& from, const VecX& to);
  void RenewReaches(double margin, double far);
  void ChooseLists();
  void RenewList(PairList* list, double margin, double far);
  void Gather();
  void SetAnchor(int32_t body, const VecX& q, const Vec3& middle);
  void AnchorVertex(int32_t v);
  void AnchorList(PairList* list);
  bool AllNear(const VertexTravel& bodies) const;
  void FindNear();

  // Whether to stop; asks the interrupt every so many calls.
  bool Stop() {
    if (++unasked_ >= kTurnsAPoll) unasked_ = 0, stop_ = Raised(interrupt_);
    return stop_;
  }
  void Traverse(PairList* list);
  const WideBox& VertexBox(int32_t v) {
    return vertex_stamp_[v] == bodies_[surface_->vertex_body[v]].stamp ? vertex_boxes_[v] : MakeVertexBox(v);
  }
  const WideBox& EdgeBox(int32_t e) {
    return edge_stamp_[e] == bodies_[surface_->edge_body[e]].stamp ? edge_boxes_[e] : MakeEdgeBox(e);
  }
  const WideBox& TriangleBox(int32_t t) {
    return triangle_stamp_[t] == bodies_[surface_->triangle_body[t]].stamp ? triangle_boxes_[t] : MakeTriangleBox(t);
  }
  const WideBox& TreeBox(int32_t body, int32_t node) {
    return tree_stamp_[body][node] == bodies_[body].stamp ? tree_boxes_[body][node] : MakeTreeBox(body, node);
  }
  const WideBox& MakeVertexBox(int32_t v);
  const WideBox& MakeEdgeBox(int32_t e);
  const WideBox& MakeTriangleBox(int32_t t);
  const WideBox& MakeTreeBox(int32_t body, int32_t node);
  WideBox PatchBox(const SurfacePatch& patch) const;
  void AddLeafPair(PairList* list, int32_t i, int32_t j);
  void AddTrianglePair(PairList* list, int32_t a, int32_t b, const WideBox& box_a, const WideBox& box_b);
  void AddNeighbours(PairList* list);
  void AddFeatures(PairList* list, int32_t a, int32_t b, const WideBox& box_a, const WideBox& box_b);
  void AddPointTriangle(PairList* list, int32_t p, int32_t t);
  void AddEdgeEdge(PairList* list, int32_t e, int32_t f);
  void AddIfNear(PairList* list, const std::array<int32_t, 4>& v, int32_t first, int32_t second, ContactKind kind);
  const CollisionSurface* surface_;
  const SurfacePatches* patches_;
  const std::vector<EmbeddingRow>* rows_;
  const std::vector<Vec3>* offsets_;
  double dhat_ = 0;
  Interrupt* interrupt_;

  static constexpr int kTurnsAPoll = 64;  // of loops: some 10 us
  int unasked_ = 0;
  bool stop_ = false;
  bool gathered_ = true;  // what the lists have is in candidates_, neighbour_pairs_ and vertices_

  std::vector<uint8_t> asleep_;  // by body; empty: none
  bool lists_stale_ = false;     // are of other pairs of bodies than those that are wanted
  std::vector<BodyRegion> bodies_;
  VecX points_q_;             // of nodes, from the middle of their body: points of their regions
  std::vector<Box> regions_;  // of nodes, from the middle of their body
  PieceShapes shapes_;
  NeighbourProofs neighbour_proofs_;
  std::vector<PairList> lists_;  // by a, then b
  std::vector<PairList> old_lists_;
  std::vector<PairList> spare_lists_;  // room for new ones
  std::vector<std::pair<int32_t, int32_t>> near_bodies_;
  std::vector<int32_t> by_x_;

  // Worked out where asked for; valid where the stamp is that of the body.
  std::vector<uint64_t> vertex_stamp_, edge_stamp_, triangle_stamp_;
  std::vector<std::vector<uint64_t>> tree_stamp_;
  std::vector<Vec3> points_;           // by vertex: one of its region, from the middle of its body, m
  std::vector<double> reach_;          // by vertex: how far its region extends from there, m
  std::vector<WideBox> vertex_boxes_;  // regions grown by dhat / 2, and their unions
  std::vector<WideBox> edge_boxes_, triangle_boxes_;
  std::vector<std::vector<WideBox>> tree_boxes_;

  std::vector<std::pair<int32_t, int32_t>> stack_;
  std::vector<int32_t> unproven_;
  int64_t node_pairs_ = 0;
  std::vector<Candidate> candidates_;
  std::vector<std::pair<int32_t, int32_t>> neighbour_pairs_;
  VertexList vertices_;           // of candidates_
  VertexList triangle_vertices_;  // of triangle pairs
  bool near_stale_ = true;        // what follows is not of these candidates and anchors
  std::vector<int32_t> near_candidates_;
  VertexList near_vertices_;
  VecX anchor_q_;                                                  // of nodes, from the middle of their body, m
  std::vector<Vec3> anchors_;                                      // of the vertices above, from the middle of their body, m
  std::vector<uint64_t> anchored_;                                 // by vertex: the body's anchors that this is of
  std::vector<Vec3> middles_;                                      // scratch
  Way way_;                                                        // of the last Cover
  std::vector<uint8_t> body_on_way_, reach_on_way_, list_on_way_;  // CoversWay: all the way inside
};

}  // namespace eipc

#endif  // EIPC_SIM_COLLISION_BROAD_PHASE_H_
