#include "sim/dynamics/friction_modes.h"

namespace eipc {
namespace {

constexpr FrictionModeRow kRows[] = {
    {.mode = FrictionMode::kLagged,
     .name = "LAGGED",
     .summary = "contact forces and sliding planes of the last solution, `friction_lag_iterations` times",
     .implicit = false,
     .until_converged = false,
     .default_lag_iterations = 1},
    {.mode = FrictionMode::kLaggedUntilConverged,
     .name = "LAGGED_UNTIL_CONVERGED",
     .summary = "the same again and again, until no node moves faster than the Newton tolerance",
     .implicit = false,
     .until_converged = true,
     .default_lag_iterations = 50},
    {.mode = FrictionMode::kImplicit,
     .name = "IMPLICIT",
     .summary = "at the end of the step, with contact and elasticity, by root finding; lagged where no root is found",
     .implicit = true,
     .until_converged = true,
     .default_lag_iterations = 1},
};

}  // namespace

absl::Span<const FrictionModeRow> FrictionModes() { return kRows; }

const FrictionModeRow& RowOf(FrictionMode mode) { return kRows[static_cast<size_t>(mode)]; }

const FrictionModeRow& FrictionModeNamed(absl::string_view name) {
  for (const FrictionModeRow& row : kRows) {
    if (row.name == name) return row;
  }
  return kRows[0];
}

}  // namespace eipc
