#ifndef EIPC_SIM_COLLISION_RESTING_SEARCH_H_
#define EIPC_SIM_COLLISION_RESTING_SEARCH_H_

#include <array>
#include <cstdint>
#include <functional>

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
  bool Search(RegionBoxes* boxes, BodyPair* pair, SearchScratch* scratch, const std::function<bool()>& enough = nullptr);

 private:
  // Where a search adds to.
  struct Found {
    RegionBoxes* boxes;
    BodyPair* pair;
  };
  void AddLeafPair(const Found& to, int32_t i, int32_t j) const;
  void AddTrianglePair(const Found& to, int32_t a, int32_t b, const WideBox& box_a, const WideBox& box_b) const;
  void AddNeighbours(const Found& to, SearchScratch* scratch);
  void AddFeatures(const Found& to, int32_t a, int32_t b, const WideBox& box_a, const WideBox& box_b) const;
  double LeastApart(const Found& to, const std::array<int32_t, 4>& v, ContactKind kind, const Vec3& direction) const;
  void AddIfNear(const Found& to, const std::array<int32_t, 4>& v, int32_t first, int32_t second, ContactKind kind) const;

  const CollisionSurface* surface_;
  const SurfaceSummaries* summaries_;
  double dhat_;
  const DeformationBounds* shapes_;
  NeighbourProofs neighbour_proofs_;  // of a body, only its pair with itself asks
};

}  // namespace eipc

#endif  // EIPC_SIM_COLLISION_RESTING_SEARCH_H_
