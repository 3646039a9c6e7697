#include "sim/geometry/tree_pairs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/random.h"

namespace eipc {
namespace {

using NodePairs = std::vector<std::pair<int32_t, int32_t>>;
using ::testing::ElementsAreArray;
using testing::Random;

// Of random boxes, with the boxes of its nodes.
struct Tree {
  Tree(int count, Random* random) {
    std::vector<Box> boxes(count);
    for (Box& box : boxes) {
      const Vec3 centre = random->Cube(1);
      box.Include(centre);
      box.Include(Vec3(centre + random->Cube(0.1)));
    }
    tree = BoundingVolumeTree(boxes, 0);
    tree.Refit([&](int32_t k) { return boxes[k]; }, &nodes);
  }
  BoundingVolumeTree tree;
  std::vector<Box> nodes;
};

// Leaves in the order in which they are visited, and how often `apart` is asked.
struct Walk {
  NodePairs leaves;
  int asked = 0;
};

Walk Whole(const Tree& a, const Tree& b, bool self) {
  Walk walk;
  NodePairs stack;
  const auto apart = [&](int32_t i, int32_t j) { return ++walk.asked, !a.nodes[i].Overlaps(b.nodes[j]); };
  ForLeafPairs(a.tree, b.tree, self, &stack, apart, [&](int32_t i, int32_t j) { walk.leaves.emplace_back(i, j); });
  return walk;
}

// Says where the parts begin, too.
Walk InParts(const Tree& a, const Tree& b, bool self, size_t wanted, NodePairs* parts) {
  Walk walk;
  NodePairs next, stack;
  const auto apart = [&](int32_t i, int32_t j) { return ++walk.asked, !a.nodes[i].Overlaps(b.nodes[j]); };
  SplitLeafPairs({a.tree, b.tree, self}, wanted, parts, &next, apart);
  for (const auto& part : *parts) {
    ForLeafPairsBelow({a.tree, b.tree, self}, part, &stack, apart, [&](int32_t i, int32_t j) { walk.leaves.emplace_back(i, j); });
  }
  return walk;
}

TEST(TreePairs, PartsTogetherAreTheWholeWalkInItsOrder) {
  Random random(1);
  int cut = 0;
  for (int round = 0; round < 60; ++round) {
    const Tree a(random.Integer(1, 300), &random), b(random.Integer(1, 300), &random);
    const bool self = round % 2 == 0;
    const Tree& other = self ? a : b;
    const Walk whole = Whole(a, other, self);
    for (const size_t wanted : {2, 7, 64, 100000}) {
      NodePairs parts;
      const Walk in_parts = InParts(a, other, self, wanted, &parts);
      ASSERT_THAT(in_parts.leaves, ElementsAreArray(whole.leaves)) << "round " << round << ", " << wanted << " parts wanted";
      EXPECT_EQ(in_parts.asked, whole.asked) << "a pair is asked about twice, or not at all";
      if (parts.size() < wanted) {
        for (const auto& [i, j] : parts) {
          ASSERT_TRUE(a.tree.nodes()[i].leaf() && other.tree.nodes()[j].leaf()) << "it could have been cut";
        }
      } else {
        ++cut;
      }
    }
  }
  EXPECT_GT(cut, 60);
}

TEST(TreePairs, NothingIsLeftOfTreesThatAreApart) {
  Random random(2);
  const Tree a(100, &random), b(100, &random);
  NodePairs from, next;
  int asked = 0;
  SplitLeafPairs({a.tree, b.tree, false}, 8, &from, &next, [&](int32_t, int32_t) { return ++asked, true; });
  EXPECT_TRUE(from.empty());
  EXPECT_EQ(asked, 1);
}

}  // namespace
}  // namespace eipc
