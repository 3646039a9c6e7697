#include "sim/linalg/factor_plan.h"

#include <algorithm>

namespace eipc {
namespace {

using Supernode = SupernodalStructure::Supernode;

// Of the Cholesky factor of the square and the rows below it, and of the products that are taken off beforehand.
double Flops(const SupernodalStructure& structure, int32_t s) {
  const Supernode& node = structure.supernodes[s];
  const double columns = 3.0 * node.columns(), rows = 3.0 * node.row_count;
  double flops = columns * columns * (rows - 2 * columns / 3);
  for (const SupernodalStructure::Update& u : structure.UpdatesOf(s)) {
    flops += 2.0 * 27.0 * u.relative_count * (u.last - u.first) * structure.supernodes[u.source].columns();
  }
  return flops;
}

// A subtree is a thread's alone: so large that taking it costs nothing beside it, so small that threads end at about the same time.
constexpr double kLeastFlops = 1e5;
constexpr double kSharesPerThread = 4;

}  // namespace

void FactorPlan::SetStructure(const SupernodalStructure& structure) {
  const int32_t count = static_cast<int32_t>(structure.supernodes.size());
  flops_.resize(count);
  parent_.resize(count);
  first_.resize(count);
  for (int32_t s = 0; s < count; ++s) {
    flops_[s] = Flops(structure, s);
    parent_[s] = structure.supernodes[s].parent;
    first_[s] = s;
  }
  for (int32_t s = 0; s < count; ++s) {  // children come before their parents
    if (parent_[s] >= 0) first_[parent_[s]] = std::min(first_[parent_[s]], first_[s]);
  }
}

void FactorPlan::Split(const std::vector<uint8_t>& changed, int threads) {
  const int32_t count = static_cast<int32_t>(flops_.size());
  below_.assign(count, 0.0);
  double total = 0;
  for (int32_t s = 0; s < count; ++s) {
    if (!changed[s]) continue;
    total += flops_[s];
    below_[s] += flops_[s];
    if (parent_[s] >= 0) below_[parent_[s]] += below_[s];
  }
  const double most = std::max(kLeastFlops, total / (kSharesPerThread * threads));
  subtrees_.clear();
  rest_.clear();
  subtree_flops_ = rest_flops_ = 0;
  for (int32_t s = 0; s < count; ++s) {
    if (!changed[s]) continue;
    if (below_[s] > most) {
      rest_.push_back(s);
      rest_flops_ += flops_[s];
    } else if (parent_[s] < 0 || below_[parent_[s]] > most) {
      subtrees_.push_back({first_[s], s, below_[s]});
      subtree_flops_ += below_[s];
    }
  }
  std::sort(subtrees_.begin(), subtrees_.end(), [](const Subtree& a, const Subtree& b) { return a.flops > b.flops; });
}

}  // namespace eipc
