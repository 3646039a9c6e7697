#ifndef EIPC_SIM_GEOMETRY_TREE_PAIRS_H_
#define EIPC_SIM_GEOMETRY_TREE_PAIRS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/geometry/bounding_volume_tree.h"

namespace eipc {

// With `self` both are one tree.
struct TwoTrees {
  const BoundingVolumeTree& a;
  const BoundingVolumeTree& b;
  bool self = false;

  bool AreLeaves(const std::pair<int32_t, int32_t>& nodes) const {
    return a.nodes()[nodes.first].leaf() && b.nodes()[nodes.second].leaf();
  }
  // Adds the pairs of nodes below (i, j), not both leaves, to `stack`, from the last to be visited to the first.
  [[gnu::always_inline]] void PushBelow(int32_t i, int32_t j, std::vector<std::pair<int32_t, int32_t>>* stack) const {
    const BoundingVolumeTree::Node& of_a = a.nodes()[i];
    const BoundingVolumeTree::Node& of_b = b.nodes()[j];
    if (self && i == j) {
      stack->push_back({of_a.left, of_a.left});
      stack->push_back({of_a.right, of_a.right});
      stack->push_back({of_a.left, of_a.right});
    } else if (of_b.leaf() || (!of_a.leaf() && of_a.end - of_a.begin >= of_b.end - of_b.begin)) {
      stack->push_back({of_a.left, j});
      stack->push_back({of_a.right, j});
    } else {
      stack->push_back({i, of_b.left});
      stack->push_back({i, of_b.right});
    }
  }
};

// Calls visit(i, j) for every pair of leaves below the pair of nodes `from`, one of each tree, that no pair of nodes above them
// keeps apart: `apart(i, j)` says of two nodes that nothing of one meets anything of the other. Each pair of leaves of one tree is
// named once, a leaf with itself among them; apart(i, i) is asked, too. The order is that of one fixed traversal, less what is
// pruned.
template <typename Apart, typename Visit>
void ForLeafPairsBelow(const TwoTrees& trees, const std::pair<int32_t, int32_t>& from,
                       std::vector<std::pair<int32_t, int32_t>>* stack, const Apart& apart, const Visit& visit) {
  stack->assign(1, from);
  while (!stack->empty()) {
    const auto [i, j] = stack->back();
    stack->pop_back();
    if (apart(i, j)) continue;
    if (trees.AreLeaves({i, j})) {
      visit(i, j);
    } else {
      trees.PushBelow(i, j, stack);
    }
  }
}

// The same of the whole trees.
template <typename Apart, typename Visit>
void ForLeafPairs(const BoundingVolumeTree& tree_a, const BoundingVolumeTree& tree_b, bool self,
                  std::vector<std::pair<int32_t, int32_t>>* stack, const Apart& apart, const Visit& visit) {
  ForLeafPairsBelow({tree_a, tree_b, self}, {0, 0}, stack, apart, visit);
}

// Pairs of nodes that ForLeafPairsBelow, called for one after the other, visits the same leaves from in the same order as
// ForLeafPairs: at least `wanted`, unless fewer are left. `apart` is asked of those above them, and of no pair of leaves, so that
// none is asked twice. `next` is overwritten.
template <typename Apart>
void SplitLeafPairs(const TwoTrees& trees, size_t wanted, std::vector<std::pair<int32_t, int32_t>>* pairs,
                    std::vector<std::pair<int32_t, int32_t>>* next, const Apart& apart) {
  pairs->assign(1, {0, 0});
  for (bool leaves = false; !leaves && pairs->size() < wanted;) {
    next->clear();
    leaves = true;
    for (const auto& [i, j] : *pairs) {
      if (trees.AreLeaves({i, j})) {
        next->push_back({i, j});
      } else if (!apart(i, j)) {
        const auto first = static_cast<std::ptrdiff_t>(next->size());
        trees.PushBelow(i, j, next);
        std::reverse(next->begin() + first, next->end());
        leaves = false;
      }
    }
    pairs->swap(*next);
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
