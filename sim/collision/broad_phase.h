#ifndef EIPC_SIM_COLLISION_BROAD_PHASE_H_
#define EIPC_SIM_COLLISION_BROAD_PHASE_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "sim/collision/body_pair.h"
#include "sim/collision/body_pair_list.h"
#include "sim/collision/body_regions.h"
#include "sim/collision/candidate.h"
#include "sim/collision/collision_surface.h"
#include "sim/collision/deformation_bounds.h"
#include "sim/collision/interrupt_poll.h"
#include "sim/collision/margin_share.h"
#include "sim/collision/resting_search.h"
#include "sim/collision/search_parts.h"
#include "sim/collision/search_threads.h"
#include "sim/collision/surface_summaries.h"
#include "sim/collision/vertex_list.h"
#include "sim/mesh/embedding.h"

namespace eipc {

// Keeps every pair of primitives that can come within its own reach (OwnRange) while the nodes of the cages stay inside regions
// around them. What moves along together stays inside its regions for many steps, and only what leaves them is searched anew.
//
// Bodies are seen from their own centroids, the mean of their nodes: a body has a region for its nodes relative to its centroid
// (BodyRegions), and a pair of bodies one for the vector between their centroids (BodyPair). What is near within one body is seen
// along axes that turn with it, in regions of their own. RestingSearch finds the pairs of primitives; Anchors bound how far
// everything is from where the distances of pairs were bounded, so that few candidates have to be examined one by one (Select). Why
// no pair is missed: docs/concepts/collision_detection.md.
//
// Candidates come in the order of one fixed traversal, less what is pruned: the active ones among them come in the same order
// whatever the regions are. Threads share the pairs of bodies; each pair has lists of its own, which are gathered in order.
class BroadPhase {
 public:
  // `threads` search, and their interrupt ends UpdateBounds and MoveAnchors early.
  BroadPhase(const CollisionSurface* surface, const SurfaceSummaries* summaries, const std::vector<EmbeddingRow>* rows,
             const std::vector<Vec3>* offsets, double dhat, const SearchThreads::Source& threads = {});

  BroadPhase(const BroadPhase&) = delete;
  BroadPhase& operator=(const BroadPhase&) = delete;

  // Makes the positions of nodes `here` (3 a node) be inside the regions, and with them `there` and the straight path to it:
  // regions are renewed where they are not, grown by up to `margin`. Of bodies that turn, and pairs whose centroids move, by more
  // than `far` m on the path only `here`: much comes near on a long path, and SweptBroadPhase finds it better. False when nothing
  // had to be renewed. What is interrupted is not inside its regions, and is renewed by the next UpdateBounds. What is renewed is
  // anchored `there`, or `at_start`, where MoveAnchors should put everything else.
  bool UpdateBounds(const VecX& here, const VecX& there, double margin, double far = std::numeric_limits<double>::infinity(),
                    bool at_start = false);
  // Once a step, before UpdateBounds with the same arguments: discards regions that have long been much larger than that would make
  // them.
  void ShrinkBounds(const VecX& here, const VecX& there, double margin, double far);
  // Before UpdateBounds: bodies (non-zero; empty: none) that do not move from now on. Pairs of those, and of those with fixed
  // bodies, are not examined.
  void SetAsleep(const std::vector<uint8_t>& asleep);

  const std::vector<Candidate>& candidates() const { return gathered_.candidates; }
  // No candidate has a smaller dhat, m.
  double least_dhat() const { return gathered_.least_dhat; }
  // Those of the candidates.
  const VertexList& vertices() const { return gathered_.vertices; }
  // What has to be examined where bodies are displaced by at most these bounds: candidates (null: all), and their vertices. Valid
  // until the next UpdateBounds or MoveAnchors. A later selection may add to what an earlier one holds: then the stamp is another.
  struct Selection {
    const std::vector<int32_t>* candidates = nullptr;
    const VertexList* vertices = nullptr;
    uint64_t stamp = 0;
  };
  Selection Select(const DisplacementBounds& bodies);

  // Gives `take` all pairs of primitives of two bodies, a before b, that are within `ahead` m of their own reach at q, and some
  // others, a part at a time, until it returns false. q is inside the regions. False where that ended it, or an interrupt.
  using Taker = std::function<bool(const std::vector<Candidate>& part)>;
  bool FindAhead(int32_t a, int32_t b, const VecX& q, double ahead, const Taker& take);

  // Triangles (surface indices) that may meet where bodies are displaced by at most these bounds: two that meet inside their
  // regions are among them. Pairs that share a vertex are in neighbour_pairs() instead: they stay near. Adds their vertices to
  // `vertices`, and some others where that is cheaper.
  void NearTriangles(const DisplacementBounds& bodies, std::vector<std::pair<int32_t, int32_t>>* out, VertexList* vertices) const;
  const std::vector<std::pair<int32_t, int32_t>>& neighbour_pairs() const { return gathered_.neighbour_pairs; }

  // Pairs of tree nodes examined so far: the cost.
  int64_t node_pairs() const { return node_pairs_; }

  // Whether everything is inside its region.
  bool Covers(const VecX& q);
  // Which pairs of bodies have everything inside its region all along the path of the last UpdateBounds, whose arguments these are;
  // true: all have.
  bool CoversPath(const VecX& here, const VecX& there);
  // What the last CoversPath found.
  bool InRegions(int32_t a, int32_t b) const;
  // Makes pairs of bodies that were not inside their regions, by the last CoversPath, count as far apart.
  void ExcludeUncovered(DisplacementBounds* bounds) const;

  // Moves the anchors of what is farther than `slack` m from them to q: bounds are those of there. Wanted after UpdateBounds has
  // renewed something; and now and then, since bounds are weak far from the anchors. Wanted again where it was interrupted.
  void MoveAnchors(const VecX& q, double slack = 0);
  // Of the surface positions x that belong to q.
  void Displacements(const VecX& q, const std::vector<Vec3>& x, DisplacementBounds* bounds);
  // The same in two parts: of bodies and the vectors between them, from the nodes; of these vertices.
  void DisplacementsOfBodies(const VecX& q, DisplacementBounds* bounds);
  void DisplacementsOfVertices(const VertexList& vertices, const std::vector<Vec3>& x, DisplacementBounds* bounds) const;

 private:
  // What the pairs of bodies have, in one list.
  struct Gathered {
    bool complete = true;
    std::vector<Candidate> candidates;
    double least_dhat = 0;
    std::vector<std::pair<int32_t, int32_t>> neighbour_pairs;
    VertexList vertices;           // of candidates
    VertexList triangle_vertices;  // of triangle pairs
  };
  // The candidates that may be active while each pair of bodies is displaced from its anchors by no more than its own distance.
  struct Near {
    bool stale = true;           // not of these candidates and anchors
    uint64_t stamp = 0;          // counts the lists
    std::vector<double> within;  // by pair of bodies, m; each pair remembers the list of its own (BodyPair::Near)
    std::vector<int32_t> candidates;
    VertexList vertices;
  };
  // By body, seen along both kinds of axes, and by pair of bodies: inside its region all along the path of the last CoversPath.
  struct OnPath {
    std::vector<uint8_t> world, itself, extent, pair;
  };

  bool Moves(int32_t body) const { return !summaries_->fixed[body]; }
  bool Asleep(int32_t body) const { return !asleep_.empty() && asleep_[body] != 0; }
  // One of them asleep, the other asleep or fixed.
  bool AtRest(int32_t a, int32_t b) const { return (Asleep(a) && (Asleep(b) || !Moves(b))) || (Asleep(b) && !Moves(a)); }
  BodyRegions& RegionsOf(const BodyPair& pair) { return pair.of_one_body() ? along_body_ : along_world_; }
  const BodyRegions& RegionsOf(const BodyPair& pair) const { return pair.of_one_body() ? along_body_ : along_world_; }
  Vec3 ShiftHere(const BodyPair& pair) const;
  Vec3 ShiftThere(const BodyPair& pair) const;
  double CentroidMotion(int32_t body) const;
  double ShiftMotion(const BodyPair& pair) const;
  double Narrowed(double margin) const;
  bool MovesFar(const BodyPair& pair, double far) const;
  bool ShapeCovers(int32_t body, const DeformationBounds::Seen& from, const DeformationBounds::Seen& to) const;
  bool ExtentCovers(int32_t body, const Vec3& centroid);
  bool IsCurrent(const BodyPair& pair) const;
  bool UpdateBody(int32_t body, const VecX& here, const VecX& there, double margin, double far, bool at_start);
  void RenewShape(int32_t body, const DeformationBounds::Seen& from, const DeformationBounds::Seen& to);
  void RenewExtents(double margin, double far);
  // Calls work(scratch, pair) for the pairs that are due; they may be shared among threads.
  template <typename Work>
  void ForPairsDue(const Work& work);
  bool RenewPairs(double margin, double far, bool at_start);
  void BeginPair(BodyPair* pair, double margin, double far, bool at_start) const;
  void EndPair(SearchScratch* scratch, BodyPair* pair, bool complete) const;
  void Gather();
  // Returns how many pairs of primitives were bounded anew.
  int64_t BoundPair(const SeenState& world, InterruptPoll* poll, BodyPair* pair);
  bool WidenNear(const DisplacementBounds& bodies);
  int64_t FindNear(double within, VertexList* vertices, BodyPair* pair) const;
  void FindNear();

  const CollisionSurface* surface_;
  const SurfaceSummaries* summaries_;
  double dhat_ = 0;
  InterruptPoll poll_;
  std::vector<uint8_t> asleep_;  // by body; empty: none
  BodyRegions along_world_;      // for pairs of two bodies
  BodyRegions along_body_;       // for pairs of one
  DeformationBounds shapes_;
  std::vector<uint64_t> shape_stamps_;  // by body: of what is known of its elements' deformation
  SearchThreads threads_;
  RestingSearch search_;
  SearchParts parts_;
  int64_t node_pairs_ = 0;
  MarginShare share_;
  BodyPairList pairs_;
  // What the next loop is about: of pairs_, by index; and what the last one took, by its index.
  struct Due {
    std::vector<int32_t> pairs;
    std::vector<int64_t> efforts;
  };
  Due due_;
  bool pairs_stale_ = false;  // are not those that are wanted
  Gathered gathered_;
  Near near_;
  OnPath on_path_;
};

template <typename Work>
void BroadPhase::ForPairsDue(const Work& work) {
  due_.efforts.assign(due_.pairs.size(), 0);
  threads_.ForEach(static_cast<int64_t>(due_.pairs.size()), true,
                   [&](SearchScratch* scratch, int64_t i) { due_.efforts[i] = work(scratch, &pairs_.pairs()[due_.pairs[i]]); });
  if (threads_.stopped()) poll_.Halt();
}

}  // namespace eipc

#endif  // EIPC_SIM_COLLISION_BROAD_PHASE_H_
