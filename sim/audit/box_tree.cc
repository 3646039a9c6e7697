#include "sim/audit/box_tree.h"

#include <algorithm>
#include <utility>

namespace eipc {
namespace {

constexpr int32_t kLeafItems = 8;

bool VisitPair(int32_t i, int32_t j, const BoxTree::Visit& visit) { return visit(std::min(i, j), std::max(i, j)); }

}  // namespace

BoxTree::BoxTree(std::vector<Item> items) : items_(std::move(items)) {
  if (items_.empty()) return;
  nodes_.reserve(2 * items_.size() / (kLeafItems / 2) + 1);
  Build(0, static_cast<int32_t>(items_.size()));
}

int32_t BoxTree::Build(int32_t begin, int32_t end) {
  const int32_t index = static_cast<int32_t>(nodes_.size());
  AuditBox box = items_[begin].box;
  for (int32_t i = begin + 1; i < end; ++i) box.Add(items_[i].box);
  nodes_.push_back({box, begin, end});
  if (end - begin <= kLeafItems) return index;
  int axis = 0;
  (box.high - box.low).maxCoeff(&axis);
  const int32_t middle = begin + (end - begin) / 2;
  std::nth_element(items_.begin() + begin, items_.begin() + middle, items_.begin() + end, [axis](const Item& a, const Item& b) {
    const double ca = a.box.low[axis] + a.box.high[axis], cb = b.box.low[axis] + b.box.high[axis];
    return ca != cb ? ca < cb : a.id < b.id;
  });
  const int32_t left = Build(begin, middle);
  const int32_t right = Build(middle, end);
  nodes_[index].left = left;
  nodes_[index].right = right;
  return index;
}

// Of the items of two leaves.
bool BoxTree::ItemPairs(const Node& a, const BoxTree& other, const Node& b, const Visit& visit) const {
  for (int32_t i = a.begin; i < a.end; ++i) {
    if (!items_[i].box.Meets(b.box)) continue;
    for (int32_t j = b.begin; j < b.end; ++j) {
      if (items_[i].box.Meets(other.items_[j].box) && !VisitPair(items_[i].id, other.items_[j].id, visit)) return false;
    }
  }
  return true;
}

bool BoxTree::NodePairs(int32_t first, const BoxTree& other, int32_t second, const Visit& visit) const {
  std::vector<std::pair<int32_t, int32_t>> stack = {{first, second}};
  while (!stack.empty()) {
    const auto [ia, ib] = stack.back();
    stack.pop_back();
    const Node &a = nodes_[ia], &b = other.nodes_[ib];
    if (!a.box.Meets(b.box)) continue;
    if (a.left >= 0 && (b.left < 0 || a.end - a.begin >= b.end - b.begin)) {
      stack.insert(stack.end(), {{a.left, ib}, {a.right, ib}});
    } else if (b.left >= 0) {
      stack.insert(stack.end(), {{ia, b.left}, {ia, b.right}});
    } else if (!ItemPairs(a, other, b, visit)) {
      return false;
    }
  }
  return true;
}

bool BoxTree::SelfPairs(const Visit& visit) const {
  for (const Node& node : nodes_) {  // every pair meets in a leaf or in two sibling subtrees
    if (node.left >= 0) {
      if (!NodePairs(node.left, *this, node.right, visit)) return false;
      continue;
    }
    for (int32_t i = node.begin; i < node.end; ++i) {
      for (int32_t j = i + 1; j < node.end; ++j) {
        if (items_[i].box.Meets(items_[j].box) && !VisitPair(items_[i].id, items_[j].id, visit)) return false;
      }
    }
  }
  return true;
}

bool BoxTree::CrossPairs(const BoxTree& other, const Visit& visit) const {
  return empty() || other.empty() || NodePairs(0, other, 0, visit);
}

}  // namespace eipc
