#include "sim/solver/linear_solvers.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/ascii.h"

namespace eipc {
namespace {

constexpr int64_t kLargestFactor = int64_t{1} << 30;  // bytes; contact fills it further
// Times what the factor would take, conjugate gradients may try in vain once in a step.
constexpr double kFactorsLost = 2;

constexpr LinearSolverRow kRows[] = {
    {LinearSolverKind::kAuto, "AUTO", "CHOLESKY or PCG_IC0, by the structure of the scene's meshes", std::nullopt},
    {LinearSolverKind::kCholesky, "CHOLESKY", "sparse factorization", std::nullopt},
    {LinearSolverKind::kPcgDiagonal, "PCG_DIAGONAL", "conjugate gradients, diagonal preconditioner", PreconditionerKind::kDiagonal},
    {LinearSolverKind::kPcgBlock, "PCG_BLOCK", "conjugate gradients, 3x3 blocks of the diagonal", PreconditionerKind::kBlock},
    {LinearSolverKind::kPcgIc0, "PCG_IC0", "conjugate gradients, incomplete Cholesky factor without fill-in",
     PreconditionerKind::kIncompleteCholesky},
};

}  // namespace

absl::Span<const LinearSolverRow> LinearSolvers() { return kRows; }

const LinearSolverRow& RowOf(LinearSolverKind kind) { return kRows[static_cast<size_t>(kind)]; }

const LinearSolverRow& LinearSolverNamed(absl::string_view name) {
  for (const LinearSolverRow& row : kRows) {
    if (row.name == name) return row;
  }
  return kRows[0];
}

std::string LinearSolverName(LinearSolverKind kind) { return absl::AsciiStrToLower(RowOf(kind).name); }

void ChooseLinearSolver(const SolveCost& cost, SolverSettings* settings) {
  if (settings->linear_solver != LinearSolverKind::kAuto) return;
  const bool fits = cost.factor_bytes <= kLargestFactor;
  const bool factor = fits && cost.factor_operations <= cost.krylov_operations();
  settings->linear_solver = factor || cost.unknowns <= kAlwaysFactored ? LinearSolverKind::kCholesky : LinearSolverKind::kPcgIc0;
  if (!fits || !(cost.iteration_operations > 0)) return;
  const double most = std::ceil(kFactorsLost * cost.factor_operations / cost.iteration_operations);
  settings->most_krylov_iterations = static_cast<int>(std::min<double>(most, settings->most_krylov_iterations));
}

}  // namespace eipc
