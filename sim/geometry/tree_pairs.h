#ifndef EIPC_SIM_GEOMETRY_TREE_PAIRS_H_
#define EIPC_SIM_GEOMETRY_TREE_PAIRS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/geometry/bounding_volume_tree.h"

namespace eipc {

// Calls visit(i, j) for every pair of leaves, one of each tree, that no pair of nodes above them keeps apart: `apart(i, j)` says of
// two nodes that nothing of one meets anything of the other. With `self` both are one tree, and each pair of leaves is named once,
// a leaf with itself among them; apart(i, i) is asked, too. The order is that of one fixed traversal, less what is pruned.
template <typename Apart, typename Visit>
void ForLeafPairs(const BoundingVolumeTree& tree_a, const BoundingVolumeTree& tree_b, bool self,
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
      visit(i, j);
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

// Calls visit(k, l) for every pair of primitives in such leaves, one of each tree; with `self` each pair of two different
// primitives is named once.
template <typename Apart, typename Visit>
void ForTreePairs(const BoundingVolumeTree& tree_a, const BoundingVolumeTree& tree_b, bool self,
                  std::vector<std::pair<int32_t, int32_t>>* stack, const Apart& apart, const Visit& visit) {
  ForLeafPairs(tree_a, tree_b, self, stack, apart, [&](int32_t i, int32_t j) {
    const BoundingVolumeTree::Node &a = tree_a.nodes()[i], &b = tree_b.nodes()[j];
    for (int32_t k = a.begin; k < a.end; ++k) {
      for (int32_t l = self && i == j ? k + 1 : b.begin; l < b.end; ++l) visit(tree_a.primitives()[k], tree_b.primitives()[l]);
    }
  });
}

}  // namespace eipc

#endif  // EIPC_SIM_GEOMETRY_TREE_PAIRS_H_
