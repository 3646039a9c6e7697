#include "sim/dynamics/hessian_pattern.h"

#include <algorithm>
#include <iterator>

namespace eipc {

void SortPairs(NodePairs* pairs) {
  for (auto& [a, b] : *pairs) {
    if (a > b) std::swap(a, b);
  }
  std::sort(pairs->begin(), pairs->end());
  pairs->erase(std::unique(pairs->begin(), pairs->end()), pairs->end());
}

void HessianPattern::SetFixed(int32_t node_count, NodePairs fixed, std::vector<uint8_t> varying_nodes) {
  node_count_ = node_count;
  fixed_pairs_ = std::move(fixed);
  for (int32_t n = 0; n < node_count; ++n) fixed_pairs_.emplace_back(n, n);
  SortPairs(&fixed_pairs_);
  varying_ = std::move(varying_nodes);
  stale_ = true;
}

void HessianPattern::SetContactPairs(const NodePairs& pairs) {
  if (contact_pairs_ == pairs) return;
  contact_pairs_ = pairs;
  stale_ = true;
}

void HessianPattern::AddContactPairs(const NodePairs& missing) {
  contact_pairs_.insert(contact_pairs_.end(), missing.begin(), missing.end());
  SortPairs(&contact_pairs_);
  stale_ = true;
}

void HessianPattern::Apply(BlockMatrix* hessian) {
  scratch_.clear();
  std::set_union(fixed_pairs_.begin(), fixed_pairs_.end(), contact_pairs_.begin(), contact_pairs_.end(),
                 std::back_inserter(scratch_));
  hessian->SetSortedPattern(node_count_, scratch_);
  stale_ = false;
}

void HessianPattern::ChangingNodes(std::vector<uint8_t>* nodes) const {
  *nodes = varying_;
  for (const auto& [a, b] : contact_pairs_) (*nodes)[a] = (*nodes)[b] = 1;
}

}  // namespace eipc
