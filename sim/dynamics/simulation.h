#ifndef EIPC_SIM_DYNAMICS_SIMULATION_H_
#define EIPC_SIM_DYNAMICS_SIMULATION_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "sim/base/parallel.h"
#include "sim/contact/contact_forces.h"
#include "sim/dynamics/model.h"
#include "sim/dynamics/state.h"
#include "sim/dynamics/step_report.h"
#include "sim/solver/step_budget.h"

namespace eipc {

// A pose that a boundary set's frame should have at the end of the step.
struct Target {
  int32_t boundary_set = 0;  // index in Model::boundary_sets
  Pose pose;
};

// What the drive of a slider should do at the end of the step, and from then on; `rate`: how fast a commanded position moves.
struct DriveCommand {
  int32_t slider = 0;  // index in Model::sliders
  DriveMode mode = DriveMode::kPosition;
  double value = 0;
  double rate = 0;
};

struct StepInput {
  double dt_s = 0;
  std::vector<Target> targets;
  std::vector<DriveCommand> drives = {};
};

// Terms, solver and every reused buffer of one running copy. Holds nothing that is carried between steps: that is State.
class Simulation {
 public:
  Simulation(std::shared_ptr<const Model> model, int threads);
  ~Simulation();

  // Advances `state` by one step into `next` (whole or not at all: on error `next` is unspecified and `state` untouched).
  // Errors: INVALID_ARGUMENT for a bad input, CANCELLED / DEADLINE_EXCEEDED from the budget. A physics outcome is data in the
  // report.
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

// One running copy: a model, its state and the machinery to advance it.
class World {
 public:
  explicit World(std::shared_ptr<const Model> model, int threads = 1);

  const Model& model() const { return *model_; }
  const State& state() const { return state_; }
  // Of the last step and those that it continued.
  const StepReport& report() const { return report_; }
  // Of the last step; empty after Reset or Restore.
  const ContactForces& contact_forces() const { return contacts_; }

  // All or nothing: on error the world stays at its last whole step. `continues`: the step belongs to a request of several, and
  // its report is added to that of those before it.
  absl::Status Step(const StepInput& input, const StepBudget& budget, bool continues = false);
  void Reset();
  // INVALID_ARGUMENT when the sizes do not fit the model.
  absl::Status Restore(const State& state);
  void SurfacePositions(std::vector<Vec3>* x) const { simulation_.SurfacePositions(state_, x); }

 private:
  std::shared_ptr<const Model> model_;
  Simulation simulation_;
  State state_;
  State next_;
  StepReport report_;
  ContactForces contacts_;
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_SIMULATION_H_
