#ifndef EIPC_SIM_LINALG_SOLVE_COST_H_
#define EIPC_SIM_LINALG_SOLVE_COST_H_

#include <cstdint>

#include "sim/linalg/block_matrix.h"

namespace eipc {

// What solving one system takes, estimated from the pattern of its matrix.
struct SolveCost {
  int64_t unknowns = 0;
  double factor_operations = 0;     // multiplications of a Cholesky factorization from nothing
  int64_t factor_bytes = 0;         // of its factor
  double krylov_iterations = 0;     // that conjugate gradients with an incomplete factor are expected to need
  double iteration_operations = 0;  // of one of these: multiplications of the factorization that take as long

  double krylov_operations() const { return krylov_iterations * iteration_operations; }
};

// What the pattern couples most: nodes of bodies, or of sheets.
enum class SystemKind { kSolids, kSheets };

// Counts the factor, with the ordering that SpdSolver takes, and estimates the iterations from the largest number of edges between
// two nodes of one connected part of the pattern: an incomplete factor passes a change on to neighbours, so smooth errors take
// iterations in proportion to it.
// Contact between the layers of sheets fills the factor, and that is counted for them.
SolveCost EstimateSolveCost(const BlockMatrix& pattern, SystemKind kind = SystemKind::kSolids);

}  // namespace eipc

#endif  // EIPC_SIM_LINALG_SOLVE_COST_H_
