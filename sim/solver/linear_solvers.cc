#include "sim/solver/linear_solvers.h"

#include "absl/strings/ascii.h"

namespace eipc {
namespace {

constexpr int64_t kLargestFactor = 5000;  // table in docs/results/solvers.md

constexpr LinearSolverRow kRows[] = {
    {LinearSolverKind::kAuto, "AUTO", "CHOLESKY up to 5000 unknowns, PCG_IC0 beyond", std::nullopt},
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

LinearSolverKind ChooseLinearSolver(LinearSolverKind asked, int64_t unknowns) {
  if (asked != LinearSolverKind::kAuto) return asked;
  return unknowns <= kLargestFactor ? LinearSolverKind::kCholesky : LinearSolverKind::kPcgIc0;
}

}  // namespace eipc
