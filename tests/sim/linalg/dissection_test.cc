#include "sim/linalg/dissection.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "tests/sim/linalg/random_blocks.h"

namespace eipc {
namespace {

using testing::Random;
using Pairs = std::vector<std::pair<int32_t, int32_t>>;

BlockMatrix Pattern(int nodes, Pairs pairs) {
  BlockMatrix h;
  h.SetPattern(nodes, &pairs);
  return h;
}

// testing::GridPairs with these numbers of nodes.
Pairs Grid(int side, const std::vector<int32_t>& number) {
  Pairs pairs = testing::GridPairs(side);
  for (auto& [a, b] : pairs) a = number[a], b = number[b];
  return pairs;
}

std::vector<int32_t> Numbers(int count) {
  std::vector<int32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

// Every node once; parts of a level have no entry in common, and no part has one with a part of an earlier level that does not come
// before it as one of the parts that it separates.
void ExpectIndependent(const BlockMatrix& h, const Dissection& d) {
  std::vector<int32_t> sorted = d.order();
  std::sort(sorted.begin(), sorted.end());
  ASSERT_EQ(sorted, Numbers(h.nodes()));
  std::vector<int> level(h.nodes(), -1), part(h.nodes(), -1);
  int parts = 0;
  for (size_t l = 0; l < d.levels().size(); ++l) {
    for (const Dissection::Part& p : d.levels()[l]) {
      for (int32_t i = p.begin; i < p.end; ++i) level[d.order()[i]] = static_cast<int>(l), part[d.order()[i]] = parts;
      ++parts;
    }
  }
  EXPECT_EQ(std::count(part.begin(), part.end(), -1), 0);
  std::vector<int32_t> place(h.nodes());
  for (int i = 0; i < h.nodes(); ++i) place[d.order()[i]] = i;
  for (int32_t c = 0; c < h.nodes(); ++c) {
    for (int32_t k = h.column_start()[c]; k < h.column_start()[c + 1]; ++k) {
      const int32_t r = h.rows()[k];
      if (part[r] == part[c]) continue;
      ASSERT_NE(level[r], level[c]) << r << " " << c;
      EXPECT_EQ(level[r] < level[c], place[r] < place[c]) << r << " " << c;
    }
  }
}

int Largest(const std::vector<Dissection::Part>& level) {
  int most = 0;
  for (const Dissection::Part& p : level) most = std::max(most, p.nodes());
  return most;
}

TEST(Dissection, LeavesSmallMatricesAsTheyAre) {
  const BlockMatrix h = Pattern(27, Grid(3, Numbers(27)));
  Dissection d;
  d.LayOut(h, 14);
  EXPECT_EQ(d.order(), Numbers(27));
  ASSERT_EQ(d.levels().size(), 1U);
  EXPECT_EQ(d.levels()[0].size(), 1U);
}

// A grid is cut along planes, whether its nodes are numbered by planes or at random: into four parts of nearly a quarter each.
TEST(Dissection, CutsGridsAlongPlanes) {
  constexpr int kSide = 16, kNodes = kSide * kSide * kSide;
  std::vector<int32_t> number = Numbers(kNodes);
  for (const bool shuffled : {false, true}) {
    SCOPED_TRACE(shuffled);
    Random random(3);
    for (int i = kNodes - 1; shuffled && i > 0; --i) std::swap(number[i], number[random.Integer(0, i)]);
    const BlockMatrix h = Pattern(kNodes, Grid(kSide, number));
    Dissection d;
    d.LayOut(h, kNodes / 6);
    ExpectIndependent(h, d);
    ASSERT_EQ(d.levels().size(), 3U);
    ASSERT_EQ(d.levels()[0].size(), 4U);
    EXPECT_LT(Largest(d.levels()[0]), 0.26 * kNodes);
    EXPECT_LE(Largest(d.levels()[2]), (shuffled ? 2.5 : 1) * kSide * kSide);
  }
}

// Two bodies that touch nowhere need no separator.
TEST(Dissection, FindsPartsThatAreApart) {
  constexpr int kSide = 8, kNodes = kSide * kSide * kSide;
  Pairs pairs = Grid(kSide, Numbers(kNodes));
  for (const auto& [a, b] : Pairs(pairs)) pairs.emplace_back(a + kNodes, b + kNodes);
  const BlockMatrix h = Pattern(2 * kNodes, pairs);
  Dissection d;
  d.LayOut(h, kNodes - 10);
  ExpectIndependent(h, d);
  ASSERT_EQ(d.levels().size(), 1U);
  ASSERT_EQ(d.levels()[0].size(), 2U);
  EXPECT_EQ(d.levels()[0][0].nodes(), kNodes);
}

// Random graphs have no small separators, some not even neighbours.
TEST(Dissection, KeepsPartsIndependentWhateverThePattern) {
  Random random(5);
  for (const int entries : {0, 40, 200, 300, 500, 4000}) {
    const BlockMatrix h = Pattern(400, testing::RandomPairs(400, entries, &random));
    Dissection d;
    d.LayOut(h, 10);
    ExpectIndependent(h, d);
    const size_t leaves = d.levels()[0].size();
    EXPECT_TRUE(entries == 4000 ? leaves == 1 : entries > 0 || leaves > 10) << leaves;
  }
}

}  // namespace
}  // namespace eipc
