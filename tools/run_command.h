#ifndef EIPC_TOOLS_RUN_COMMAND_H_
#define EIPC_TOOLS_RUN_COMMAND_H_

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "sim/dynamics/world.h"

namespace CLI {
class App;
}

namespace eipc {

// `eipc run SCENE --dt S ...`: runs a scene on this machine, no network, along its own trajectories, and writes a report.
void AddRunCommand(CLI::App& app, int* exit_status);

// A run of a compiled scene along its own trajectories.
struct LocalRun {
  std::string scene;  // for the report
  double dt_s = 0;
  double duration_s = 0;
  int threads = 1;
  std::string trajectory;   // empty: none is written
  double limit_s = 0;       // wall clock, DEADLINE_EXCEEDED beyond it; 0: none
  std::string steps;        // a line a step here (step_log.h); empty: none
  double step_limit_s = 0;  // wall clock for each step, whose solves then end with what they have; 0: no limit
};

// The report of docs/reference/eipc_run.md. `after_step` may be null. A failed audit is reported on standard error and in
// *audit_passed.
absl::StatusOr<nlohmann::ordered_json> RunModel(const std::shared_ptr<const Model>& model, const LocalRun& run,
                                                const std::function<void(const World&)>& after_step, bool* audit_passed);

}  // namespace eipc

#endif  // EIPC_TOOLS_RUN_COMMAND_H_
