#ifndef EIPC_SIM_LINALG_PCG_SOLVER_H_
#define EIPC_SIM_LINALG_PCG_SOLVER_H_

#include <memory>
#include <vector>

#include "sim/linalg/block_rows.h"
#include "sim/linalg/conjugate_gradient.h"
#include "sim/linalg/low_rank.h"
#include "sim/linalg/preconditioner.h"

namespace eipc {

// Conjugate gradients on the free part of H + sum_k w_k g_k g_k^T. Fixed nodes are kept by projection: every search direction is
// zero there (Baraff & Witkin 1998; Hauth, "Numerical Techniques for Soft Object Simulation", 4.2, Alg. 4). The updates are
// products only, never a matrix, and are not in the preconditioner.
class PcgSolver {
 public:
  // `pool` may be null; the number of its threads changes no bit. So may `interrupt`, which ends Solve early and not converged.
  PcgSolver(PreconditionerKind kind, ThreadPool* pool, Interrupt* interrupt = nullptr)
      : preconditioner_(MakePreconditioner(kind, pool)), pool_(pool), cg_(interrupt) {}

  // False when H is seen not to be positive definite.
  bool Prepare(const BlockMatrix& h, const std::vector<uint8_t>& fixed);
  // Solves in place, to `tolerance` in the energy norm; entries of fixed nodes are returned as given. When not converged *rhs is
  // left alone.
  ConjugateGradient::Result Solve(const LowRank& updates, double tolerance, int max_iterations, VecX* rhs);

 private:
  void Project(VecX* y) const;

  std::unique_ptr<Preconditioner> preconditioner_;
  ThreadPool* pool_;
  BlockRows rows_;
  std::vector<uint8_t> fixed_;
  ConjugateGradient cg_;
  VecX b_, x_;
};

}  // namespace eipc

#endif  // EIPC_SIM_LINALG_PCG_SOLVER_H_
