#ifndef EIPC_SIM_SOLVER_NEWTON_H_
#define EIPC_SIM_SOLVER_NEWTON_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "sim/base/interrupt.h"
#include "sim/base/parallel.h"
#include "sim/base/types.h"
#include "sim/linalg/block_matrix.h"
#include "sim/solver/newton_problem.h"
#include "sim/solver/newton_report.h"
#include "sim/solver/newton_system.h"
#include "sim/solver/slide_damping.h"
#include "sim/solver/solver_settings.h"
#include "sim/solver/stage_timer.h"

namespace eipc {

// Projected Newton with backtracking (Li et al. 2020, Alg. 1), and prescribed nodes that travel.
//
// Prescribed nodes that are not yet where they should be (`target`) move by their full remainder in every iteration while the free
// nodes follow by H_ff dq_f = -g_f - H_fp dq_p. The admissible fraction of that combined direction is taken without asking the
// energy (which rightly rises as a drive does work). Once they have arrived the free nodes are solved by descent. When they are
// blocked, the free nodes are relaxed and the drive tries again; a drive that gets nowhere gives up: kTargetNotReached.
//
// Simplified Newton (Hauth, "Numerical Techniques for Soft Object Simulation", 3.3) takes the matrix of the iteration before while
// updates shrink well.
//
// Trial points lie on the way that the problem makes of a direction (Follow). Only straight lines are proven free of collisions, so
// the chord to every trial point is examined, and cut where it is not free.
class NewtonSolver {
 public:
  // `pool`, for the products of iterative solvers, and `interrupt` may be null.
  explicit NewtonSolver(const SolverSettings& settings, ThreadPool* pool = nullptr, Interrupt* interrupt = nullptr)
      : settings_(settings), interrupt_(interrupt), system_(settings.linear_solver, pool, interrupt) {}

  // Minimizes from *q (admissible) and leaves the last admissible point there, which is also the problem's current point.
  // `prescribed` is by node, `target` stacked (only prescribed nodes are read); `velocity_scale` = gamma h. Error only from the
  // interrupt: then *q is admissible no more.
  absl::Status Solve(NewtonProblem* problem, const std::vector<uint8_t>& prescribed, const VecX& target, double velocity_scale,
                     VecX* q, NewtonReport* report, StageSeconds* seconds);

  BlockMatrix* hessian() { return system_.hessian(); }
  // For whoever has let the problem change the pattern of hessian().
  void ForgetPattern() { system_.ForgetPattern(); }

 private:
  // How often the direction should be taken, judged by the whole step before it.
  double Stretch(double update, double previous) const;
  // Writes the trial point for `fraction` of the direction, from the problem's current point q; returns the admissible fraction.
  double Trial(NewtonProblem* problem, const VecX& q, double fraction, StageSeconds* seconds);
  double ShorterTrial(NewtonProblem* problem, const VecX& q, double free, double fraction);
  // Backtracks from the first trial point, `limit` along; returns the accepted fraction (0: no progress possible).
  double LineSearch(NewtonProblem* problem, const VecX& q, double limit, double* energy, NewtonReport* report,
                    StageSeconds* seconds);

  SolverSettings settings_;
  Interrupt* interrupt_;
  NewtonSystem system_;
  bool bent_ = false;  // the way of this direction is not straight
  VecX gradient_, direction_, trial_, product_;
  VecX last_direction_;                             // of the last step that was taken whole
  StepLimit max_step_limit_ = StepLimit::kNothing;  // of the last direction
};

}  // namespace eipc

#endif  // EIPC_SIM_SOLVER_NEWTON_H_
