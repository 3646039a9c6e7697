#ifndef EIPC_SIM_LINALG_SPD_SOLVER_H_
#define EIPC_SIM_LINALG_SPD_SOLVER_H_

#include <memory>
#include <vector>

#include "sim/linalg/block_matrix.h"

namespace eipc {

// Sparse Cholesky of the free part of a BlockMatrix. Nodes marked fixed keep an identity row, so one symbolic factorization serves
// whatever set of nodes is prescribed. Ordering: approximate minimum degree on the graph of nodes, which has nine times fewer
// entries than the scalar matrix. Deterministic: one thread, and the ordering is a function of the pattern alone.
class SpdSolver {
 public:
  SpdSolver();
  ~SpdSolver();
  SpdSolver(const SpdSolver&) = delete;
  SpdSolver& operator=(const SpdSolver&) = delete;

  // Symbolic factorization; call after BlockMatrix::SetPattern.
  void Analyze(const BlockMatrix& h);
  // Numeric factorization of H with fixed nodes masked. False when not positive definite.
  bool Factorize(const BlockMatrix& h, const std::vector<uint8_t>& fixed);
  // Solves in place; entries of fixed nodes are returned as given.
  void Solve(VecX* rhs);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace eipc

#endif  // EIPC_SIM_LINALG_SPD_SOLVER_H_
