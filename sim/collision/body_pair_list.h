#ifndef EIPC_SIM_COLLISION_BODY_PAIR_LIST_H_
#define EIPC_SIM_COLLISION_BODY_PAIR_LIST_H_

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "sim/collision/body_pair.h"
#include "sim/geometry/bounding_volume_tree.h"
#include "sim/geometry/wide_box.h"

namespace eipc {

// The pairs of bodies that may meet, found by a sweep along x over their extents (the boxes of all that a body may come to while
// its centroid stays in a box).
class BodyPairList {
 public:
  explicit BodyPairList(int32_t body_count) : extents_(body_count) {}

  struct Extent {
    bool present = false;  // the body has a surface
    Box centroids;         // region of its centroid, m
    WideBox surface;       // of the surface, in the world
  };
  Extent& extent(int32_t body) { return extents_[body]; }
  const Extent& extent(int32_t body) const { return extents_[body]; }

  // Pairs whose extents meet and that are `wanted`, each body with itself too, ordered by a, then b. Pairs that were there already
  // keep what they have.
  void Choose(const std::function<bool(int32_t, int32_t)>& wanted);

  std::vector<BodyPair>& pairs() { return pairs_; }
  const std::vector<BodyPair>& pairs() const { return pairs_; }

 private:
  void FindMeeting(const std::function<bool(int32_t, int32_t)>& wanted);

  std::vector<Extent> extents_;  // by body
  std::vector<BodyPair> pairs_, old_pairs_, spare_pairs_;
  std::vector<std::pair<int32_t, int32_t>> meeting_;
  std::vector<int32_t> by_x_;
};

}  // namespace eipc

#endif  // EIPC_SIM_COLLISION_BODY_PAIR_LIST_H_
