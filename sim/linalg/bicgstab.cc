#include "sim/linalg/bicgstab.h"

#include <cmath>

namespace eipc {

BiCgStab::Result BiCgStab::Solve(const Operator& add_remainder, const Operator& precondition, const VecX& b, double tolerance,
                                 int max_iterations, VecX* x, const VecX* preconditioned) {
  Result result;
  x->setZero(b.size());
  const double target = tolerance * b.norm();
  r_ = b;
  shadow_ = b;
  p_ = b;
  double rho = shadow_.dot(r_);
  if (r_.norm() <= target) result.converged = true;
  while (!result.converged && result.iterations < max_iterations && !Raised(interrupt_)) {
    ++result.iterations;
    if (result.iterations == 1 && preconditioned != nullptr) {
      p_hat_ = *preconditioned;
    } else {
      precondition(p_, &p_hat_);
    }
    v_ = p_;
    add_remainder(p_hat_, &v_);
    const double along = shadow_.dot(v_);
    if (!(std::abs(along) > 0)) return result;  // breakdown
    const double alpha = rho / along;
    s_ = r_ - alpha * v_;
    *x += alpha * p_hat_;
    if (s_.norm() <= target) {
      result.converged = true;
      return result;
    }
    precondition(s_, &s_hat_);
    t_ = s_;
    add_remainder(s_hat_, &t_);
    const double tt = t_.squaredNorm();
    const double omega = tt > 0 ? t_.dot(s_) / tt : 0;
    *x += omega * s_hat_;
    r_ = s_ - omega * t_;
    result.converged = r_.norm() <= target;
    const double next = shadow_.dot(r_);
    if (!std::isfinite(next) || omega == 0 || rho == 0) return result;
    p_ = r_ + (next / rho) * (alpha / omega) * (p_ - omega * v_);
    rho = next;
  }
  return result;
}

}  // namespace eipc
