#ifndef EIPC_SIM_LINALG_INCOMPLETE_CHOLESKY_H_
#define EIPC_SIM_LINALG_INCOMPLETE_CHOLESKY_H_

#include <cstdint>
#include <vector>

#include "sim/base/parallel.h"
#include "sim/linalg/dissection.h"
#include "sim/linalg/preconditioner.h"

namespace eipc {

// IC(0) over 3x3 blocks: L L^T agrees with A on the pattern of A, what falls outside is dropped (Meijerink & van der Vorst 1977;
// Saad, "Iterative Methods for Sparse Linear Systems", 10.3). Where a pivot is lost to what was dropped, A + shift diag(A) is
// factored instead, with a shift that grows until it works (Manteuffel 1980).
//
// The nodes of large matrices are eliminated in the order of a dissection, and threads share the parts of each of its levels. L is
// kept by rows: a row is found from rows before it, and those of a part from this part and what it separates. L y = r is solved by
// rows too; L^T z = y by their columns, from the last row on, each of which changes entries of its part and of what that separates.
// So whatever threads there are, every number is found in the same order.
class IncompleteCholesky : public Preconditioner {
 public:
  // Parts of fewer than twice this number of nodes are not cut.
  static constexpr int32_t kLeastPart = 750;

  // `pool` may be null, and outlives this.
  explicit IncompleteCholesky(ThreadPool* pool = nullptr, int32_t least_part = kLeastPart) : pool_(pool), least_part_(least_part) {}

  bool Prepare(const BlockMatrix& h, const std::vector<uint8_t>& fixed) override;
  void Apply(const VecX& r, VecX* z) const override;

  // Of diag(A), that the last Prepare needed; 0: none.
  double shift() const { return shift_; }
  const Dissection& dissection() const { return dissection_; }
  // Calls visit(node, other, block) for the blocks of L, by rows in the order of the dissection: `block` (3x3) is the one of the
  // row of `node` and the column of `other`.
  template <typename Visit>
  void ForEachBlock(Visit visit) const {
    for (size_t i = 0; i + 1 < row_start_.size(); ++i) {
      const int32_t node = dissection_.order()[i];
      for (int32_t k = row_start_[i]; k < row_start_[i + 1]; ++k) {
        const Eigen::Map<const Mat3> block(values_.data() + 9 * static_cast<int64_t>(k));
        visit(node, sources_[k].node, sources_[k].node == node ? Mat3(block.inverse()) : Mat3(block));
      }
    }
  }

 private:
  struct Source {
    int32_t node;  // of the column
    int32_t slot;  // in the BlockMatrix
    bool transposed;
  };
  // L_ij -= L_ik L_jk^T.
  struct Update {
    int32_t left, right;  // slots
  };
  void LayOut(const BlockMatrix& h);
  void LayOutRows(const BlockMatrix& h);
  void FindUpdates();
  void Load(const BlockMatrix& h, const std::vector<uint8_t>& fixed);
  void LoadRows(const Dissection::Part& part, const BlockMatrix& h, const std::vector<uint8_t>& fixed);
  bool Factor();
  bool FactorRows(const Dissection::Part& part);
  void SolveRows(const Dissection::Part& part, VecX* z) const;
  void SolveColumns(const Dissection::Part& part, VecX* z) const;
  // Calls body(part) for the parts of a level.
  template <typename Body>
  void ForEachPart(const std::vector<Dissection::Part>& level, Body&& body) const;

  ThreadPool* pool_;
  int32_t least_part_;
  std::vector<int32_t> pattern_columns_, pattern_rows_;  // of the BlockMatrix that was laid out
  Dissection dissection_;
  std::vector<int32_t> place_;      // in the order, by node
  std::vector<int32_t> row_start_;  // by place in the order; the diagonal is the last of a row
  std::vector<Source> sources_;
  std::vector<Update> updates_;  // by the block that they update
  std::vector<int64_t> update_start_;
  std::vector<double> values_;  // L, 9 a block, column-major; its diagonal blocks inverted
  VecX diagonal_;               // of A + shift diag(A), by node
  double shift_ = 0;
};

}  // namespace eipc

#endif  // EIPC_SIM_LINALG_INCOMPLETE_CHOLESKY_H_
