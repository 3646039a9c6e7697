#include "sim/solver/solver_settings.h"

namespace eipc {

const char* LinearSolverName(LinearSolverKind kind) {
  switch (kind) {
    case LinearSolverKind::kAuto:
      return "auto";
    case LinearSolverKind::kCholesky:
      return "cholesky";
    case LinearSolverKind::kPcgDiagonal:
      return "pcg_diagonal";
    case LinearSolverKind::kPcgBlock:
      return "pcg_block";
    case LinearSolverKind::kPcgIc0:
      return "pcg_ic0";
  }
  return "unknown";
}

LinearSolverKind ChooseLinearSolver(LinearSolverKind asked, int64_t unknowns) {
  constexpr int64_t kLargestFactor = 5000;  // table in docs/results/solvers.md
  if (asked != LinearSolverKind::kAuto) return asked;
  return unknowns <= kLargestFactor ? LinearSolverKind::kCholesky : LinearSolverKind::kPcgIc0;
}

}  // namespace eipc
