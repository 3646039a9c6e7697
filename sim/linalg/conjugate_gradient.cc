#include "sim/linalg/conjugate_gradient.h"

#include <algorithm>
#include <cmath>

namespace eipc {
namespace {

// How far back the error is known: longer where convergence is slow.
int Delay(int iterations) { return std::max(4, iterations / 4); }

}  // namespace

ConjugateGradient::Result ConjugateGradient::Solve(const Operator& apply, const Operator& precondition, const VecX& b,
                                                   double tolerance, int max_iterations, VecX* x) {
  Result result;
  x->setZero(b.size());
  r_ = b;
  precondition(r_, &z_);
  p_ = z_;
  double rho = r_.dot(z_);
  const double least = 1e-30 * rho;  // nothing but rounding is left
  lengths_.assign(1, 0.0);
  if (rho == 0) result.converged = true;
  while (!result.converged && result.iterations < max_iterations && !Raised(interrupt_)) {
    apply(p_, &q_);
    const double curvature = p_.dot(q_);
    if (!(curvature > 0) || !(rho > 0)) {
      result.indefinite = true;
      return result;
    }
    const double alpha = rho / curvature;
    *x += alpha * p_;
    r_ -= alpha * q_;
    lengths_.push_back(lengths_.back() + alpha * rho);
    const int delay = Delay(++result.iterations);
    precondition(r_, &z_);
    const double next = r_.dot(z_);
    result.converged = next <= least;
    if (result.iterations > delay) {
      const double total = lengths_.back(), error = total - lengths_[result.iterations - delay];
      result.converged |= error <= tolerance * tolerance * total;
    }
    p_ = z_ + (next / rho) * p_;
    rho = next;
  }
  result.converged = result.converged && std::isfinite(lengths_.back());
  return result;
}

}  // namespace eipc
