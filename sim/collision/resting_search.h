#ifndef EIPC_SIM_COLLISION_RESTING_SEARCH_H_
#define EIPC_SIM_COLLISION_RESTING_SEARCH_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "sim/collision/body_pair.h"
#include "sim/collision/collision_surface.h"
#include "sim/collision/deformation_bounds.h"
#include "sim/collision/neighbour_proofs.h"
#include "sim/collision/region_boxes.h"
#include "sim/collision/search_threads.h"
#include "sim/collision/surface_summaries.h"

namespace eipc {

// Finds the pairs of primitives of two bodies that can come within their own dhat while everything stays in its region, by a
// traversal of both trees: the boxes of one body, moved by the region of the shift, against those of the other.
//
// Boxes of long or slanted primitives meet long before the primitives are near, so each pair is given a lower bound of its distance
// at one point of the regions, by a separating plane. Pairs that stay beyond their own dhat along its normal everywhere in the
// regions are dropped. Pairs of one body are dropped by proofs about its deformation
// (DeformationBounds, NeighbourProofs). Why no pair is missed: docs/concepts/collision_detection.md.
class RestingSearch {
 public:
  // The pointers outlive this.
  RestingSearch(const CollisionSurface* surface, const SurfaceSummaries* summaries, double dhat, const DeformationBounds* shapes);

  // Adds what it finds to the empty lists of the pair, whose bodies' boxes are `boxes`, and says what that cost
  // (BodyPair::node_pairs). Where given, `enough` is asked again and again, and may take what has been found. False when it was
  // interrupted, or found enough. Threads may search different pairs at a time, each with a scratch of its own.
  using Enough = std::function<bool()>;
  bool Search(RegionBoxes* boxes, BodyPair* pair, SearchScratch* scratch, const Enough& enough = nullptr);

  // The same in parts, which threads may share: what they find, in their order, is what Search finds. Each counts the pairs of tree
  // nodes that it examines.
  using NodePair = std::pair<int32_t, int32_t>;
  // Pairs of nodes, at least `wanted` of them where there is so much to search, below each of which a part is found. `next` is
  // overwritten.
  void Split(RegionBoxes* boxes, const BodyPair& pair, size_t wanted, std::vector<NodePair>* from, std::vector<NodePair>* next,
             int64_t* node_pairs) const;
  // What is searched, with the boxes of its bodies, and where what is found goes.
  struct Job {
    RegionBoxes* boxes;
    const BodyPair* pair;
    PairLists* found;
  };
  bool SearchBelow(const Job& of, const NodePair& from, SearchScratch* scratch, int64_t* node_pairs,
                   const Enough& enough = nullptr) const;
  // The last part, of a pair that has one.
  bool HasNeighbours(const BodyPair& pair) const { return pair.of_one_body() && !summaries_->proves[pair.a]; }
  void AddNeighbours(const Job& of, SearchScratch* scratch);

 private:
  bool Apart(const Job& of, int32_t i, int32_t j) const;
  void AddLeafPair(const Job& of, int32_t i, int32_t j) const;
  void AddTrianglePair(const Job& of, int32_t a, int32_t b, const WideBox& box_a, const WideBox& box_b) const;
  void AddFeatures(const Job& of, int32_t a, int32_t b, const WideBox& box_a, const WideBox& box_b) const;
  double LeastApart(const Job& of, const std::array<int32_t, 4>& v, ContactKind kind, const Vec3& direction) const;
  void AddIfNear(const Job& of, const std::array<int32_t, 4>& v, int32_t first, int32_t second, ContactKind kind) const;

  const CollisionSurface* surface_;
  const SurfaceSummaries* summaries_;
  double dhat_;
  const DeformationBounds* shapes_;
  NeighbourProofs neighbour_proofs_;  // of a body, only its pair with itself asks
};

}  // namespace eipc

#endif  // EIPC_SIM_COLLISION_RESTING_SEARCH_H_
