#ifndef EIPC_SIM_GEOMETRY_TREE_PAIRS_H_
#define EIPC_SIM_GEOMETRY_TREE_PAIRS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/geometry/bounding_volume_tree.h"

namespace eipc {

// Calls visit(k, l) for every pair of primitives, one of each tree, whose leaves no pair of nodes above them keeps apart:
// `apart(i, j)` says of two nodes that nothing of one meets anything of the other. With `self` both are one tree, and each pair of
// two different primitives is named once; apart(i, i) is asked, too. The order is that of one fixed traversal, less what is pruned.
template <typename Apart, typename Visit>
void ForTreePairs(const BoundingVolumeTree& tree_a, const BoundingVolumeTree& tree_b, bool self,
                  std::vector<std::pair<int32_t, int32_t>>* stack, const Apart& apart, const Visit& visit) {
  stack->assign(1, {0, 0});
  while (!stack->empty()) {
    const auto [i, j] = stack->back();
    stack->pop_back();
    if (apart(i, j)) continue;
    const bool same = self && i == j;
    const BoundingVolumeTree::Node& a = tree_a.nodes()[i];
    const BoundingVolumeTree::Node& b = tree_b.nodes()[j];
    if (a.leaf() && b.leaf()) {
      for (int32_t k = a.begin; k < a.end; ++k) {
        for (int32_t l = same ? k + 1 : b.begin; l < b.end; ++l) visit(tree_a.primitives()[k], tree_b.primitives()[l]);
      }
    } else if (same) {
      stack->push_back({a.left, a.left});
      stack->push_back({a.right, a.right});
      stack->push_back({a.left, a.right});
    } else if (b.leaf() || (!a.leaf() && a.end - a.begin >= b.end - b.begin)) {
      stack->push_back({a.left, j});
      stack->push_back({a.right, j});
    } else {
      stack->push_back({i, b.left});
      stack->push_back({i, b.right});
    }
  }
}

}  // namespace eipc

#endif  // EIPC_SIM_GEOMETRY_TREE_PAIRS_H_
