#ifndef EIPC_SIM_SOLVER_NEWTON_H_
#define EIPC_SIM_SOLVER_NEWTON_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/base/interrupt.h"
#include "sim/base/types.h"
#include "sim/solver/contact_correction.h"
#include "sim/solver/newton_problem.h"
#include "sim/solver/newton_report.h"
#include "sim/solver/newton_system.h"
#include "sim/solver/rounding_end.h"
#include "sim/solver/slide_damping.h"
#include "sim/solver/solve_context.h"
#include "sim/solver/solver_settings.h"
#include "sim/solver/trial_move.h"

namespace eipc {

// Projected Newton with backtracking (Li et al. 2020, Algorithm 1): minimizes a potential over the nodes that are not fixed.
//
// Simplified Newton (Hauth, "Numerical Techniques for Soft Object Simulation", section 3.3) reuses the matrix of the previous
// iteration while updates shrink well.
class NewtonSolver {
 public:
  // `system`, which solves the linear systems and may be shared with other solvers, must outlive this. `interrupt` may be null.
  NewtonSolver(const SolverSettings& settings, NewtonSystem* system, Interrupt* interrupt = nullptr)
      : settings_(settings), system_(system), interrupt_(interrupt) {}

  // Minimizes from *q (admissible) and leaves the last admissible point there, which is also the problem's current point. Error
  // only from the interrupt: then *q is no longer admissible.
  absl::Status Solve(NewtonProblem* problem, const SolveContext& context, VecX* q, NewtonReport* report);

  // The same in calls of a few iterations each, while what is prescribed moves between them: slides that close their own gap are
  // damped in one as the last one left it, since a call alone is too short to notice them. BeginRelaxing forgets the last one.
  void BeginRelaxing() { relaxing_ = {}; }
  absl::Status Relax(NewtonProblem* problem, const SolveContext& context, VecX* q, NewtonReport* report);

 private:
  // What one iteration leaves to the next.
  struct Progress {
    double energy = 0;
    double previous = 0;  // the last update, where it was taken whole; 0: it was not
    RoundingEnd rounding;
    double energy_rounding = 0;  // J
    FlatEnd flat;
    double ratio = 0;                            // of the last two updates
    double largest = 0;                          // of all updates
    double longest = 0;                          // the same of what was taken of them
    double limit = 1;                            // admissible fraction of the last direction
    StepLimit limited_by = StepLimit::kNothing;  // what made it less than 1
    double taken = 1;                            // accepted fraction of the last direction
    bool corrected = false;                      // the last direction, for curvature or contacts
    int denials = 0;                             // of IsSmallStill
    int exact_wait = 2, next_exact = 0;          // iterations: between questions for an exact Hessian, and until the next
    SlideDamping damping;
  };
  absl::Status Run(NewtonProblem* problem, const SolveContext& context, VecX* q, NewtonReport* report);
  // True when the solve has ended, with its outcome in *report.
  absl::StatusOr<bool> Iterate(NewtonProblem* problem, const SolveContext& context, VecX* q, NewtonReport* report);
  // The same for an iteration whose direction has been found.
  absl::StatusOr<bool> TakeDirection(NewtonProblem* problem, const SolveContext& context, VecX* q, NewtonReport* report);
  // Where what is pressed slides around something: see newton.cc.
  void CorrectForCurvature(NewtonProblem* problem, const SolveContext& context, const VecX& q, NewtonReport* report);
  // Where a direction leads into contacts that the Hessian does not know: see ContactCorrection.
  void CorrectForContacts(NewtonProblem* problem, const SolveContext& context, const VecX& q, NewtonReport* report);
  double AitkenFactor(double update) const;
  bool IsSmallStill(NewtonProblem* problem, const SolveContext& context, NewtonReport* report);
  void AskForExactHessian(NewtonProblem* problem, int iteration);
  // Backtracks from the first trial point, `limit` along; returns the accepted fraction (0: no progress possible).
  double LineSearch(NewtonProblem* problem, const SolveContext& context, const VecX& q, NewtonReport* report);
  bool SlopeDecreases(NewtonProblem* problem, double slope);
  StepLimit DiagnoseLimit(const NewtonProblem& problem) const;

  SolverSettings settings_;
  NewtonSystem* system_;
  Interrupt* interrupt_;
  Progress progress_;
  SlideDamping relaxing_;
  TrialMove move_, corrected_move_;
  VecX gradient_, direction_, trial_gradient_;
  VecX path_end_, corrected_gradient_, corrected_;
  ContactCorrection ahead_;
  VecX last_direction_;  // the last one that was taken whole
};

}  // namespace eipc

#endif  // EIPC_SIM_SOLVER_NEWTON_H_
