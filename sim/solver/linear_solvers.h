#ifndef EIPC_SIM_SOLVER_LINEAR_SOLVERS_H_
#define EIPC_SIM_SOLVER_LINEAR_SOLVERS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "sim/linalg/preconditioner.h"
#include "sim/linalg/solve_cost.h"
#include "sim/solver/solver_settings.h"

namespace eipc {

// How Newton's linear systems may be solved, one row each.
struct LinearSolverRow {
  LinearSolverKind kind;
  absl::string_view name;  // of its enumerator in the scene message
  absl::string_view summary;
  // Of conjugate gradients; nothing: by factorization.
  std::optional<PreconditionerKind> preconditioner;
};

// In the order of LinearSolverKind.
absl::Span<const LinearSolverRow> LinearSolvers();
const LinearSolverRow& RowOf(LinearSolverKind kind);
// The first row where no other has this name.
const LinearSolverRow& LinearSolverNamed(absl::string_view name);
// In reports: "pcg_ic0".
std::string LinearSolverName(LinearSolverKind kind);
// Up to this number of unknowns kAuto stands for kCholesky whatever the structure.
inline constexpr int64_t kAlwaysFactored = 1000;
// What kAuto stands for in a scene whose systems without contact have this cost, and after how many iterations a system is left to
// the factor: those that take twice as long. Other kinds stay as they are.
void ChooseLinearSolver(const SolveCost& cost, SolverSettings* settings);

}  // namespace eipc

#endif  // EIPC_SIM_SOLVER_LINEAR_SOLVERS_H_
