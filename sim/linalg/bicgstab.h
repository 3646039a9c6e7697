#ifndef EIPC_SIM_LINALG_BICGSTAB_H_
#define EIPC_SIM_LINALG_BICGSTAB_H_

#include <functional>

#include "sim/base/interrupt.h"
#include "sim/base/types.h"

namespace eipc {

// BiCGSTAB (van der Vorst 1992) for (M + R) x = b, R any square matrix, with M^-1 as right preconditioner: residuals are those of
// the system itself. Of a vector y = M z that was preconditioned to z, the product is y + R z, so M itself is never applied. So
// M^-1 must be as accurate as a factorization is: what it misses of M stays in x, and the residual that Solve judges by does not
// see it. Serial and in a fixed order: the same bits always.
class BiCgStab {
 public:
  using Operator = std::function<void(const VecX&, VecX*)>;
  struct Result {
    bool converged = false;
    int iterations = 0;  // two products with R and two preconditionings each
  };

  // `interrupt`, which ends Solve early and not converged, may be null.
  explicit BiCgStab(Interrupt* interrupt = nullptr) : interrupt_(interrupt) {}

  // From *x = 0 until |b - (M + R) x| <= tolerance |b| or the iterations are used up; *x is then the best point met.
  // `add_remainder` adds R times its first argument to the second; `precondition` is M^-1, and `preconditioned`, where it is at
  // hand, is what it makes of b.
  Result Solve(const Operator& add_remainder, const Operator& precondition, const VecX& b, double tolerance, int max_iterations,
               VecX* x, const VecX* preconditioned = nullptr);

 private:
  Interrupt* interrupt_;
  VecX r_, shadow_, p_, v_, s_, t_, p_hat_, s_hat_;
};

}  // namespace eipc

#endif  // EIPC_SIM_LINALG_BICGSTAB_H_
