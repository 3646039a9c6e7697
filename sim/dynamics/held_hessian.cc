#include "sim/dynamics/held_hessian.h"

#include "sim/base/quad.h"
#include "sim/dynamics/hessian_pattern.h"

namespace eipc {

HeldHessian::HeldHessian(EnergyTerm* term) : term_(term) {
  term->AppendPattern(&blocks_);
  const size_t count = blocks_.size();
  for (size_t k = 0; k < count; ++k) {
    const auto [a, b] = blocks_[k];
    blocks_.emplace_back(a, a);
    blocks_.emplace_back(b, b);
  }
  SortPairs(&blocks_);
  blocks_.shrink_to_fit();
  own_.SetPart(blocks_);
  slots_.resize(blocks_.size());
  term->BindPattern(own_);
}

void HeldHessian::BindPattern(const BlockMatrix& hessian) {
  for (size_t k = 0; k < blocks_.size(); ++k) slots_[k] = hessian.Find(blocks_[k].second, blocks_[k].first);
}

bool HeldHessian::Add(const Point& point, BlockMatrix* hessian) {
  const bool held = uses_left_ > 0 && term_->HessianHolds(point);
  if (held) {
    --uses_left_;
  } else {
    own_.SetZero();
    term_->AddHessian(point, &own_);
    uses_left_ = kMostUses;
  }
  AddAgain(hessian);
  return held;
}

void HeldHessian::AddAgain(BlockMatrix* hessian) const {
  for (size_t k = 0; k < slots_.size(); ++k) {
    const double* const block = own_.values().data() + 9 * k;
    hessian->AddColumnsAt(slots_[k], {LoadThree(block), LoadThree(block + 3), LoadThree(block + 6)});
  }
}

}  // namespace eipc
