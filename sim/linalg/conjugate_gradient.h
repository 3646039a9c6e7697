#ifndef EIPC_SIM_LINALG_CONJUGATE_GRADIENT_H_
#define EIPC_SIM_LINALG_CONJUGATE_GRADIENT_H_

#include <functional>
#include <vector>

#include "sim/base/interrupt.h"
#include "sim/base/types.h"

namespace eipc {

// Preconditioned conjugate gradients (Hestenes & Stiefel 1952) for A x = b, A symmetric positive definite. Sums are taken in a
// fixed order: the same bits always, if the operators have them.
class ConjugateGradient {
 public:
  using Operator = std::function<void(const VecX&, VecX*)>;
  struct Result {
    bool converged = false;
    bool indefinite = false;  // a direction without curvature was met
    int iterations = 0;       // one product with A and one preconditioning each
  };

  // `interrupt`, which ends Solve early and not converged, may be null.
  explicit ConjugateGradient(Interrupt* interrupt = nullptr) : interrupt_(interrupt) {}

  // From *x = 0 until |x - A^-1 b|_A <= tolerance |A^-1 b|_A as far as can be estimated, or the iterations are used up. In this
  // norm an error counts by the energy it has, so soft and stiff parts of a body are solved alike; residuals are about the stiff
  // ones only. The square of the error some iterations ago is what they have gained since, at least (Strakos & Tichy 2002).
  Result Solve(const Operator& apply, const Operator& precondition, const VecX& b, double tolerance, int max_iterations, VecX* x);

 private:
  Interrupt* interrupt_;
  VecX r_, z_, p_, q_;
  std::vector<double> lengths_;  // |x|_A^2 after each iteration
};

}  // namespace eipc

#endif  // EIPC_SIM_LINALG_CONJUGATE_GRADIENT_H_
