#include "sim/linalg/minimum_fill.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <utility>

#include "tests/sim/linalg/random_blocks.h"

namespace eipc {
namespace {

using Pairs = std::vector<std::pair<int32_t, int32_t>>;

struct Graph {
  std::vector<int32_t> start, neighbours;
  int32_t nodes() const { return static_cast<int32_t>(start.size()) - 1; }
};

// With the numbers of nodes shuffled where `seed` is not zero.
Graph GraphOf(int32_t nodes, const Pairs& pairs, unsigned seed = 0) {
  std::vector<int32_t> number(nodes);
  std::iota(number.begin(), number.end(), 0);
  if (seed != 0) std::shuffle(number.begin(), number.end(), std::mt19937(seed));
  std::vector<std::set<int32_t>> of(nodes);
  for (const auto& [a, b] : pairs) {
    if (a != b) of[number[a]].insert(number[b]), of[number[b]].insert(number[a]);
  }
  Graph graph{{0}, {}};
  for (const std::set<int32_t>& each : of) {
    graph.neighbours.insert(graph.neighbours.end(), each.begin(), each.end());
    graph.start.push_back(static_cast<int32_t>(graph.neighbours.size()));
  }
  return graph;
}

std::vector<int32_t> OrderOf(const Graph& graph, const std::vector<uint8_t>& late = {}) {
  std::vector<int32_t> order;
  MinimumFill().Order(graph.start, graph.neighbours, late.empty() ? std::vector<uint8_t>(graph.nodes(), 0) : late, &order);
  return order;
}

std::vector<std::set<int32_t>> Neighbours(const Graph& graph) {
  std::vector<std::set<int32_t>> of(graph.nodes());
  for (int32_t i = 0; i < graph.nodes(); ++i) {
    of[i] = {graph.neighbours.begin() + graph.start[i], graph.neighbours.begin() + graph.start[i + 1]};
  }
  return of;
}

// Takes a node out and couples its neighbours with each other.
int64_t Eliminate(int32_t node, std::vector<std::set<int32_t>>* of) {
  int64_t fill = 0;
  for (const int32_t a : (*of)[node]) {
    (*of)[a].erase(node);
    for (const int32_t b : (*of)[node]) {
      if (a < b) fill += (*of)[a].insert(b).second, (*of)[b].insert(a);
    }
  }
  return fill;
}

struct Cost {
  int64_t fill = 0;        // pairs
  int64_t operations = 0;  // of the factor, in blocks
};

Cost CostOf(const Graph& graph, const std::vector<int32_t>& order) {
  std::vector<std::set<int32_t>> of = Neighbours(graph);
  Cost cost;
  for (const int32_t node : order) {
    const auto column = static_cast<int64_t>(of[node].size()) + 1;
    cost.operations += column * column;
    cost.fill += Eliminate(node, &of);
  }
  return cost;
}

// The node with the fewest neighbours first, which is counted and not estimated, and those that are late after all others.
std::vector<int32_t> ByDegree(const Graph& graph, const std::vector<uint8_t>& late = {}) {
  std::vector<std::set<int32_t>> of = Neighbours(graph);
  std::vector<int32_t> left(graph.nodes()), order;
  std::iota(left.begin(), left.end(), 0);
  const auto key = [&](int32_t node) { return of[node].size() + (late.empty() ? 0 : size_t{late[node]} * graph.nodes()); };
  while (!left.empty()) {
    const auto least = std::min_element(left.begin(), left.end(), [&](int32_t a, int32_t b) { return key(a) < key(b); });
    order.push_back(*least);
    Eliminate(*least, &of);
    left.erase(least);
  }
  return order;
}

Pairs RandomPairs(int32_t nodes, int pairs, unsigned seed) {
  std::mt19937 random(seed);
  Pairs out;
  for (int k = 0; k < pairs; ++k) out.emplace_back(random() % nodes, random() % nodes);
  return out;
}

// A sheet of triangles, each node coupled to those of neighbouring triangles as well.
Pairs Sheet(int32_t side) {
  Pairs pairs;
  for (int32_t i = 0; i < side * side; ++i) {
    for (int32_t j = i + 1; j < side * side; ++j) {
      const int32_t x = std::abs(i % side - j % side), y = std::abs(i / side - j / side);
      if (x <= 1 && y <= 1) pairs.emplace_back(i, j);
    }
  }
  return pairs;
}

void ExpectPermutation(std::vector<int32_t> order, int32_t nodes) {
  std::sort(order.begin(), order.end());
  std::vector<int32_t> all(nodes);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(order, all);
}

TEST(MinimumFill, OrdersEveryNodeOnce) {
  ExpectPermutation(OrderOf(GraphOf(0, {})), 0);
  ExpectPermutation(OrderOf(GraphOf(1, {})), 1);
  ExpectPermutation(OrderOf(GraphOf(5, {})), 5);
  for (unsigned seed = 1; seed < 60; ++seed) {
    const auto nodes = static_cast<int32_t>(2 + 3 * seed);
    ExpectPermutation(OrderOf(GraphOf(nodes, RandomPairs(nodes, static_cast<int>(seed * seed) / 2, seed))), nodes);
  }
}

TEST(MinimumFill, OrdersThoseThatAreLateAfterAllOthers) {
  for (unsigned seed = 1; seed < 40; ++seed) {
    const auto nodes = static_cast<int32_t>(2 + 3 * seed);
    const Graph graph = GraphOf(nodes, RandomPairs(nodes, 3 * nodes, seed));
    std::mt19937 random(seed);
    std::vector<uint8_t> late(nodes);
    for (uint8_t& each : late) each = random() % 3 == 0;
    const std::vector<int32_t> order = OrderOf(graph, late);
    ExpectPermutation(order, nodes);
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end(), [&](int32_t a, int32_t b) { return late[a] < late[b]; }));
  }
}

// Trees and cliques have orders without fill, and so has a path each node of which is coupled to a hub that comes last.
TEST(MinimumFill, FillsNothingWhereNothingMustBe) {
  for (unsigned seed = 1; seed < 20; ++seed) {
    const auto nodes = static_cast<int32_t>(20 * seed);
    std::mt19937 random(seed);
    Pairs tree;
    for (int32_t i = 1; i < nodes; ++i) tree.emplace_back(i, random() % i);
    const Graph graph = GraphOf(nodes, tree, seed);
    EXPECT_EQ(CostOf(graph, OrderOf(graph)).fill, 0) << seed;
  }
  Pairs clique, wheel;
  for (int32_t i = 0; i < 30; ++i) {
    for (int32_t j = 0; j < i; ++j) clique.emplace_back(i, j);
  }
  constexpr int32_t kPath = 700;
  for (int32_t i = 0; i < kPath; ++i) {
    wheel.emplace_back(i, kPath);
    if (i > 0) wheel.emplace_back(i - 1, i);
  }
  for (const Graph& graph : {GraphOf(30, clique), GraphOf(kPath + 1, wheel, 3)}) EXPECT_EQ(CostOf(graph, OrderOf(graph)).fill, 0);
}

// A node with very many neighbours comes last of all, also where others are late.
TEST(MinimumFill, OrdersHubsLast) {
  constexpr int32_t kNodes = 700;
  Pairs pairs = RandomPairs(kNodes, 1500, 1);
  for (int32_t i = 1; i < kNodes; ++i) pairs.emplace_back(0, i);
  std::vector<uint8_t> late(kNodes, 0);
  for (int32_t i = 0; i < kNodes; i += 5) late[i] = 1;
  EXPECT_EQ(OrderOf(GraphOf(kNodes, pairs), late).back(), 0);
}

// One with 500 neighbours, or ten times the root of the number of nodes, is no hub yet: it comes before those that are late.
TEST(MinimumFill, CountsNeighboursOfHubs) {
  for (const auto& [nodes, many] : {std::pair(900, 500), std::pair(3600, 600)}) {
    for (const bool is_hub : {false, true}) {
      Pairs pairs;
      for (int32_t i = 2; i < nodes; ++i) pairs.emplace_back(i - 1, i);
      for (int32_t i = 1; i <= many + (is_hub ? 1 : 0); ++i) pairs.emplace_back(0, i);
      std::vector<uint8_t> late(nodes, 0);
      for (int32_t i = 1; i < nodes; i += 5) late[i] = 1;
      EXPECT_EQ(OrderOf(GraphOf(nodes, pairs), late).back() == 0, is_hub) << nodes;
    }
  }
}

// Each part of what the hubs leave couples some of them, and the parts hang together like a tree: there is an order of the hubs
// without fill.
TEST(MinimumFill, FillsNothingAmongHubsWhereNothingMustBe) {
  constexpr int32_t kHubs = 12, kLeaves = 1300;
  for (unsigned seed = 1; seed <= 12; ++seed) {
    std::mt19937 random(seed);
    Pairs pairs;
    int32_t nodes = kHubs;
    for (int32_t hub = 0; hub < kHubs; ++hub) {
      for (int32_t leaf = 0; leaf < kLeaves; ++leaf) pairs.emplace_back(hub, nodes++);
    }
    for (int32_t hub = 1; hub < kHubs;) {  // coupled by a path of one to three nodes, or at once
      std::vector<int32_t> coupled = {static_cast<int32_t>(random() % hub)};
      for (auto more = static_cast<int32_t>(random() % 3); more >= 0 && hub < kHubs; --more) coupled.push_back(hub++);
      if (coupled.size() == 2 && random() % 2 == 0) {
        pairs.emplace_back(coupled[0], coupled[1]);
        continue;
      }
      const int32_t begin = nodes, count = 1 + static_cast<int32_t>(random() % 3);
      nodes += count;
      for (int32_t i = begin + 1; i < nodes; ++i) pairs.emplace_back(i - 1, i);
      for (const int32_t each : coupled) pairs.emplace_back(each, begin + static_cast<int32_t>(random() % count));
    }
    const Graph graph = GraphOf(nodes, pairs, seed % 2 == 0 ? seed : 0);
    const std::vector<int32_t> order = OrderOf(graph);
    ExpectPermutation(order, nodes);
    std::vector<std::set<int32_t>> of = Neighbours(graph);
    int64_t fill = 0;
    for (size_t i = 0; i < order.size(); ++i) {
      const int64_t of_node = Eliminate(order[i], &of);
      if (i >= order.size() - kHubs) fill += of_node;
    }
    EXPECT_EQ(fill, 0) << seed;
  }
}

// Fewer operations than by exact degrees, which approximate minimum degree comes near: by a sixth and more in the mean of what
// bodies and cloth couple.
TEST(MinimumFill, TakesFewerOperationsThanMinimumDegree) {
  double all = 0, by_degree = 0;
  for (unsigned seed = 1; seed <= 4; ++seed) {
    for (const Graph& graph : {GraphOf(8 * 8 * 8, testing::GridPairs(8), seed), GraphOf(20 * 20, Sheet(20), seed)}) {
      const auto ours = static_cast<double>(CostOf(graph, OrderOf(graph)).operations);
      const auto theirs = static_cast<double>(CostOf(graph, ByDegree(graph)).operations);
      EXPECT_LT(ours, theirs) << graph.nodes() << " " << seed;
      all += ours / 8, by_degree += theirs / 8;
    }
  }
  EXPECT_LT(all, 0.85 * by_degree);
}

// Among those that are late as well.
TEST(MinimumFill, TakesAsFewOperationsWhereHalfOfTheNodesAreLate) {
  double all = 0, by_degree = 0;
  for (unsigned seed = 1; seed <= 4; ++seed) {
    const Graph graph = GraphOf(20 * 20, Sheet(20), seed);
    std::vector<uint8_t> late(graph.nodes());
    std::mt19937 random(seed);
    for (uint8_t& each : late) each = random() % 2 == 0;
    all += static_cast<double>(CostOf(graph, OrderOf(graph, late)).operations);
    by_degree += static_cast<double>(CostOf(graph, ByDegree(graph, late)).operations);
  }
  EXPECT_LT(all, 1.02 * by_degree);
}

// Hubs cost no more than they must: a dozen on all of a sheet, and two that are each on a sheet of their own, not coupled by it.
TEST(MinimumFill, TakesFewOperationsWithHubs) {
  constexpr int32_t kSide = 24, kSheet = kSide * kSide;
  Pairs dozen = Sheet(kSide), two;
  for (int32_t i = 0; i < kSheet; ++i) {
    for (int32_t hub = 0; hub < 12; ++hub) dozen.emplace_back(i, kSheet + hub);
  }
  for (const auto& [a, b] : Sheet(kSide)) two.emplace_back(a, b), two.emplace_back(kSheet + a, kSheet + b);
  for (int32_t i = 0; i < kSheet; ++i) two.emplace_back(i, 2 * kSheet), two.emplace_back(kSheet + i, 2 * kSheet + 1);
  for (const Graph& graph : {GraphOf(kSheet + 12, dozen, 1), GraphOf(2 * kSheet + 2, two, 2)}) {
    const std::vector<int32_t> order = OrderOf(graph);
    ExpectPermutation(order, graph.nodes());
    EXPECT_LT(CostOf(graph, order).operations, CostOf(graph, ByDegree(graph)).operations);
  }
}

// What it did before has no effect.
TEST(MinimumFill, DependsOnTheGraphAlone) {
  constexpr int32_t kHubs = 3, kNodes = 900;
  Pairs with_hubs = RandomPairs(kNodes, kNodes, 3);
  for (int32_t i = 0; i < kNodes; ++i) {
    for (int32_t hub = 0; hub < kHubs; ++hub) {
      if (i % 4 != hub) with_hubs.emplace_back(i, kNodes + hub);
    }
  }
  const Graph grid = GraphOf(216, testing::GridPairs(6), 1), sheet = GraphOf(100, Sheet(10), 2);
  const Graph hubs = GraphOf(kNodes + kHubs, with_hubs, 4);
  MinimumFill used;
  for (int round = 0; round < 2; ++round) {
    for (const Graph& graph : {hubs, grid, hubs, sheet}) {
      std::vector<int32_t> order;
      used.Order(graph.start, graph.neighbours, std::vector<uint8_t>(graph.nodes(), 0), &order);
      EXPECT_EQ(order, OrderOf(graph));
    }
  }
}

}  // namespace
}  // namespace eipc
