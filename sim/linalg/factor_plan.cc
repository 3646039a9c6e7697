#include "sim/linalg/factor_plan.h"

#include <algorithm>

namespace eipc {
namespace {

using Supernode = SupernodalStructure::Supernode;

// Of the Cholesky factor of the square and the rows below it.
double PanelFlops(const Supernode& node) {
  const double columns = 3.0 * node.columns(), rows = 3.0 * node.row_count;
  return columns * columns * (rows - 2 * columns / 3);
}

double UpdateFlops(const SupernodalStructure& structure, int32_t s) {
  double flops = 0;
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
  update_flops_.resize(count);
  parent_.resize(count);
  first_.resize(count);
  for (int32_t s = 0; s < count; ++s) {
    update_flops_[s] = UpdateFlops(structure, s);
    flops_[s] = update_flops_[s] + PanelFlops(structure.supernodes[s]);
    parent_[s] = structure.supernodes[s].parent;
    first_[s] = s;
  }
  subtrees_.reserve(count);
  rest_.reserve(count);
  for (int32_t s = 0; s < count; ++s) {  // children come before their parents
    if (parent_[s] >= 0) first_[parent_[s]] = std::min(first_[parent_[s]], first_[s]);
  }
}

double FactorPlan::Flops(const std::vector<uint8_t>& changed) const {
  double flops = 0;
  for (size_t s = 0; s < flops_.size(); ++s) flops += changed[s] ? flops_[s] : 0.0;
  return flops;
}

void FactorPlan::Split(const std::vector<uint8_t>& changed, int threads) {
  const int32_t count = static_cast<int32_t>(flops_.size());
  below_.assign(count, 0.0);
  for (int32_t s = 0; s < count; ++s) {
    if (!changed[s]) continue;
    below_[s] += flops_[s];
    if (parent_[s] >= 0) below_[parent_[s]] += below_[s];
  }
  const double most = std::max(kLeastFlops, Flops(changed) / (kSharesPerThread * threads));
  subtrees_.clear();
  rest_.clear();
  subtree_flops_ = 0;
  for (int32_t s = 0; s < count; ++s) {
    if (!changed[s]) continue;
    if (below_[s] > most) {
      rest_.push_back(s);
    } else if (parent_[s] < 0 || below_[parent_[s]] > most) {
      subtrees_.push_back({first_[s], s, below_[s]});
      subtree_flops_ += below_[s];
    }
  }
  std::sort(subtrees_.begin(), subtrees_.end(), [](const Subtree& a, const Subtree& b) { return a.flops > b.flops; });
}

}  // namespace eipc
