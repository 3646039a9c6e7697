#ifndef EIPC_SIM_SOLVER_UPDATE_ERROR_H_
#define EIPC_SIM_SOLVER_UPDATE_ERROR_H_

#include <algorithm>
#include <limits>

namespace eipc {

// The error that is left after an update, estimated from the update before it (zero: not comparable). With theta the ratio of the
// two, a sequence that converges linearly or faster ends within update theta / (1 - theta) (Hairer & Wanner, Solving ODEs II,
// IV.8). Near a saddle Newton's updates are small too but do not shrink; they count in full. theta is taken as at least 0.1,
// because the stiff parts of the error vanish first and the soft ones may then shrink slowly (Hessians are projected). Updates of
// conjugate gradients, or with a matrix that is kept (simplified Newton), tell less: slender bodies were seen to be off by tens of
// the tolerance that they were compared with.
inline double ErrorAfter(double update, double previous) {
  const double theta = previous > 0 ? std::max(0.1, update / previous) : 1;
  return theta < 0.5 ? update * theta / (1 - theta) : update;
}

// The same from the update that would come next, where the Hessian is not exact (NewtonProblem::InexactHessian), after `taken`
// times the last one: both are the same share c of the errors before and after, so that update / c - taken update = next / c. Where
// c is far from 1 other parts of the error have a smaller one, which a few updates do not show: projected Hessians of a nearly
// incompressible body were seen to leave 0.8 of the error once the next update was 0.4 of the last.
inline double ErrorBefore(double next, double update, double taken) {
  constexpr double kMostOfIt = 0.65, kLeast = 0.25;
  if (next == 0) return 0;
  if (!(next < update)) return std::numeric_limits<double>::infinity();
  const double share = (1 - next / update) / taken;
  return next / (share < kMostOfIt ? std::min(share, kLeast) : share);
}

// How often a solve goes on because of it.
inline constexpr int kMostDenials = 3;

// Whether an inexact Hessian can have left more than the tolerance after this update. Where it is of the size of rounding, the next
// one says nothing.
inline bool MayHide(double update, double tolerance) { return update > 1e-3 * tolerance; }

// A Hessian that is held from an earlier point (held_hessian.h) is not worth it where updates shrink by less.
inline constexpr double kShrinksWithHeld = 0.1;

}  // namespace eipc

#endif  // EIPC_SIM_SOLVER_UPDATE_ERROR_H_
