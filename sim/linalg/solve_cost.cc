#include "sim/linalg/solve_cost.h"

#include <algorithm>
#include <vector>

#include "sim/linalg/supernodes.h"

namespace eipc {
namespace {

// Both from the table of docs/results/solvers.md: iterations per edge of the longest path through a body, and the time of one block
// of one iteration (product, and solution with the incomplete factor, which wait for memory) in multiplications of dense panels.
constexpr double kIterationsPerEdge = 2.2;
constexpr double kOperationsPerBlock = 170;
// The factor of a towel that is folded, and of a sleeve that is pulled over a capsule, takes 1.6 to 1.9 times as long in contact.
constexpr double kFillOfSheets = 1.5;

// The graph of a symmetric pattern, both directions of every edge.
class Graph {
 public:
  explicit Graph(const BlockMatrix& h) : start_(h.nodes() + 1, 0), distance_(h.nodes(), -1) {
    const auto for_edges = [&h](const auto& visit) {
      for (int32_t c = 0; c < h.nodes(); ++c) {
        for (int32_t k = h.column_start()[c]; k < h.column_start()[c + 1]; ++k) {
          if (h.rows()[k] != c) visit(c, h.rows()[k]);
        }
      }
    };
    for_edges([this](int32_t a, int32_t b) { ++start_[a + 1], ++start_[b + 1]; });
    for (size_t i = 1; i < start_.size(); ++i) start_[i] += start_[i - 1];
    neighbours_.resize(start_.back());
    std::vector<int32_t> next(start_.begin(), start_.end() - 1);
    for_edges([this, &next](int32_t a, int32_t b) { neighbours_[next[a]++] = b, neighbours_[next[b]++] = a; });
  }

  bool Visited(int32_t node) const { return distance_[node] >= 0; }

  // Edges between `from` and the last node that a breadth-first search reaches, which replaces it.
  int32_t Farthest(int32_t* from) {
    for (const int32_t node : queue_) distance_[node] = -1;
    queue_.assign(1, *from);
    distance_[*from] = 0;
    for (size_t i = 0; i < queue_.size(); ++i) {
      const int32_t node = queue_[i];
      for (int32_t k = start_[node]; k < start_[node + 1]; ++k) {
        const int32_t other = neighbours_[k];
        if (distance_[other] >= 0) continue;
        distance_[other] = distance_[node] + 1;
        queue_.push_back(other);
      }
    }
    *from = queue_.back();
    return distance_[*from];
  }
  // The nodes of the last search stay visited.
  void Leave() { queue_.clear(); }

 private:
  std::vector<int32_t> start_, neighbours_, distance_, queue_;
};

// Of the connected part where it is largest; the second search starts at an end of the part.
int32_t LongestPath(const BlockMatrix& h) {
  Graph graph(h);
  int32_t longest = 0;
  for (int32_t n = 0; n < h.nodes(); ++n) {
    if (graph.Visited(n)) continue;
    int32_t from = n;
    graph.Farthest(&from);
    longest = std::max(longest, graph.Farthest(&from));
    graph.Leave();
  }
  return longest;
}

}  // namespace

SolveCost EstimateSolveCost(const BlockMatrix& pattern, SystemKind kind) {
  SolveCost cost;
  cost.unknowns = 3 * int64_t{pattern.nodes()};
  if (pattern.nodes() == 0) return cost;
  SupernodalStructure structure;
  PatternAnalysis().Analyze(pattern, {}, {}, &structure);
  cost.factor_bytes = static_cast<int64_t>(sizeof(double)) * structure.panel_entries;
  // Column k of a panel of r rows divides r - k entries and updates half of their square.
  for (const SupernodalStructure::Supernode& s : structure.supernodes) {
    for (int32_t k = 0; k < 3 * s.columns(); ++k) {
      const double rows = 3.0 * s.row_count - k;
      cost.factor_operations += 0.5 * rows * rows;
    }
  }
  if (kind == SystemKind::kSheets) cost.factor_operations *= kFillOfSheets;
  cost.krylov_iterations = kIterationsPerEdge * LongestPath(pattern);
  cost.iteration_operations = kOperationsPerBlock * static_cast<double>(pattern.block_count());
  return cost;
}

}  // namespace eipc
