#ifndef EIPC_SIM_AUDIT_BOX_TREE_H_
#define EIPC_SIM_AUDIT_BOX_TREE_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "sim/base/types.h"

namespace eipc {

// Closed axis-aligned box. Only comparisons of input coordinates: a pair of triangles that meets is never culled.
struct AuditBox {
  Vec3 low;
  Vec3 high;
  bool Meets(const AuditBox& o) const { return (low.array() <= o.high.array()).all() && (o.low.array() <= high.array()).all(); }
  void Add(const AuditBox& o) {
    low = low.cwiseMin(o.low);
    high = high.cwiseMax(o.high);
  }
};

// Binary tree over boxes, halved at the median of the longest side. The audit's own broad phase.
class BoxTree {
 public:
  struct Item {
    AuditBox box;
    int32_t id;
  };
  // Takes one pair; false: the search ends. Pairs come one at a time, since there may be as many as the square of the items.
  using Visit = std::function<bool(int32_t i, int32_t j)>;
  BoxTree() = default;
  explicit BoxTree(std::vector<Item> items);

  bool empty() const { return items_.empty(); }
  const AuditBox& bounds() const { return nodes_[0].box; }

  // Visits every pair (i < j) of this tree's ids whose boxes meet. False: a visit ended it.
  bool SelfPairs(const Visit& visit) const;
  // The same between two trees with different ids.
  bool CrossPairs(const BoxTree& other, const Visit& visit) const;

 private:
  struct Node {
    AuditBox box;
    int32_t begin, end;             // items
    int32_t left = -1, right = -1;  // children; none in a leaf
  };
  int32_t Build(int32_t begin, int32_t end);
  bool NodePairs(int32_t first, const BoxTree& other, int32_t second, const Visit& visit) const;
  bool ItemPairs(const Node& a, const BoxTree& other, const Node& b, const Visit& visit) const;

  std::vector<Item> items_;
  std::vector<Node> nodes_;
};

}  // namespace eipc

#endif  // EIPC_SIM_AUDIT_BOX_TREE_H_
