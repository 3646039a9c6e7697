#ifndef EIPC_SIM_COLLISION_SWEPT_BROAD_PHASE_H_
#define EIPC_SIM_COLLISION_SWEPT_BROAD_PHASE_H_

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "sim/base/parallel.h"
#include "sim/collision/broad_phase.h"
#include "sim/collision/deformation_bounds.h"
#include "sim/collision/search_threads.h"
#include "sim/collision/swept_boxes.h"

namespace eipc {

// Pairs that come within `distance` somewhere on a straight motion of the nodes, for motions so long that BroadPhase's regions,
// which do not depend on time, would hold half the scene (SweptBox).
class SweptBroadPhase {
 public:
  // `threads` search, and their interrupt ends Find early.
  SweptBroadPhase(const CollisionSurface* surface, const SurfaceSummaries* summaries, const std::vector<EmbeddingRow>* rows,
                  const std::vector<Vec3>* offsets, double dhat, const SearchThreads::Source& threads = {});

  // Takes some of the candidates; of a long motion there may be more than memory has room for. Several threads may call it at a
  // time; `pool` has those that may share the work on the part.
  using Sink = std::function<void(const std::vector<Candidate>& part, ThreadPool* pool)>;
  // `searched`, where given: by its last CoversPath, pairs of bodies that are inside their regions are left out. `sink`, where
  // given, takes all candidates in parts of bounded size, and candidates() has none of them; with one thread they come in order.
  void Find(const VecX& from, const VecX& to, double distance, const BroadPhase* searched = nullptr, const Sink& sink = nullptr);
  // In the order of the traversal. No bounds: all are to be examined.
  const std::vector<Candidate>& candidates() const { return candidates_; }
  // Of the vertices that candidates have, at both ends, m.
  const std::vector<Vec3>& from() const { return boxes_.from(); }
  const std::vector<Vec3>& to() const { return boxes_.to(); }

 private:
  void ChoosePairs(const VecX& from, const VecX& to, const BroadPhase* searched);
  // `pool`: for the sink.
  void Traverse(const std::pair<int32_t, int32_t>& bodies, const Sink& sink, ThreadPool* pool, SearchScratch* scratch);
  struct Leaf {
    int32_t body, node;
  };
  void AddLeafPair(const Leaf& leaf_a, const Leaf& leaf_b, std::vector<Candidate>* out);
  struct Side;
  void AddFeatures(bool self, const Side& a, const Side& b, std::vector<Candidate>* out);

  const CollisionSurface* surface_;
  const SurfaceSummaries* summaries_;
  double dhat_;
  DeformationBounds shapes_;
  SearchThreads threads_;
  SweptBoxes boxes_;
  std::vector<SweptBox> body_boxes_;
  std::vector<std::pair<double, int32_t>> by_x_;    // low end of all that a body comes to, and the body
  std::vector<std::pair<int32_t, int32_t>> pairs_;  // of bodies, whose boxes meet
  std::vector<Candidate> candidates_;
};

}  // namespace eipc

#endif  // EIPC_SIM_COLLISION_SWEPT_BROAD_PHASE_H_
