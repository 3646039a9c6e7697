#ifndef EIPC_SIM_DYNAMICS_STEP_H_
#define EIPC_SIM_DYNAMICS_STEP_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/base/interrupt.h"
#include "sim/base/parallel.h"
#include "sim/contact/contact_forces.h"
#include "sim/dynamics/accelerations.h"
#include "sim/dynamics/collect_contacts.h"
#include "sim/dynamics/contact_work.h"
#include "sim/dynamics/integrators.h"
#include "sim/dynamics/part_schedule.h"
#include "sim/dynamics/prescribed_motion.h"
#include "sim/dynamics/retry.h"
#include "sim/dynamics/scheme_run.h"
#include "sim/dynamics/sleep_manager.h"
#include "sim/dynamics/stability_guard.h"
#include "sim/dynamics/stage_problem.h"
#include "sim/dynamics/stage_solver.h"
#include "sim/dynamics/state.h"
#include "sim/dynamics/step_input.h"
#include "sim/dynamics/step_report.h"
#include "sim/solver/solve_ends.h"

namespace eipc {

// Takes steps: the loops over the parts of a step and the points of the integrator (SchemeRun), and the retries (step.cc;
// step_begin.cc, step_end.cc). Every point is reached from the one before by moves that collision detection has found free, whether
// it is solved for or explicit, and so is an end beyond the last one. A point that cannot be reached is never cut short: the part
// is refused.
class Stepper {
 public:
  Stepper(const Model* model, int threads);

  // From `from` into *next, which is whole or, on error, unspecified. Fills *report but for its times. Error only from the
  // interrupt.
  absl::Status Take(const State& from, const StepInput& input, State* next, StepReport* report);

  // The contacts of the last step taken: forces of the last solved stage and of contacts among sleeping bodies.
  const ContactForces& contacts() const { return contacts_; }
  const StageProblem& problem() const { return problem_; }
  PhaseSeconds* seconds() { return &seconds_; }
  // Ends Take early.
  Interrupt* interrupt() { return &ends_.interrupt; }

 private:
  // What the step is taken from and into.
  struct Task {
    const State* from;
    const StepInput* input;
    State* next;
    StepReport* report;
  };
  // A part of the step, and how far it has come.
  struct Part {
    const State* from;
    const Scheme* scheme;
    double dt_s;
    std::vector<State::Drive> drives;  // at its end
    std::vector<State::Slider> sliders;
    std::vector<State::Joint> joints;
    StepReport before;  // the report when it began
    SchemeRun run;
    SchemeState past;    // where the step before began
    SchemePoint point;   // to be reached
    double reached = 0;  // end of the last one, as a fraction of the part
    int iterations = 0;  // Newton iterations in all when the stage began
    VecX start;          // positions when the stage began
    VecX q, v, guess;    // of the stage
    VecX behind, acceleration;
    struct Gaps {
      double least = 0;     // of the points so far, m
      double relative = 0;  // the least of the last point, as a part of its dhat
    } gaps;
    std::optional<State::Stability> stability;  // of this part
  };

  void BeginPart(const State& from);
  void BeginAttempt();
  // Drives in a stage that ends at this fraction of the part, with velocities counted from the other.
  void CommandStage(double end, double before);
  absl::StatusOr<Retry> Attempt();
  void PredictStage();
  bool IsStable();
  // The present point, by a solve or explicitly.
  absl::StatusOr<Retry> Reach();
  Retry ReachExplicitly();
  bool GoFreely(const VecX& q);
  void Accelerate();
  bool GoesBeyondUnsolvedPoint();
  Retry AcceptStage();
  absl::StatusOr<Retry> EndPart();
  bool EndBeyond();
  void MeasureBalance();
  bool ContactMadeEnergy();
  void StoreEndPoint();
  void RestartStage();
  void ForgetOutcome();
  void AcceptPart();
  void Finish();

  const Model* model_;
  SolveEnds ends_;
  ThreadPool pool_;
  PhaseSeconds seconds_ = {};
  struct Schemes {
    Scheme chosen, backward_euler;
  };
  const Schemes schemes_;
  StageProblem problem_;
  NewtonSystem system_;
  PrescribedMotion motion_;
  StageSolver solver_;
  SleepManager sleep_;
  Accelerations accelerations_;
  struct Guards {
    StabilityGuard stability;
    ContactWork contact_work;
  } guards_;
  PartSchedule schedule_;
  Task task_ = {};
  Part part_ = {};
  State between_;  // parts
  std::vector<uint8_t> asleep_nodes_;
  ContactForces contacts_;
  ContactCollector collector_;
  std::vector<double> potentials_;  // of what is active in contacts_, where bodies may sleep
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_STEP_H_
