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
#include "sim/solver/solver_settings.h"
#include "sim/solver/stage_timer.h"

namespace eipc {

// The linear systems of Newton's iterations, H_ff d_f = -g_f - H_fp d_p for free nodes f and prescribed nodes p: by a Cholesky
// factor, or by preconditioned conjugate gradients as far as it matters (inexact Newton: Hauth, "Numerical Techniques for Soft
// Object Simulation", 3.1). What those do not solve goes to the factor.
class NewtonSystem {
 public:
  // `pool` and `interrupt` may be null.
  NewtonSystem(LinearSolverKind kind, ThreadPool* pool, Interrupt* interrupt);

  // A new sequence of iterations: their forcing terms begin.
  void Begin();
  // On entry *direction holds the prescribed remainder d_p; on success the whole direction. `gradient` is zero at prescribed nodes.
  // False also when interrupted. `damping` times the inertia is added to the Hessian's diagonal. `keep_matrix`: that of the call
  // before, in the same sequence.
  bool Solve(NewtonProblem* problem, const std::vector<uint8_t>& prescribed, const VecX& gradient, double damping, bool keep_matrix,
             VecX* direction, NewtonReport* report, StageSeconds* seconds);

  BlockMatrix* hessian() { return &hessian_; }
  void ForgetPattern() { analyzed_ = false; }

 private:
  enum class Held { kNothing, kMatrix, kFactor };  // of the call before

  bool Factorize(NewtonProblem* problem, const std::vector<uint8_t>& prescribed, double damping, StageSeconds* seconds);
  bool SolveIteratively(NewtonProblem* problem, const std::vector<uint8_t>& prescribed, const VecX& gradient, double damping,
                        VecX* direction, NewtonReport* report, StageSeconds* seconds);
  // Writes -g_f - H_fp d_p into the free entries of *direction.
  void RightHandSide(const std::vector<uint8_t>& prescribed, const VecX& gradient, VecX* direction);

  Interrupt* interrupt_;
  BlockMatrix hessian_;
  LowRank dyads_;
  SpdSolver cholesky_;
  Woodbury woodbury_;
  bool analyzed_ = false;
  std::vector<uint8_t> analyzed_prescribed_;
  std::vector<uint8_t> changing_;
  std::optional<PcgSolver> pcg_;
  Held held_ = Held::kNothing;
  double last_gradient_ = 0;  // its norm; 0: no iteration before
  VecX product_, trial_;
};

}  // namespace eipc

#endif  // EIPC_SIM_SOLVER_NEWTON_SYSTEM_H_
