#ifndef EIPC_SIM_GEOMETRY_BOUNDING_VOLUME_TREE_H_
#define EIPC_SIM_GEOMETRY_BOUNDING_VOLUME_TREE_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "sim/base/types.h"

namespace eipc {

// Axis-aligned box, m.
struct Box {
  Eigen::Array3d lo = Eigen::Array3d::Constant(std::numeric_limits<double>::infinity());
  Eigen::Array3d hi = Eigen::Array3d::Constant(-std::numeric_limits<double>::infinity());

  void Include(const Box& other) {
    lo = lo.min(other.lo);
    hi = hi.max(other.hi);
  }
  void Include(const Vec3& p) {
    lo = lo.min(p.array());
    hi = hi.max(p.array());
  }
  bool Overlaps(const Box& other) const { return (lo <= other.hi).all() && (other.lo <= hi).all(); }
};

// Binary tree over primitives: the topology is fixed by the positions given at construction (median split of the longest axis, ties
// by index, hence deterministic); the boxes are refitted to whatever the primitives' boxes are now.
class BoundingVolumeTree {
 public:
  static constexpr int kLeafSize = 4;
  struct Node {
    int32_t left = -1;  // -1: leaf
    int32_t right = -1;
    int32_t begin = 0;  // primitives() range
    int32_t end = 0;
    bool leaf() const { return left < 0; }
  };

  BoundingVolumeTree() = default;
  // One box a primitive; `first` is added to local indices to give the primitive's name.
  BoundingVolumeTree(const std::vector<Box>& boxes, int32_t first);

  bool empty() const { return nodes_.empty(); }
  const std::vector<Node>& nodes() const { return nodes_; }  // root first; children after their parent
  const std::vector<int32_t>& primitives() const { return primitives_; }

  // Boxes of all nodes from the boxes of primitives, by name.
  template <typename BoxType, typename BoxOf>
  void Refit(const BoxOf& box_of, std::vector<BoxType>* node_boxes) const {
    node_boxes->resize(nodes_.size());
    for (size_t i = nodes_.size(); i-- > 0;) {
      BoxType box;
      if (nodes_[i].leaf()) {
        for (int32_t k = nodes_[i].begin; k < nodes_[i].end; ++k) box.Include(box_of(primitives_[k]));
      } else {
        box = (*node_boxes)[nodes_[i].left];
        box.Include((*node_boxes)[nodes_[i].right]);
      }
      (*node_boxes)[i] = box;
    }
  }

 private:
  int32_t Build(const std::vector<Box>& boxes, int32_t begin, int32_t end);

  std::vector<Node> nodes_;
  std::vector<int32_t> primitives_;
};

}  // namespace eipc

#endif  // EIPC_SIM_GEOMETRY_BOUNDING_VOLUME_TREE_H_
