#include "sim/dynamics/world.h"

#include <utility>

#include "sim/base/status_macros.h"

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
    : model_(model), simulation_(std::move(model), threads), state_(InitialState(*model_)) {}

absl::Status World::Step(const StepInput& input, const StepBudget& budget, bool continues) {
  StepReport report;
  EIPC_RETURN_IF_ERROR(simulation_.Step(state_, input, budget, &next_, &report));
  std::swap(state_, next_);
  if (continues) {
    report_.Add(report);
  } else {
    report_ = report;
  }
  contacts_ = simulation_.contact_forces();
  return absl::OkStatus();
}

void World::Reset() {
  state_ = InitialState(*model_);
  report_ = {};
  Forget(&contacts_);
}

absl::Status World::Restore(const State& state) {
  if (!StateFits(state, *model_)) {
    return absl::InvalidArgumentError("state: its sizes do not fit this scene");
  }
  state_ = state;
  report_ = {};
  Forget(&contacts_);
  return absl::OkStatus();
}

}  // namespace eipc
