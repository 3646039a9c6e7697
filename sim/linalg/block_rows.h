#ifndef EIPC_SIM_LINALG_BLOCK_ROWS_H_
#define EIPC_SIM_LINALG_BLOCK_ROWS_H_

#include <cstdint>
#include <vector>

#include "sim/base/parallel.h"
#include "sim/linalg/block_matrix.h"

namespace eipc {

// The free part of a BlockMatrix, P H P + (I - P) with P the projection onto nodes that are not fixed, for many products: both
// triangles by rows. A row of the product is one sum in the order of its columns, so threads may share the rows without changing a
// bit.
class BlockRows {
 public:
  // `fixed` by node; `pool` may be null. The pattern is laid out anew only where it changed.
  void Load(const BlockMatrix& h, const std::vector<uint8_t>& fixed, ThreadPool* pool = nullptr);
  // y = (P H P + I - P) x; `pool` may be null.
  void Multiply(const VecX& x, VecX* y, ThreadPool* pool) const;

  int32_t nodes() const { return static_cast<int32_t>(row_start_.size()) - 1; }

 private:
  // A block's columns are padded to four entries, the width of a vector register.
  using Padded = Eigen::Matrix<double, 4, 3>;
  struct Source {
    int64_t slot = 0;  // in the values of the BlockMatrix
    int32_t column = 0;
    bool transposed = false;
  };
  void LayOut(const BlockMatrix& h);
  void LoadRows(int64_t begin, int64_t end, const BlockMatrix& h, const std::vector<uint8_t>& fixed);
  void MultiplyRows(int64_t begin, int64_t end, const VecX& x, VecX* y) const;

  std::vector<int32_t> laid_out_columns_, laid_out_rows_;  // the pattern
  std::vector<int64_t> row_start_;
  std::vector<Source> sources_;
  std::vector<double> values_;  // 12 a block
};

}  // namespace eipc

#endif  // EIPC_SIM_LINALG_BLOCK_ROWS_H_
