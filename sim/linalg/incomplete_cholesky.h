#ifndef EIPC_SIM_LINALG_INCOMPLETE_CHOLESKY_H_
#define EIPC_SIM_LINALG_INCOMPLETE_CHOLESKY_H_

#include <vector>

#include "sim/linalg/preconditioner.h"

namespace eipc {

// IC(0) over 3x3 blocks: L L^T agrees with A on the pattern of A, what falls outside is dropped (Meijerink & van der Vorst 1977;
// Saad, "Iterative Methods for Sparse Linear Systems", 10.3). Where a pivot is lost to what was dropped, A + shift diag(A) is
// factored instead, with a shift that grows until it works (Manteuffel 1980).
class IncompleteCholesky : public Preconditioner {
 public:
  bool Prepare(const BlockMatrix& h, const std::vector<uint8_t>& fixed) override;
  void Apply(const VecX& r, VecX* z) const override;

  // Of diag(A), that the last Prepare needed; 0: none.
  double shift() const { return shift_; }
  // Blocks of L in the pattern of the matrix (3x3 column-major, 9 a block); for tests.
  Mat3 Block(int64_t slot) const;

 private:
  // A block (i, j) below column k that its rows i and j update: L_ij -= L_ik L_jk^T.
  struct Update {
    int32_t target, left, right;  // slots
  };
  void LayOut(const BlockMatrix& h);
  void Load(const BlockMatrix& h, const std::vector<uint8_t>& fixed);
  bool Factor();

  std::vector<int32_t> column_start_, rows_;  // the pattern
  std::vector<Update> updates_;               // by column
  std::vector<int64_t> update_start_;
  std::vector<double> values_;  // L; its diagonal blocks inverted
  VecX diagonal_;               // of A + shift diag(A)
  double shift_ = 0;
};

}  // namespace eipc

#endif  // EIPC_SIM_LINALG_INCOMPLETE_CHOLESKY_H_
