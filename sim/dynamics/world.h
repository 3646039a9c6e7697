#ifndef EIPC_SIM_DYNAMICS_WORLD_H_
#define EIPC_SIM_DYNAMICS_WORLD_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/contact/contact_forces.h"
#include "sim/dynamics/model.h"
#include "sim/dynamics/simulation.h"
#include "sim/dynamics/state.h"
#include "sim/dynamics/step_input.h"
#include "sim/dynamics/step_report.h"
#include "sim/solver/step_budget.h"

namespace eipc {

// One running copy: a model, its state and the machinery to advance it.
class World {
 public:
  // `model`: of the scene.
  explicit World(std::shared_ptr<const Model> model, int threads = 1);

  // The scene's, with the materials of the state. Valid until Reset, Restore.
  const Model& model() const { return simulation_->model(); }
  const State& state() const { return state_; }
  // The report of the last step and those that it continued.
  const StepReport& report() const { return report_; }
  // The contacts of the last step; empty after Reset or Restore.
  const ContactForces& contact_forces() const { return contacts_; }

  // All or nothing: on error the world stays at its last whole step. `continues`: the step belongs to a request of several, and
  // its report is added to that of those before it.
  absl::Status Step(const StepInput& input, const StepBudget& budget, bool continues = false);
  void Reset();
  // INVALID_ARGUMENT when the sizes do not fit the model.
  absl::Status Restore(const State& state);

  // Restore in two parts, for callers that must know that it will succeed before they say so elsewhere: everything that takes
  // memory or may be refused, which leaves the world as it is, and what cannot fail. A start is of this world; between the two
  // parts the world may be stepped, but its materials stay.
  struct Start {
    State state;
    std::unique_ptr<Simulation> simulation;  // null: the world's own has the state's materials
  };
  absl::StatusOr<Start> Prepare(State state) const;
  void Begin(Start start) noexcept;
  void SurfacePositions(std::vector<Vec3>* x) const { simulation_->SurfacePositions(state_, x); }

 private:
  std::shared_ptr<const Model> scene_model_;
  int threads_;
  std::unique_ptr<Simulation> simulation_;  // of a model with the materials of state_
  State state_;
  State next_;
  StepReport report_;
  ContactForces contacts_;
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_WORLD_H_
