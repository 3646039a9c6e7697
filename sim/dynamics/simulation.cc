#include "sim/dynamics/simulation.h"

#include <algorithm>
#include <chrono>

#include "sim/base/status_macros.h"
#include "sim/dynamics/drives.h"
#include "sim/dynamics/state_audit.h"
#include "sim/dynamics/state_codec.h"
#include "sim/dynamics/step.h"

namespace eipc {

struct Simulation::Impl {
  std::shared_ptr<const Model> model;
  Stepper stepper;

  Impl(std::shared_ptr<const Model> m, int threads) : model(std::move(m)), stepper(model.get(), threads) {}
};

Simulation::Simulation(std::shared_ptr<const Model> model, int threads)
    : impl_(std::make_unique<Impl>(std::move(model), std::max(1, threads))) {}
Simulation::~Simulation() = default;

const ContactForces& Simulation::contact_forces() const { return impl_->stepper.contacts(); }
const Model& Simulation::model() const { return *impl_->model; }
void Simulation::SurfacePositions(const State& state, std::vector<Vec3>* x) const {
  impl_->stepper.problem().map().Positions(state.q, x);
}

absl::Status Simulation::Step(const State& state, const StepInput& input, const StepBudget& budget, State* next,
                              StepReport* report) {
  const Model& model = *impl_->model;
  Stepper& stepper = impl_->stepper;
  EIPC_RETURN_IF_ERROR(CheckStepInput(model, input));
  const auto start = std::chrono::steady_clock::now();
  stepper.seconds()->fill(0);
  *report = {};
  report->linear_solver = model.solver.linear_solver;
  {
    const Interrupt::Watch watch(stepper.interrupt(), [&budget] { return budget.Poll(); });
    EIPC_RETURN_IF_ERROR(stepper.Take(state, input, next, report));
  }
  if (!IsFinite(*next)) {
    return absl::OutOfRangeError(
        "the step leaves the range of numbers (a position, velocity or force is not finite) and was not taken; make forces, "
        "speeds, targets or the step smaller");
  }
  report->wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  double attributed = 0;
  for (double seconds : *stepper.seconds()) attributed += seconds;
  report->phase_s = *stepper.seconds();
  report->phase_s[static_cast<int>(Phase::kOther)] += std::max(0.0, report->wall_s - attributed);
  // What the audit finds is data: the step has been taken.
  const int audit_every = model.solver.audit_every_n_steps;
  if (audit_every > 0 && next->step % audit_every == 0) {
    std::vector<Vec3> x;
    SurfacePositions(*next, &x);
    report->audit = AuditState(model, *next, x);
  }
  return absl::OkStatus();
}

}  // namespace eipc
