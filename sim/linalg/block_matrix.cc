#include "sim/linalg/block_matrix.h"

#include <algorithm>

#include "sim/base/refill.h"

namespace eipc {

void BlockMatrix::SetPattern(int32_t nodes, std::vector<std::pair<int32_t, int32_t>>* pairs) {
  for (auto& [a, b] : *pairs) {  // as (column, row) of the lower triangle
    if (a > b) std::swap(a, b);
  }
  for (int32_t i = 0; i < nodes; ++i) pairs->emplace_back(i, i);
  std::sort(pairs->begin(), pairs->end());
  pairs->erase(std::unique(pairs->begin(), pairs->end()), pairs->end());
  SetSortedPattern(nodes, *pairs);
}

// From first_column_ on.
void BlockMatrix::SetBlocks(int32_t columns, const std::vector<std::pair<int32_t, int32_t>>& pairs) {
  column_start_.assign(columns + 1, 0);
  rows_.resize(pairs.size());
  for (size_t k = 0; k < pairs.size(); ++k) {
    ++column_start_[pairs[k].first - first_column_ + 1];
    rows_[k] = pairs[k].second;
  }
  for (int32_t i = 0; i < columns; ++i) column_start_[i + 1] += column_start_[i];
  Refill(&values_, 9 * rows_.size() + 1, 0.0);
  missing_.clear();
  slots_.clear();
}

void BlockMatrix::SetPart(const std::vector<std::pair<int32_t, int32_t>>& pairs) {
  nodes_ = 0;
  first_column_ = pairs.empty() ? 0 : pairs.front().first;
  SetBlocks(pairs.empty() ? 0 : pairs.back().first - first_column_ + 1, pairs);
}

void BlockMatrix::SetSortedPattern(int32_t nodes, const std::vector<std::pair<int32_t, int32_t>>& pairs) {
  nodes_ = nodes;
  first_column_ = 0;
  SetBlocks(nodes, pairs);
  if (nodes > kSmall) return;
  slots_.assign(SlotOf(nodes, 0), -1);
  for (size_t k = 0; k < pairs.size(); ++k) slots_[SlotOf(pairs[k].second, pairs[k].first)] = static_cast<int32_t>(k);
}

int64_t BlockMatrix::Search(int32_t row, int32_t column) const {
  // Last entry <= row, by halving without branches: the diagonal, never above `row`, comes first.
  const int32_t *const start = column_start_.data() + (column - first_column_), *base = rows_.data() + start[0];
  for (int32_t count = start[1] - start[0]; count > 1;) {
    const int32_t half = count / 2;
    base += base[half] <= row ? half : 0;
    count -= half;
  }
  return *base == row ? base - rows_.data() : -1;
}

void BlockMatrix::Multiply(const VecX& x, VecX* y) const {
  y->setZero(3 * nodes_);
  for (int32_t c = 0; c < nodes_; ++c) {
    for (int32_t k = column_start_[c]; k < column_start_[c + 1]; ++k) {
      const Eigen::Map<const Mat3> block(values_.data() + 9 * k);
      const int32_t r = rows_[k];
      y->segment<3>(3 * r) += block * x.segment<3>(3 * c);
      if (r != c) y->segment<3>(3 * c) += block.transpose() * x.segment<3>(3 * r);
    }
  }
}

}  // namespace eipc
