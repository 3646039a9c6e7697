#ifndef EIPC_SIM_LINALG_LU_SOLVER_H_
#define EIPC_SIM_LINALG_LU_SOLVER_H_

#include <memory>
#include <vector>

#include "sim/linalg/block_matrix.h"

namespace eipc {

// One 3x3 block of a general matrix, by nodes.
struct NodeBlock {
  int32_t row = 0;
  int32_t column = 0;
  Mat3 value;
};

// Sparse LU of H + N over the free nodes, H symmetric and N a list of blocks of any pattern (repeated ones add up). Partial
// pivoting, column approximate minimum degree.
class LuSolver {
 public:
  LuSolver();
  ~LuSolver();

  // False when singular.
  bool Factorize(const BlockMatrix& h, const std::vector<NodeBlock>& extra, const std::vector<uint8_t>& fixed);
  // Solves in place; entries of fixed nodes are returned as given.
  void Solve(VecX* rhs) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace eipc

#endif  // EIPC_SIM_LINALG_LU_SOLVER_H_
