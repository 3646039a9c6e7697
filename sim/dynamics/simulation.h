#ifndef EIPC_SIM_DYNAMICS_SIMULATION_H_
#define EIPC_SIM_DYNAMICS_SIMULATION_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "sim/contact/contact_forces.h"
#include "sim/dynamics/model.h"
#include "sim/dynamics/state.h"
#include "sim/dynamics/step_input.h"
#include "sim/dynamics/step_report.h"
#include "sim/solver/step_budget.h"

namespace eipc {

// Terms, solver and every reused buffer of one running copy. Holds nothing that is carried between steps: that is State.
class Simulation {
 public:
  Simulation(std::shared_ptr<const Model> model, int threads);
  ~Simulation();

  // Advances `state` by one step into `next` (whole or not at all: on error `next` is unspecified and `state` untouched).
  // Errors: INVALID_ARGUMENT for a bad input, OUT_OF_RANGE for a state that is not finite, CANCELLED / DEADLINE_EXCEEDED from the
  // budget. A physics outcome is data in the report.
  absl::Status Step(const State& state, const StepInput& input, const StepBudget& budget, State* next, StepReport* report);

  // Contact stencils and forces of a state as seen by the last successful Step (end of step).
  const ContactForces& contact_forces() const;

  // Surface positions x = J q of any state; size = surface vertices.
  void SurfacePositions(const State& state, std::vector<Vec3>* x) const;

  const Model& model() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_SIMULATION_H_
