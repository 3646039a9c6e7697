#include "sim/dynamics/held_hessian.h"

#include <algorithm>

#include "sim/base/quad.h"

namespace eipc {

HeldHessian::HeldHessian(EnergyTerm* term) : term_(term) {
  term->AppendPattern(&blocks_);
  const size_t count = blocks_.size();
  for (size_t k = 0; k < count; ++k) {
    const auto [a, b] = blocks_[k];
    blocks_[k] = {std::min(a, b), std::max(a, b)};
    blocks_.emplace_back(a, a);
    blocks_.emplace_back(b, b);
  }
  std::sort(blocks_.begin(), blocks_.end());
  blocks_.erase(std::unique(blocks_.begin(), blocks_.end()), blocks_.end());
  blocks_.shrink_to_fit();
  own_.SetPart(blocks_);
  slots_.resize(blocks_.size());
  term->BindPattern(own_);
}

void HeldHessian::BindPattern(const BlockMatrix& hessian) {
  for (size_t k = 0; k < blocks_.size(); ++k) slots_[k] = hessian.Find(blocks_[k].second, blocks_[k].first);
}

void HeldHessian::Add(const Point& point, BlockMatrix* hessian) {
  if (uses_left_ > 0 && term_->HessianHolds(point)) {
    --uses_left_;
  } else {
    own_.SetZero();
    term_->AddHessian(point, &own_);
    uses_left_ = kMostUses;
  }
  for (size_t k = 0; k < slots_.size(); ++k) {
    const double* const block = own_.values().data() + 9 * k;
    const auto column = [block](size_t j) { return __builtin_shufflevector(LoadQuad(block + 3 * j), Quad{}, 0, 1, 2, 4); };
    hessian->AddColumnsAt(slots_[k], {column(0), column(1), column(2)});
  }
}

}  // namespace eipc
