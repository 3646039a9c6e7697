#include "sim/dynamics/world.h"

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

void World::Put(const State& state) {
  if (state.materials != state_.materials) {
    const bool of_scene = state.materials.empty();
    simulation_ = std::make_unique<Simulation>(of_scene ? scene_model_ : WithMaterials(*scene_model_, state.materials), threads_);
  }
  state_ = state;
  report_ = {};
  Forget(&contacts_);
}

void World::Reset() { Put(InitialState(*scene_model_)); }

absl::Status World::Restore(const State& state) {
  if (!StateFits(state, *scene_model_)) {
    return absl::InvalidArgumentError("state: its sizes do not fit this scene");
  }
  Put(state);
  return absl::OkStatus();
}

}  // namespace eipc
