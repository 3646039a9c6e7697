#ifndef EIPC_TOOLS_CHOOSE_BUDGET_H_
#define EIPC_TOOLS_CHOOSE_BUDGET_H_

#include <nlohmann/json.hpp>

#include "absl/status/statusor.h"
#include "tools/prepare_mesh.h"

namespace eipc {

struct ReportedMesh {
  PreparedMesh prepared;
  nlohmann::ordered_json report;
};

// The coarsest of a series of cages (16 to 1,000 vertices) whose forces are off by at most `error` in the median of the standard
// loads, and by at most twice that in each. The report's `error` gains what was asked and the budgets that were tried.
// RESOURCE_EXHAUSTED with the figures of the finest cage where none will do.
absl::StatusOr<ReportedMesh> ChooseBudget(PrepareOptions options, double error);

}  // namespace eipc

#endif  // EIPC_TOOLS_CHOOSE_BUDGET_H_
