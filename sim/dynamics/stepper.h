#ifndef EIPC_SIM_DYNAMICS_STEPPER_H_
#define EIPC_SIM_DYNAMICS_STEPPER_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/base/interrupt.h"
#include "sim/base/parallel.h"
#include "sim/contact/contact_forces.h"
#include "sim/dynamics/collect_contacts.h"
#include "sim/dynamics/prescribed_motion.h"
#include "sim/dynamics/sleepers.h"
#include "sim/dynamics/stage_problem.h"
#include "sim/dynamics/state.h"
#include "sim/dynamics/step_report.h"
#include "sim/dynamics/time_integrator.h"
#include "sim/linalg/block_matrix.h"
#include "sim/linalg/spd_solver.h"
#include "sim/solver/newton.h"
#include "sim/solver/root_solver.h"
#include "sim/solver/stage_timer.h"

namespace eipc {

// Takes one undivided step by a given integrator. Every stage position is reached by CCD-guarded moves from the one before, and so
// is an end point beyond the last stage; whoever calls decides what to do with a step that is refused.
class Stepper {
 public:
  enum class Verdict {
    kAccepted,
    kEndBlocked,  // the way to an extrapolated end point is not free: nothing was accepted
    kTooManyIterations,
    kDisturbed,  // a sleeping body, in a stage before the last: to be taken again with it awake. Take does that itself
  };

  Stepper(const Model* model, int threads);

  // From `from` to dt_s later, with the drives at `drives` then; refused when a stage needs more than `max_iterations` (0: no
  // limit). Fills q, v, history and the drives of `next`, and adds to the counters of `report`. Error only from the
  // interrupt.
  absl::StatusOr<Verdict> Take(const TimeIntegrator& integrator, const State& from, double dt_s,
                               const std::vector<State::Drive>& drives, int max_iterations, State* next, StepReport* report);

  // After the whole step from `from` to `next`, the last of whose parts Take has just taken: who falls asleep, and reports of what
  // was not solved because it sleeps.
  void EndStep(const State& from, double dt_s, State* next, StepReport* report);

  // Of the last accepted step: forces of the last solved stage, after EndStep also those of contacts among sleeping bodies.
  const ContactForces& contacts() const { return contacts_; }
  const StageProblem& problem() const { return problem_; }
  StageSeconds* seconds() { return &seconds_; }
  // Ends Take early.
  Interrupt* interrupt() { return &interrupt_; }

 private:
  // With those asleep that are so now.
  absl::StatusOr<Verdict> TakeAsIs(const TimeIntegrator& integrator, const State& from, double dt_s,
                                   const std::vector<State::Drive>& drives, int max_iterations, State* next, StepReport* report);
  void StartAcceleration(const State& from, double dt_s, bool with_contact);
  void PrescribeStage();
  // False: not solved, the barrier is too soft for it.
  absl::StatusOr<bool> SolveStage(const State& from, double gamma_h, StepReport* report);
  SolveContext Context(double gamma_h, int iterations_done) const;
  // Moves the drives to the stage's target, or as far as they get.
  absl::Status MoveDrives(double gamma_h, NewtonReport* last, StepReport* report);
  absl::Status SolveLagged(double gamma_h, int iterations_done, NewtonReport* last, StepReport* report);
  // False: no root was found.
  absl::StatusOr<bool> SolveImplicit(double gamma_h, int iterations_done, NewtonReport* last, StepReport* report);
  void Count(const NewtonReport& solve, StepReport* report) const;
  bool Extrapolate(const State& from, State* next);

  const Model* model_;
  Interrupt interrupt_;
  ThreadPool pool_;
  StageSeconds seconds_ = {};
  StageProblem problem_;
  NewtonSystem system_;
  NewtonSolver newton_;
  RootSolver root_;
  Sleepers sleepers_;
  bool has_friction_ = false;
  IntegratorStage stage_;
  PrescribedMotion motion_;
  std::vector<uint8_t> asleep_nodes_;
  VecX q_stage_, v_stage_, guess_, acceleration_, gradient_;
  VecX stage_start_;  // where the stage begins
  BlockMatrix mass_;
  SpdSolver mass_solver_;
  std::vector<uint8_t> mass_fixed_;  // that it was analyzed for
  ContactForces contacts_;
  ContactCollector collector_;
  std::vector<double> potentials_;  // of what is active in contacts_, where bodies may sleep
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_STEPPER_H_
