#include "sim/dynamics/world.h"

#include <type_traits>
#include <utility>

#include "sim/base/status_macros.h"
#include "sim/dynamics/materials.h"

namespace eipc {

namespace {

// Keeps the room that the forces have.
void Forget(ContactForces* forces) {
  std::vector<ContactForce> stencils = std::move(forces->stencils);
  stencils.clear();
  *forces = {};
  forces->stencils = std::move(stencils);
}

absl::Status DoesNotFit() { return absl::InvalidArgumentError("state: its sizes do not fit this scene"); }

// Of the scene's model with the materials of a state.
std::unique_ptr<Simulation> SimulationOf(const State& state, const std::shared_ptr<const Model>& scene, int threads) {
  return std::make_unique<Simulation>(state.materials.empty() ? scene : WithMaterials(*scene, state.materials), threads);
}

}  // namespace

World::World(std::shared_ptr<const Model> model, int threads)
    : scene_model_(std::move(model)),
      threads_(threads),
      simulation_(std::make_unique<Simulation>(scene_model_, threads)),
      state_(InitialState(*scene_model_)) {}

absl::Status World::Step(const StepInput& input, const StepBudget& budget, bool continues) {
  StepReport report;
  EIPC_RETURN_IF_ERROR(simulation_->Step(state_, input, budget, &next_, &report));
  std::swap(state_, next_);
  if (continues) {
    report_.Add(report);
  } else {
    report_ = report;
  }
  contacts_ = simulation_->contact_forces();
  return absl::OkStatus();
}

absl::StatusOr<World::Start> World::Prepare(State state) const {
  if (!StateFits(state, *scene_model_)) return DoesNotFit();
  Start start;
  if (state.materials != state_.materials) start.simulation = SimulationOf(state, scene_model_, threads_);
  start.state = std::move(state);
  return start;
}

void World::Begin(Start start) noexcept {
  static_assert(std::is_nothrow_move_assignable_v<State> && std::is_nothrow_default_constructible_v<StepReport> &&
                std::is_nothrow_move_assignable_v<StepReport> && std::is_nothrow_default_constructible_v<ContactForces> &&
                std::is_nothrow_move_assignable_v<ContactForces>);
  if (start.simulation != nullptr) simulation_ = std::move(start.simulation);
  state_ = std::move(start.state);
  report_ = {};
  Forget(&contacts_);
}

absl::Status World::Restore(const State& state) {
  if (!StateFits(state, *scene_model_)) return DoesNotFit();
  if (state.materials != state_.materials) simulation_ = SimulationOf(state, scene_model_, threads_);
  state_ = state;  // into the memory that is there
  report_ = {};
  Forget(&contacts_);
  return absl::OkStatus();
}

void World::Reset() { Restore(InitialState(*scene_model_)).IgnoreError(); }  // it fits

}  // namespace eipc
