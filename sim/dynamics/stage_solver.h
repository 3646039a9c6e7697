#ifndef EIPC_SIM_DYNAMICS_STAGE_SOLVER_H_
#define EIPC_SIM_DYNAMICS_STAGE_SOLVER_H_

#include <optional>

#include "absl/status/statusor.h"
#include "sim/base/parallel.h"
#include "sim/dynamics/friction_modes.h"
#include "sim/dynamics/model.h"
#include "sim/dynamics/prescribed_motion.h"
#include "sim/dynamics/retry.h"
#include "sim/dynamics/stage_problem.h"
#include "sim/dynamics/step_report.h"
#include "sim/solver/newton.h"
#include "sim/solver/root_solver.h"
#include "sim/solver/solve_ends.h"

namespace eipc {

// Solves one stage: the drives first, then the free nodes, by minimization with lagged friction or as a root with implicit
// friction.
class StageSolver {
 public:
  // All pointers outlive this.
  StageSolver(const Model* model, StageProblem* problem, PrescribedMotion* motion, NewtonSystem* system, PhaseSeconds* seconds,
              SolveEnds* ends);

  // From *q, where the problem's stage has begun, through `guess`; gamma_h is the stage's, s. On kNone *q is the solution. What
  // was solved is added to *report. Error only from the interrupt.
  absl::StatusOr<Retry> Solve(const VecX& guess, double gamma_h, VecX* q, StepReport* report);

 private:
  SolveContext Context(int max_iterations) const { return {motion_->fixed(), gamma_h_, max_iterations, seconds_, time_limit_}; }
  // Moves the drives to the stage's target, or as far as they get, in a limited number of moves. These do not reduce the iterations
  // that the solve of the free nodes may take.
  absl::StatusOr<Retry> MoveDrives(VecX* q, StepReport* report);
  // Whether an update, m/s, may have opened the smallest gap by much of it.
  bool OpensGaps(double update_m_s) const;
  absl::StatusOr<Retry> Minimize(VecX* q, StepReport* report);
  // With friction that is solved for; none where there is no time, or no root.
  absl::StatusOr<std::optional<Retry>> SettleFriction(VecX* q, StepReport* report);
  // Sets *found when there is a root.
  absl::StatusOr<Retry> FindRoot(VecX* q, bool* found, StepReport* report);
  void Count(const NewtonReport& solve, StepReport* report);
  // The barrier is too soft: the stage is solved again with a stiffer one, where there is time for that.
  Retry StiffenInTime(NewtonReport* last) const;
  void Conclude(const NewtonReport& last, StepReport* report) const;

  const Model* model_;
  const FrictionModeRow* friction_;
  StageProblem* problem_;
  PrescribedMotion* motion_;
  PhaseSeconds* seconds_;
  TimeLimit* time_limit_;
  const double newton_tolerance_m_s_;  // of both solvers
  NewtonSolver newton_;
  RootSolver root_;
  bool has_friction_ = false;
  double gamma_h_ = 0;
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_STAGE_SOLVER_H_
