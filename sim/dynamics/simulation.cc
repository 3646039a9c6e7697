#include "sim/dynamics/simulation.h"

#include <algorithm>
#include <chrono>

#include "sim/base/status_macros.h"
#include "sim/dynamics/barrier_stiffness.h"
#include "sim/dynamics/collect_contacts.h"
#include "sim/dynamics/drives.h"
#include "sim/dynamics/stage_problem.h"
#include "sim/dynamics/time_integrator.h"

namespace eipc {
namespace {

StepOutcome ToStepOutcome(NewtonOutcome outcome) {
  switch (outcome) {
    case NewtonOutcome::kConverged:
      return StepOutcome::kConverged;
    case NewtonOutcome::kIterationCap:
      return StepOutcome::kIterationCap;
    case NewtonOutcome::kTargetNotReached:
      return StepOutcome::kTargetNotReached;
    case NewtonOutcome::kStalled:
      return StepOutcome::kStalled;
  }
  return StepOutcome::kStalled;
}

}  // namespace

struct Simulation::Impl {
  std::shared_ptr<const Model> model;
  ThreadPool pool;
  StageSeconds seconds = {};
  StageProblem problem;
  NewtonSolver newton;
  BackwardEuler integrator;
  IntegratorStage stage;
  std::vector<uint8_t> prescribed;
  VecX target, guess, direction;
  std::vector<Vec3> x_tilde;
  ContactForces contacts;

  Impl(std::shared_ptr<const Model> m, int threads)
      : model(std::move(m)), pool(threads), problem(model.get(), &pool, &seconds), newton(model->solver) {}

  void Guess(const State& state, double dt_s);
  absl::Status SolveStage(const State& state, double gamma_h, const StepBudget& budget, VecX* q, StepReport* report);
};

Simulation::Simulation(std::shared_ptr<const Model> model, int threads)
    : impl_(std::make_unique<Impl>(std::move(model), std::max(1, threads))) {}
Simulation::~Simulation() = default;

const ContactForces& Simulation::contact_forces() const { return impl_->contacts; }
const Model& Simulation::model() const { return *impl_->model; }
void Simulation::SurfacePositions(const State& state, std::vector<Vec3>* x) const { impl_->problem.map().Positions(state.q, x); }

// Free nodes go on as they move, driven nodes are where they should be.
void Simulation::Impl::Guess(const State& state, double dt_s) {
  guess = state.q + dt_s * state.v;
  for (int32_t n = 0; n < model->node_count; ++n) {
    if (prescribed[n]) guess.segment<3>(3 * n) = target.segment<3>(3 * n);
  }
}

absl::Status Simulation::Impl::SolveStage(const State& state, double gamma_h, const StepBudget& budget, VecX* q,
                                          StepReport* report) {
  problem.map().Positions(stage.q_tilde, &x_tilde);
  problem.BeginStage({state.q, stage.q_tilde, x_tilde, stage.v_tilde, gamma_h});
  // Friction sees the contacts of the start of the step first (`004` III-C), then those of the last solution.
  problem.SetPoint(state.q);
  problem.LagFriction();
  // As far along the guess as nothing touches.
  direction = guess - state.q;
  double reach = problem.MaxStep(direction);
  *q = reach >= 1 ? guess : VecX(state.q + reach * direction);
  for (problem.SetPoint(*q); reach > 0 && problem.Intersects(); problem.SetPoint(*q)) {  // refused, whatever MaxStep promised
    reach = reach > 1e-12 ? 0.5 * reach : 0;
    *q = state.q + reach * direction;
  }
  for (int lag = 0; lag < model->contact.friction_lag_iterations; ++lag) {
    if (lag > 0) problem.LagFriction();
    NewtonReport newton_report;
    EIPC_RETURN_IF_ERROR(newton.Solve(&problem, prescribed, target, gamma_h, budget, q, &newton_report, &seconds));
    report->newton_iterations += newton_report.iterations;
    report->linear_solves += newton_report.linear_solves;
    report->line_search_halvings += newton_report.line_search_halvings;
    report->min_ccd_fraction = std::min(report->min_ccd_fraction, newton_report.min_step_limit);
    report->residual_m_s = newton_report.residual_m_s;
    report->outcome = ToStepOutcome(newton_report.outcome);
  }
  return absl::OkStatus();
}

absl::Status Simulation::Step(const State& state, const StepInput& input, const StepBudget& budget, State* next,
                              StepReport* report) {
  Impl& s = *impl_;
  EIPC_RETURN_IF_ERROR(CheckStepInput(*s.model, input));
  const auto start = std::chrono::steady_clock::now();
  s.seconds.fill(0);
  *report = {};
  const double time = state.time_s + input.dt_s;
  next->drives = state.drives;
  CommandDrives(*s.model, input, time, &next->drives);
  s.target = state.q;
  DriveTargets(*s.model, next->drives, &s.prescribed, &s.target);
  s.Guess(state, input.dt_s);
  s.problem.BeginStep(state.q, s.guess, state.barrier_stiffness, state.contact_pairs);
  VecX& q = next->q;
  for (int i = 0; i < s.integrator.stage_count(); ++i) {
    s.integrator.PrepareStage(i, state, input.dt_s, &s.stage);
    do {
      EIPC_RETURN_IF_ERROR(s.SolveStage(state, s.stage.gamma * input.dt_s, budget, &q, report));
    } while (s.problem.NeedsThoroughRetry());
  }
  next->v = (q - state.q) / input.dt_s;
  next->step = state.step + 1;
  // Pairs that contact no longer couples are let go now and then: each new pattern costs an analysis.
  constexpr int64_t kStepsOfOnePattern = 16;
  s.problem.ContactPairs(next->step % kStepsOfOnePattern == 0, &next->contact_pairs);
  next->time_s = time;
  report->target_error_m = MeasureDriveErrors(*s.model, s.target, q, &next->drives);
  CollectContacts(s.problem, &s.contacts);
  report->min_distance_m = s.contacts.min_distance_m;
  report->barrier_stiffness = state.barrier_stiffness;
  report->exact_rejections = s.problem.exact_rejections();
  next->barrier_stiffness = NextBarrierStiffness(*s.model, state.barrier_stiffness, s.contacts.min_distance_m);
  report->wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  double told = 0;
  for (double seconds : s.seconds) told += seconds;
  report->stage_s = s.seconds;
  report->stage_s[static_cast<int>(Stage::kOther)] += std::max(0.0, report->wall_s - told);
  // What it finds is data: the step has been taken.
  const int audit_every = s.model->solver.audit_every_n_steps;
  if (audit_every > 0 && next->step % audit_every == 0) report->audit = AuditState(*s.model, *next, s.problem.x());
  return absl::OkStatus();
}

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
  contacts_ = {};
}

absl::Status World::Restore(const State& state) {
  const Eigen::Index size = 3 * model_->node_count;
  if (!ContactPairsFit(state, model_->node_count) || state.q.size() != size || state.v.size() != size ||
      state.drives.size() != model_->boundary_sets.size()) {
    return absl::InvalidArgumentError("state: its sizes do not fit this scene");
  }
  state_ = state;
  report_ = {};
  contacts_ = {};
  return absl::OkStatus();
}

}  // namespace eipc
