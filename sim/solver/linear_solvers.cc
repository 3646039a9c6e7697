#include "sim/solver/linear_solvers.h"

#include "absl/strings/ascii.h"

namespace eipc {
namespace {

constexpr int64_t kLargestFactor = int64_t{1} << 30;  // bytes; contact fills it further

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

LinearSolverKind ChooseLinearSolver(LinearSolverKind asked, const SolveCost& cost) {
  if (asked != LinearSolverKind::kAuto) return asked;
  if (cost.unknowns <= kAlwaysFactored) return LinearSolverKind::kCholesky;
  const bool factor = cost.factor_bytes <= kLargestFactor && cost.factor_operations <= cost.krylov_operations();
  return factor ? LinearSolverKind::kCholesky : LinearSolverKind::kPcgIc0;
}

}  // namespace eipc
