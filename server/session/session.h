#ifndef EIPC_SERVER_SESSION_SESSION_H_
#define EIPC_SERVER_SESSION_SESSION_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/session/fifo_gate.h"
#include "server/session/retry_memory.h"
#include "server/session/scene_registry.h"
#include "sim/dynamics/simulation.h"
#include "sim/solver/step_budget.h"

namespace eipc {

struct StepCommand {
  StepInput input;
  // Steps of input.dt_s to take, >= 1.
  int substeps = 1;
  // Refuse unless the session is at this step.
  std::optional<int64_t> expected_step;
};

// A running copy of a scene, used by one call at a time (through a lease).
//
// Invariant: the world is always at a whole step; a request that fails leaves the steps that were finished before it failed.
class Session {
 public:
  Session(SceneRegistry::Pin scene, int threads);

  const std::string& scene_name() const { return scene_->name; }
  const World& world() const { return world_; }

  // Takes command.substeps steps, each in a solve slot of its own so that long requests share the processor. ABORTED when
  // expected_step differs; the errors of World::Step and of the budget, saying which step the session is at.
  absl::Status Step(const StepCommand& command, const StepBudget& budget, SolveSlots* slots);

  // Back to the scene's start; earlier requests are forgotten.
  void Reset();

  // The last finished request and its response, for retries.
  RetryMemory& retries() { return retries_; }

 private:
  absl::Status StepOnce(const StepCommand& command, const StepBudget& budget, SolveSlots* slots);

  SceneRegistry::Pin scene_;
  World world_;
  RetryMemory retries_;
};

}  // namespace eipc

#endif  // EIPC_SERVER_SESSION_SESSION_H_
