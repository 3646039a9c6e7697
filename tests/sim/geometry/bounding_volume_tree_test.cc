#include "sim/geometry/bounding_volume_tree.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/random.h"

namespace eipc {
namespace {

using testing::Random;

std::vector<Box> RandomBoxes(int n, Random* random) {
  std::vector<Box> boxes(n);
  for (Box& box : boxes) {
    const Vec3 centre = random->Cube(1);
    box.Include(centre);
    box.Include(Vec3(centre + random->Cube(0.1)));
  }
  return boxes;
}

bool Contains(const Box& outer, const Box& inner) { return (outer.lo <= inner.lo).all() && (outer.hi >= inner.hi).all(); }

TEST(Box, IncludesAndOverlaps) {
  Box a, b;
  a.Include(Vec3(0, 0, 0));
  EXPECT_FALSE(a.Overlaps(b)) << "an empty box overlaps nothing";
  a.Include(Vec3(1, 1, 1));
  b.Include(Vec3(1, 1, 1));
  b.Include(Vec3(2, 2, 2));
  EXPECT_TRUE(a.Overlaps(b)) << "touching counts";
  EXPECT_TRUE(b.Overlaps(a));
  for (int axis = 0; axis < 3; ++axis) {
    Box c = b;
    c.lo[axis] = 1.1;
    EXPECT_FALSE(a.Overlaps(c));
    EXPECT_FALSE(c.Overlaps(a));
  }
}

TEST(BoundingVolumeTree, EmptyHasNoNodes) {
  EXPECT_TRUE(BoundingVolumeTree().empty());
  EXPECT_TRUE(BoundingVolumeTree({}, 3).empty());
}

TEST(BoundingVolumeTree, LeavesNameEveryPrimitiveOnce) {
  Random random(1);
  for (int n : {1, 4, 5, 31, 200}) {
    const BoundingVolumeTree tree(RandomBoxes(n, &random), 100);
    std::multiset<int32_t> seen;
    for (const BoundingVolumeTree::Node& node : tree.nodes()) {
      ASSERT_LT(node.begin, node.end);
      if (!node.leaf()) continue;
      EXPECT_LE(node.end - node.begin, BoundingVolumeTree::kLeafSize);
      for (int32_t k = node.begin; k < node.end; ++k) seen.insert(tree.primitives()[k]);
    }
    ASSERT_EQ(static_cast<int>(seen.size()), n);
    int32_t expected = 100;
    for (int32_t primitive : seen) EXPECT_EQ(primitive, expected++);
  }
}

TEST(BoundingVolumeTree, ChildrenFollowTheirParentAndShareItsRange) {
  Random random(2);
  const BoundingVolumeTree tree(RandomBoxes(150, &random), 0);
  for (int32_t i = 0; i < static_cast<int32_t>(tree.nodes().size()); ++i) {
    const BoundingVolumeTree::Node& node = tree.nodes()[i];
    if (node.leaf()) continue;
    EXPECT_GT(node.left, i);
    EXPECT_GT(node.right, i);
    EXPECT_EQ(tree.nodes()[node.left].begin, node.begin);
    EXPECT_EQ(tree.nodes()[node.left].end, tree.nodes()[node.right].begin);
    EXPECT_EQ(tree.nodes()[node.right].end, node.end);
  }
}

// After any motion of the primitives a refitted tree answers box queries as brute force does.
TEST(BoundingVolumeTree, RefittedBoxesHoldTheirPrimitives) {
  Random random(3);
  constexpr int kFirst = 7;
  const int n = 120;
  const BoundingVolumeTree tree(RandomBoxes(n, &random), kFirst);
  for (int round = 0; round < 20; ++round) {
    const std::vector<Box> now = RandomBoxes(n, &random);
    std::vector<Box> node_boxes;
    tree.Refit([&](int32_t name) { return now[name - kFirst]; }, &node_boxes);
    Box query;
    query.Include(random.Cube(1));
    query.Include(random.Cube(1));
    std::set<int32_t> found, expected;
    std::vector<int32_t> stack = {0};
    while (!stack.empty()) {
      const int32_t i = stack.back();
      stack.pop_back();
      const BoundingVolumeTree::Node& node = tree.nodes()[i];
      if (!node_boxes[i].Overlaps(query)) continue;
      if (node.leaf()) {
        for (int32_t k = node.begin; k < node.end; ++k) {
          EXPECT_TRUE(Contains(node_boxes[i], now[tree.primitives()[k] - kFirst]));
          if (now[tree.primitives()[k] - kFirst].Overlaps(query)) found.insert(tree.primitives()[k]);
        }
      } else {
        EXPECT_TRUE(Contains(node_boxes[i], node_boxes[node.left]) && Contains(node_boxes[i], node_boxes[node.right]));
        stack.push_back(node.left);
        stack.push_back(node.right);
      }
    }
    for (int k = 0; k < n; ++k) {
      if (now[k].Overlaps(query)) expected.insert(k + kFirst);
    }
    EXPECT_EQ(found, expected);
  }
}

// Boxes that all coincide: ties go by index, so the tree is a function of its input and its depth stays logarithmic.
TEST(BoundingVolumeTree, CoincidingPrimitivesMakeABalancedTree) {
  Box box;
  box.Include(Vec3(1, 2, 3));
  const BoundingVolumeTree tree(std::vector<Box>(64, box), 0);
  EXPECT_EQ(tree.nodes().size(), 31u);
  const BoundingVolumeTree again(std::vector<Box>(64, box), 0);
  EXPECT_EQ(again.primitives(), tree.primitives());
}

}  // namespace
}  // namespace eipc
