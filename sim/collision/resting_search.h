#ifndef EIPC_SIM_COLLISION_RESTING_SEARCH_H_
#define EIPC_SIM_COLLISION_RESTING_SEARCH_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/collision/body_pair.h"
#include "sim/collision/collision_surface.h"
#include "sim/collision/deformation_bounds.h"
#include "sim/collision/interrupt_poll.h"
#include "sim/collision/neighbour_proofs.h"
#include "sim/collision/region_boxes.h"
#include "sim/collision/surface_summaries.h"

namespace eipc {

// Finds the pairs of primitives of two bodies that can come within their own dhat while everything stays in its region, by a
// traversal of both trees: the boxes of one body, moved by the region of the shift, against those of the other.
//
// Boxes of long or slanted primitives meet long before the primitives are near, so each pair is given a lower bound of its distance
// at one point of the regions, by a separating plane. A primitive moves no farther than its farthest vertex; pairs that this keeps
// beyond their own dhat everywhere in the regions are dropped. Pairs of one body are dropped by proofs about its deformation
// (DeformationBounds, NeighbourProofs). Why no pair is missed: docs/concepts/collision_detection.md.
class RestingSearch {
 public:
  // The pointers outlive this.
  RestingSearch(const CollisionSurface* surface, const SurfaceSummaries* summaries, double dhat, const DeformationBounds* shapes,
                InterruptPoll* poll);

  // Adds what it finds to the empty lists of the pair, whose bodies' boxes are `boxes`. False when it was interrupted.
  bool Search(RegionBoxes* boxes, BodyPair* pair);
  // Pairs of tree nodes examined so far: the cost.
  int64_t node_pairs() const { return node_pairs_; }

 private:
  void AddLeafPair(BodyPair* pair, int32_t i, int32_t j);
  void AddTrianglePair(BodyPair* pair, int32_t a, int32_t b, const WideBox& box_a, const WideBox& box_b);
  void AddNeighbours(BodyPair* pair);
  void AddFeatures(BodyPair* pair, int32_t a, int32_t b, const WideBox& box_a, const WideBox& box_b);
  void AddIfNear(BodyPair* pair, const std::array<int32_t, 4>& v, int32_t first, int32_t second, ContactKind kind);

  const CollisionSurface* surface_;
  const SurfaceSummaries* summaries_;
  double dhat_;
  RegionBoxes* boxes_ = nullptr;  // during Search
  const DeformationBounds* shapes_;
  InterruptPoll* poll_;
  NeighbourProofs neighbour_proofs_;
  std::vector<std::pair<int32_t, int32_t>> stack_;
  std::vector<int32_t> unproven_;
  int64_t node_pairs_ = 0;
};

}  // namespace eipc

#endif  // EIPC_SIM_COLLISION_RESTING_SEARCH_H_
