#ifndef EIPC_SIM_SOLVER_ROOT_SOLVER_H_
#define EIPC_SIM_SOLVER_ROOT_SOLVER_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "sim/linalg/bicgstab.h"
#include "sim/linalg/lu_solver.h"
#include "sim/linalg/spd_solver.h"
#include "sim/solver/newton.h"

namespace eipc {

// A system r(q) = 0 without a potential. At every point it agrees to first order with a potential that is frozen there: after
// Freeze, Gradient() is r at the current point and Hessian() the frozen potential's. The exact Jacobian is that Hessian plus a
// rest, which need not be symmetric.
class RootProblem : public NewtonProblem {
 public:
  // Freezes at the current point what the potential does not differentiate. Energy() and Gradient() at other points are those of
  // the frozen potential.
  virtual void Freeze() = 0;
  // The rest of the Jacobian at the current point, frozen there.
  virtual void PrepareRest() = 0;
  virtual void AddRestTimes(const VecX& dq, VecX* product) = 0;
  virtual void RestBlocks(std::vector<NodeBlock>* blocks) const = 0;
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
// (Larionov et al. 2023, IV-D; Eisenstat & Walker 1996), or sparse LU, which also takes over where BiCGSTAB does not get there. A
// trial within what MaxStep allows is accepted when, some times only, the potential frozen at the iterate falls (which costs no
// solution, and far from the root residuals are a bad guide as contacts come and go), or when |r|_{P^-1} falls (P that of the
// iteration, so the exact Newton direction always descends). Prescribed nodes travel as in NewtonSolver.
class RootSolver {
 public:
  // `interrupt` may be null.
  RootSolver(const SolverSettings& settings, const RootSettings& root, Interrupt* interrupt = nullptr)
      : settings_(settings), root_(root), interrupt_(interrupt), preconditioner_(interrupt), krylov_(interrupt) {}

  // As NewtonSolver::Solve. On failure *q is the last admissible point. `hessian` is scratch whose pattern the problem knows.
  absl::Status Solve(RootProblem* problem, BlockMatrix* hessian, const std::vector<uint8_t>& prescribed, const VecX& target,
                     double velocity_scale, VecX* q, RootReport* report, StageSeconds* seconds);

 private:
  struct Trial {
    double fraction = 0;  // 0: none was acceptable
    bool by_energy = false;
  };
  // y = P^-1 y.
  void Precondition(VecX* y);
  void Residual(RootProblem* problem, const std::vector<uint8_t>& prescribed, VecX* r) const;
  double Merit(const VecX& r);
  bool Factorize(RootProblem* problem, BlockMatrix* hessian, const std::vector<uint8_t>& prescribed, StageSeconds* seconds);
  bool Direction(RootProblem* problem, const BlockMatrix& hessian, const std::vector<uint8_t>& prescribed, double forcing,
                 RootReport* report, StageSeconds* seconds);
  Trial LineSearch(RootProblem* problem, const std::vector<uint8_t>& prescribed, const VecX& q, double limit, double merit,
                   bool energy_allowed, RootReport* report);

  SolverSettings settings_;
  RootSettings root_;
  Interrupt* interrupt_;
  SpdSolver preconditioner_;
  LuSolver lu_;
  LowRank dyads_;
  Woodbury woodbury_, lu_woodbury_;
  BiCgStab krylov_;
  // What the preconditioner was analyzed for: pattern and prescribed nodes.
  std::vector<int32_t> analyzed_columns_, analyzed_rows_;
  std::vector<uint8_t> analyzed_prescribed_;
  std::vector<uint8_t> changing_;
  std::vector<NodeBlock> blocks_;
  VecX residual_, direction_, rhs_, trial_, scratch_, free_;
  VecX preconditioned_;  // P^-1 r of the last Merit
};

}  // namespace eipc

#endif  // EIPC_SIM_SOLVER_ROOT_SOLVER_H_
