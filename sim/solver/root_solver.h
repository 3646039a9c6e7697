#ifndef EIPC_SIM_SOLVER_ROOT_SOLVER_H_
#define EIPC_SIM_SOLVER_ROOT_SOLVER_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/base/interrupt.h"
#include "sim/linalg/bicgstab.h"
#include "sim/linalg/lu_solver.h"
#include "sim/solver/newton_problem.h"
#include "sim/solver/newton_report.h"
#include "sim/solver/newton_system.h"
#include "sim/solver/rounding_end.h"
#include "sim/solver/solve_context.h"
#include "sim/solver/solver_settings.h"

namespace eipc {

// A system r(q) = 0 without a potential. At every point it agrees to first order with a potential that is frozen there: after
// Freeze, Gradient() is r at the current point and Hessian() the frozen potential's. The exact Jacobian is that Hessian plus a
// remainder, which need not be symmetric.
class RootProblem : public NewtonProblem {
 public:
  // Freezes at the current point what the potential does not differentiate. Energy() and Gradient() at other points are those of
  // the frozen potential.
  virtual void Freeze() = 0;
  // The remainder of the Jacobian at the current point, frozen there.
  virtual void PrepareRemainder() = 0;
  virtual void AddRemainderTimes(const VecX& dq, VecX* product) = 0;
  virtual void RemainderBlocks(std::vector<NodeBlock>* blocks) const = 0;
};

struct RootSettings {
  bool direct = false;  // sparse LU in every iteration instead of BiCGSTAB
  int max_iterations = 50;
};

struct RootReport : NewtonReport {
  bool failed = false;  // no root found: the caller falls back
};

// Damped inexact Newton for such systems. Linear systems: BiCGSTAB preconditioned by the Cholesky factor P of the frozen
// potential's Hessian (the same as a lagged solve needs), to the forcing terms sigma_k = min((|r_k| / |r_{k-1}|)^phi, 0.01)
// (Larionov et al. 2023, section IV-C; Eisenstat & Walker 1996), or sparse LU, which also takes over where BiCGSTAB does not
// converge. A trial within what MaxStep allows is accepted when, a few times only, the potential frozen at the iterate falls
// (which costs no solution, and far from the root residuals are a bad guide as contacts come and go), or when |r|_{P^-1} falls (P
// that of the iteration, so the exact Newton direction always descends).
class RootSolver {
 public:
  // `system` holds P and may be shared with other solvers. `interrupt` may be null.
  RootSolver(const SolverSettings& settings, const RootSettings& root, NewtonSystem* system, Interrupt* interrupt = nullptr)
      : settings_(settings), root_(root), system_(system), interrupt_(interrupt), krylov_(interrupt) {}

  // As NewtonSolver::Solve, with at most RootSettings::max_iterations iterations. On failure *q is the last admissible point.
  absl::Status Solve(RootProblem* problem, const SolveContext& context, VecX* q, RootReport* report);

  // On entry *direction holds displacements d_p of fixed nodes; on success also the Newton direction of the others that goes with
  // them, J_ff d_f = -r_f - J_fp d_p, from the problem's current point, where it is then frozen. `system` holds P.
  bool Follow(RootProblem* problem, const SolveContext& context, VecX* direction, NewtonReport* report);

 private:
  // What one iteration leaves to the next.
  struct Progress {
    double last_merit = 0;
    double previous = 0;  // the last update, where it was taken whole
    RoundingEnd rounding;
    int denials = 0;  // of ends by ErrorBefore
    int energy_acceptances = 0;
    bool by_energy = false;  // how the current point was accepted
  };
  struct Trial {
    double fraction = 0;  // 0: none was acceptable
    bool by_energy = false;
  };
  // True when the solve has ended, with its outcome in *report.
  absl::StatusOr<bool> Iterate(RootProblem* problem, const SolveContext& context, VecX* q, RootReport* report);
  absl::StatusOr<bool> TakeDirection(RootProblem* problem, const SolveContext& context, double merit, VecX* q, RootReport* report);
  void Residual(RootProblem* problem, const SolveContext& context, VecX* r) const;
  double Merit(const VecX& r);
  // direction_ = J_ff^-1 rhs_, zero at fixed nodes; `guess` may be null.
  bool Direction(RootProblem* problem, const SolveContext& context, double forcing, const VecX* guess, NewtonReport* report);
  bool SolveDirectly(RootProblem* problem, const SolveContext& context, NewtonReport* report);
  void MultiplyJacobian(RootProblem* problem, const SolveContext& context, const VecX& y, VecX* product) const;
  Trial LineSearch(RootProblem* problem, const SolveContext& context, const VecX& q, double limit, double merit,
                   RootReport* report);

  SolverSettings settings_;
  RootSettings root_;
  NewtonSystem* system_;
  Interrupt* interrupt_;
  LuSolver lu_;
  Woodbury lu_woodbury_;
  BiCgStab krylov_;
  Progress progress_;
  std::vector<NodeBlock> blocks_;
  VecX residual_, direction_, rhs_, trial_;
  VecX preconditioned_;  // P^-1 r of the last Merit
};

}  // namespace eipc

#endif  // EIPC_SIM_SOLVER_ROOT_SOLVER_H_
