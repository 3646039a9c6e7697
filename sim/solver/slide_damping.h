#ifndef EIPC_SIM_SOLVER_SLIDE_DAMPING_H_
#define EIPC_SIM_SOLVER_SLIDE_DAMPING_H_

#include <algorithm>

namespace eipc {

// Levenberg damping of Newton's directions while collisions cut them short repeatedly.
//
// Along a straight part t of a direction that slides by s past a surface of curvature 1/L, a gap g opens by t g at most (Newton on
// a logarithm doubles it) and closes by t^2 s^2 / (2 L). Taken as far as nothing is met, the closing wins whenever s^2 > 2 g L:
// each iteration halves the gap, and with it what the next one may slide, and nothing ever opens it again. Levenberg's cure: lambda
// times the inertia on the diagonal shortens s but not the answer of stiff contact, as a smaller time step would; gaps then open at
// t = 1 while the slide continues in as many iterations as its curvature needs.
class SlideDamping {
 public:
  double lambda() const { return lambda_; }
  // Whether it damps, or the last direction was cut short as those that it damps after a few.
  bool Expected() const { return lambda_ > 0 || blocked_ > 0; }

  // After an iteration whose direction could be followed up to `limit`, by collision detection and the line search, and was
  // followed up to `taken`.
  void Observe(double limit, double taken) {
    constexpr double kShort = 0.1;
    constexpr int kPatience = 3;
    if (lambda_ > 0) {
      // It rises faster than it falls, so that gaps that have opened do not close again.
      if (taken < 0.5) lambda_ = std::min(1e8, 8 * lambda_);
      if (taken >= 1) lambda_ = lambda_ > 0.5 ? 0.5 * lambda_ : 0;
      return;
    }
    blocked_ = limit < kShort ? blocked_ + 1 : 0;
    if (blocked_ >= kPatience) lambda_ = 1;
  }
  // Ends the damping: convergence must be confirmed without it.
  void Release() { lambda_ = 0, blocked_ = 0; }

 private:
  double lambda_ = 0;
  int blocked_ = 0;
};

}  // namespace eipc

#endif  // EIPC_SIM_SOLVER_SLIDE_DAMPING_H_
