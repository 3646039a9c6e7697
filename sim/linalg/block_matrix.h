#ifndef EIPC_SIM_LINALG_BLOCK_MATRIX_H_
#define EIPC_SIM_LINALG_BLOCK_MATRIX_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/base/quad.h"
#include "sim/base/types.h"

namespace eipc {

// Symmetric sparse matrix of 3x3 blocks over nodes; the lower triangle (row >= column) is stored by block columns, rows sorted,
// the diagonal block first. The pattern is set once and values are added into it without allocation.
class BlockMatrix {
 public:
  // Pattern = diagonal + every pair in `pairs` (any order, repeats allowed; consumed as scratch).
  void SetPattern(int32_t nodes, std::vector<std::pair<int32_t, int32_t>>* pairs);

  int32_t nodes() const { return nodes_; }
  // The same from pairs (column, row), column <= row, sorted, without repetition, the diagonal among them.
  void SetSortedPattern(int32_t nodes, const std::vector<std::pair<int32_t, int32_t>>& pairs);
  // A part of a larger matrix: the blocks at these pairs, sorted likewise, each column with its diagonal where it has any. Such a
  // part is not multiplied, and only what it has may be sought in it.
  void SetPart(const std::vector<std::pair<int32_t, int32_t>>& pairs);

  int64_t block_count() const { return static_cast<int64_t>(rows_.size()); }
  const std::vector<int32_t>& column_start() const { return column_start_; }
  const std::vector<int32_t>& rows() const { return rows_; }
  const std::vector<double>& values() const { return values_; }  // 9 a block, column-major; one more at the end

  void SetZero() { std::fill(values_.begin(), values_.end(), 0.0); }
  void CopyValuesFrom(const std::vector<double>& values) { values_ = values; }

  // Position of block (row, column) with row >= column in the value array (in blocks), or -1 when outside the pattern.
  int64_t Find(int32_t row, int32_t column) const { return slots_.empty() ? Search(row, column) : slots_[SlotOf(row, column)]; }

  // Adds block B at (a, b); for a < b its transpose goes to (b, a). Off-diagonal pairs are to be added once. A pair outside the
  // pattern is noted in missing() instead: the caller extends the pattern and assembles again.
  void Add(int32_t a, int32_t b, const Mat3& block) {
    const int64_t slot = Find(std::max(a, b), std::min(a, b));
    if (slot < 0) {
      missing_.emplace_back(a, b);
    } else if (a >= b) {
      AddAt(slot, block);
    } else {
      AddAt(slot, block.transpose());
    }
  }
  std::vector<std::pair<int32_t, int32_t>>* missing() { return &missing_; }
  // Adds a block given as three columns that end in a zero. All loads come before the stores: a load that overlaps two stores has
  // to wait until both have left the store buffer. A store writes one entry beyond its column, as it was; the next puts it right.
  void AddColumnsAt(int64_t slot, const std::array<Quad, 3>& columns) {
    double* block = values_.data() + 9 * slot;
    const Quad sum[3] = {LoadQuad(block) + columns[0], LoadQuad(block + 3) + columns[1], LoadQuad(block + 6) + columns[2]};
    for (int j = 0; j < 3; ++j) StoreQuad(sum[j], block + 3 * j);
  }
  void AddAt(int64_t slot, const Mat3& block) { Eigen::Map<Mat3>(values_.data() + 9 * slot) += block; }

  // y = H x over all nodes (both triangles), in a fixed order.
  void Multiply(const VecX& x, VecX* y) const;

 private:
  // Small matrices know where every block is: 4 bytes a pair, 0.8 MB at most.
  static constexpr int32_t kSmall = 640;
  static size_t SlotOf(int32_t row, int32_t column) { return static_cast<size_t>(row) * (row + 1) / 2 + column; }
  int64_t Search(int32_t row, int32_t column) const;
  void SetBlocks(int32_t columns, const std::vector<std::pair<int32_t, int32_t>>& pairs);

  int32_t nodes_ = 0;
  int32_t first_column_ = 0;  // of column_start_; not 0 in a part
  std::vector<int32_t> column_start_;
  std::vector<int32_t> rows_;
  std::vector<double> values_;
  std::vector<int32_t> slots_;  // by SlotOf; empty: not a small one
  std::vector<std::pair<int32_t, int32_t>> missing_;
};

}  // namespace eipc

#endif  // EIPC_SIM_LINALG_BLOCK_MATRIX_H_
