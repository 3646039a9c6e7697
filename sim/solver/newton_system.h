#ifndef EIPC_SIM_SOLVER_NEWTON_SYSTEM_H_
#define EIPC_SIM_SOLVER_NEWTON_SYSTEM_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/base/interrupt.h"
#include "sim/base/parallel.h"
#include "sim/base/types.h"
#include "sim/linalg/block_matrix.h"
#include "sim/linalg/low_rank.h"
#include "sim/linalg/pcg_solver.h"
#include "sim/linalg/spd_solver.h"
#include "sim/solver/newton_problem.h"
#include "sim/solver/newton_report.h"
#include "sim/solver/solve_context.h"
#include "sim/solver/solver_settings.h"

namespace eipc {

// The Hessian of a stage and the linear systems of its solvers, H_ff d_f = -g_f - H_fp d_p for free nodes f and fixed nodes p that
// are displaced by d_p: by a Cholesky factor, or by preconditioned conjugate gradients as accurately as is useful (inexact Newton:
// Hauth, "Numerical Techniques for Soft Object Simulation", section 3.1). What those do not solve goes to the factor, and with it
// all that follows in the step: its systems are alike.
class NewtonSystem {
 public:
  struct Options {
    double damping = 0;        // times the inertia is added to the Hessian's diagonal
    bool keep_matrix = false;  // that of the previous call, in the same sequence
    bool correction = false;   // with another right-hand side at the same point: it is no iteration of the sequence
  };

  // `pool` and `interrupt` may be null.
  NewtonSystem(const SolverSettings& settings, ThreadPool* pool, Interrupt* interrupt);

  // Forgets what conjugate gradients did not solve.
  void BeginStep() { left_to_factor_ = false; }
  // Starts a new sequence of iterations with new forcing terms.
  void Begin();
  // On entry *direction holds d_p; on success the whole direction. `gradient` is zero at fixed nodes. False also when interrupted.
  bool Solve(NewtonProblem* problem, const SolveContext& context, const VecX& gradient, const Options& options, VecX* direction,
             NewtonReport* report);

  // Whether another right-hand side for the system of the last Solve costs no more than a back substitution.
  bool HoldsFactor() const { return held_ == Held::kFactor; }

  // The parts of a direct solve: factorizes the Hessian of the problem's current point, and replaces y by H_ff^-1 y_f.
  bool Factorize(NewtonProblem* problem, const SolveContext& context, double damping);
  void SolveFactorized(VecX* y);
  // The Hessian of the problem's current point, for Multiply.
  void Assemble(NewtonProblem* problem);
  // *product = H y, with the updates that are kept out of the matrix.
  void Multiply(const VecX& y, VecX* product) const;

  const BlockMatrix& hessian() const { return hessian_; }
  const LowRank& updates() const { return rank_one_updates_; }

 private:
  enum class Held { kNothing, kMatrix, kFactor };  // of the previous call

  bool SolveIteratively(NewtonProblem* problem, const SolveContext& context, const VecX& gradient, double damping, VecX* direction,
                        NewtonReport* report);
  // By conjugate gradients with the matrix that is held.
  bool Correct(const SolveContext& context, const VecX& gradient, VecX* direction, NewtonReport* report);
  // Writes -g_f - H_fp d_p into the free entries of *direction.
  void RightHandSide(const std::vector<uint8_t>& fixed, const VecX& gradient, VecX* direction);

  Interrupt* interrupt_;
  const int most_krylov_iterations_;
  BlockMatrix hessian_;
  LowRank rank_one_updates_;
  SpdSolver cholesky_;
  Woodbury woodbury_;
  bool analyzed_ = false;
  std::vector<uint8_t> analyzed_fixed_;
  std::vector<uint8_t> changing_;
  std::optional<PcgSolver> pcg_;
  bool left_to_factor_ = false;  // a system of this step
  bool indefinite_ = false;      // the matrix of the last SolveIteratively was seen not to be positive definite
  Held held_ = Held::kNothing;
  double last_gradient_ = 0;  // its norm; 0: no iteration before
  VecX product_, trial_;
};

}  // namespace eipc

#endif  // EIPC_SIM_SOLVER_NEWTON_SYSTEM_H_
