#include "sim/geometry/bounding_volume_tree.h"

#include <algorithm>
#include <numeric>

namespace eipc {

BoundingVolumeTree::BoundingVolumeTree(const std::vector<Box>& boxes, int32_t first) {
  if (boxes.empty()) return;
  primitives_.resize(boxes.size());
  std::iota(primitives_.begin(), primitives_.end(), 0);
  nodes_.reserve(boxes.size());
  Build(boxes, 0, static_cast<int32_t>(boxes.size()));
  for (int32_t& primitive : primitives_) primitive += first;
}

int32_t BoundingVolumeTree::Build(const std::vector<Box>& boxes, int32_t begin, int32_t end) {
  const int32_t index = static_cast<int32_t>(nodes_.size());
  nodes_.push_back({-1, -1, begin, end});
  if (end - begin <= kLeafSize) return index;
  Box centres;
  for (int32_t k = begin; k < end; ++k) {
    const Box& box = boxes[primitives_[k]];
    centres.Include(Vec3((box.lo + box.hi).matrix()));
  }
  int axis;
  (centres.hi - centres.lo).maxCoeff(&axis);
  const int32_t middle = begin + (end - begin) / 2;
  std::nth_element(primitives_.begin() + begin, primitives_.begin() + middle, primitives_.begin() + end, [&](int32_t a, int32_t b) {
    const double ca = boxes[a].lo[axis] + boxes[a].hi[axis], cb = boxes[b].lo[axis] + boxes[b].hi[axis];
    return ca != cb ? ca < cb : a < b;
  });
  const int32_t left = Build(boxes, begin, middle);
  const int32_t right = Build(boxes, middle, end);
  nodes_[index].left = left;
  nodes_[index].right = right;
  return index;
}

}  // namespace eipc
