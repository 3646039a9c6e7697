#include "sim/dynamics/simulation.h"

#include <algorithm>
#include <chrono>

#include "sim/base/status_macros.h"
#include "sim/dynamics/barrier_stiffness.h"
#include "sim/dynamics/drives.h"
#include "sim/dynamics/state_audit.h"
#include "sim/dynamics/stepper.h"
#include "sim/dynamics/time_integrator.h"

namespace eipc {

struct Simulation::Impl {
  std::shared_ptr<const Model> model;
  Stepper stepper;
  std::unique_ptr<TimeIntegrator> integrator;
  std::unique_ptr<TimeIntegrator> backward_euler;
  std::vector<State::Drive> drives;
  State now;  // between the parts of a step

  Impl(std::shared_ptr<const Model> m, int threads)
      : model(std::move(m)),
        stepper(model.get(), threads),
        integrator(MakeIntegrator(model->dynamics.integrator)),
        backward_euler(MakeIntegrator(IntegratorKind::kBackwardEuler)) {}

  absl::Status TakeParts(const State& state, const StepInput& input, State* next, StepReport* report);
};

Simulation::Simulation(std::shared_ptr<const Model> model, int threads)
    : impl_(std::make_unique<Impl>(std::move(model), std::max(1, threads))) {}
Simulation::~Simulation() = default;

const ContactForces& Simulation::contact_forces() const { return impl_->stepper.contacts(); }
const Model& Simulation::model() const { return *impl_->model; }
void Simulation::SurfacePositions(const State& state, std::vector<Vec3>* x) const {
  impl_->stepper.problem().map().Positions(state.q, x);
}

// The step in parts of dt / 2^halvings: finer where a part is refused, coarser again where its place in the step allows it and the
// effort did (step-size control by Newton iterations). Parts are counted in units of the finest size, so the grid of steps is kept.
absl::Status Simulation::Impl::TakeParts(const State& state, const StepInput& input, State* next, StepReport* report) {
  const DynamicsSettings& settings = model->dynamics;
  const int64_t whole = int64_t{1} << settings.max_step_halvings;
  int halvings =
      state.memory.empty() ? 0 : static_cast<int>(std::min<int64_t>(state.memory[0].halvings, settings.max_step_halvings));
  int64_t done = 0;
  report->substeps = 0;
  bool last_resort = false;  // blocked at the finest size: backward Euler's end point is its solution, nothing can block it
  const State* from = &state;
  while (done < whole) {
    const int64_t size = whole >> halvings;
    const double part = static_cast<double>(done + size) / static_cast<double>(whole);
    drives = state.drives;
    CommandDrives(*model, input, state.time_s + part * input.dt_s, part, &drives);
    const double dt_s = input.dt_s * static_cast<double>(size) / static_cast<double>(whole);
    const int before = report->newton_iterations;
    const StepOutcome outcome_before = report->outcome;
    const StepLimit limit_before = report->limited_by;
    const bool finest = halvings == settings.max_step_halvings;
    EIPC_ASSIGN_OR_RETURN(const Stepper::Verdict verdict,
                          stepper.Take(last_resort ? *backward_euler : *integrator, *from, dt_s, drives,
                                       finest ? 0 : settings.substep_newton_iterations, next, report));
    if (verdict != Stepper::Verdict::kAccepted) {
      report->outcome = outcome_before;
      report->limited_by = limit_before;
      ++report->refused_substeps;
      last_resort = finest;
      if (!finest) ++halvings;
      continue;
    }
    ++report->substeps;
    report->fallback_substeps += last_resort;
    last_resort = false;
    done += size;
    const bool easy = 2 * (report->newton_iterations - before) <= settings.substep_newton_iterations;
    if (halvings > 0 && easy && done % (2 * size) == 0) --halvings;
    if (settings.substep_newton_iterations == 0 && done == whole) halvings = 0;
    if (done == whole) break;
    next->time_s = state.time_s + part * input.dt_s;
    next->barrier_stiffness = stepper.problem().barrier_stiffness();
    std::swap(now, *next);
    from = &now;
  }
  if (halvings > 0) {
    if (next->memory.empty()) next->memory.resize(1);
    next->memory[0].halvings = halvings;
  }
  return absl::OkStatus();
}

absl::Status Simulation::Step(const State& state, const StepInput& input, const StepBudget& budget, State* next,
                              StepReport* report) {
  Impl& s = *impl_;
  EIPC_RETURN_IF_ERROR(CheckStepInput(*s.model, input));
  const auto start = std::chrono::steady_clock::now();
  s.stepper.seconds()->fill(0);
  *report = {};
  report->linear_solver = s.model->solver.linear_solver;
  {
    const Interrupt::Watch watch(s.stepper.interrupt(), [&budget] { return budget.Poll(); });
    EIPC_RETURN_IF_ERROR(s.TakeParts(state, input, next, report));
  }
  next->step = state.step + 1;
  // Pairs that contact no longer couples are let go now and then: each new pattern costs an analysis.
  constexpr int64_t kStepsOfOnePattern = 16;
  if (next->step % kStepsOfOnePattern == 0) s.stepper.problem().ContactPairs(true, &next->contact_pairs);
  next->time_s = state.time_s + input.dt_s;
  const StageProblem& solved = s.stepper.problem();
  report->barrier_stiffness = solved.barrier_stiffness();
  next->barrier_stiffness = NextBarrierStiffness(*s.model, solved.barrier_stiffness(), solved.contacts().least_relative_gap());
  s.stepper.EndStep(state, input.dt_s, next, report);
  report->wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  double told = 0;
  for (double seconds : *s.stepper.seconds()) told += seconds;
  report->stage_s = *s.stepper.seconds();
  report->stage_s[static_cast<int>(Stage::kOther)] += std::max(0.0, report->wall_s - told);
  // What it finds is data: the step has been taken.
  const int audit_every = s.model->solver.audit_every_n_steps;
  if (audit_every > 0 && next->step % audit_every == 0) {
    std::vector<Vec3> x;
    solved.map().Positions(next->q, &x);
    report->audit = AuditState(*s.model, *next, x);
  }
  return absl::OkStatus();
}

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

absl::Status World::Step(const StepInput& input, const StepBudget& budget) {
  StepReport report;
  EIPC_RETURN_IF_ERROR(simulation_.Step(state_, input, budget, &next_, &report));
  std::swap(state_, next_);
  report_ = report;
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
