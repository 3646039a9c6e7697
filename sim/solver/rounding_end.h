#ifndef EIPC_SIM_SOLVER_ROUNDING_END_H_
#define EIPC_SIM_SOLVER_ROUNDING_END_H_

#include <algorithm>
#include <limits>

#include "sim/base/types.h"

namespace eipc {

// Tells when updates are the rounding of coordinates: small beside the largest of them, and they fall no more, or the line search
// finds no part of one an improvement. Solves end there whose tolerance rounding keeps them from. What a bound hides of the error
// is the caller's. Lengths in m.
class RoundingEnd {
 public:
  // After an update of which collision detection left the fraction `limit` and the line search took `taken`.
  bool Observe(double update, double limit, double taken, const VecX& coordinates) {
    // Forces and linear solves magnify the rounding of a coordinate, hence the factor.
    constexpr double kMagnified = 1e3 * std::numeric_limits<double>::epsilon();
    const bool free = limit >= 1;  // else obstacles made it small, which says nothing
    const bool ended = free && (taken == 0 || (fallen_ > 0 && update >= fallen_));
    fallen_ = free ? (1 - 0.5 * std::min(taken, 1.0)) * update : 0;
    return ended && update <= kMagnified * coordinates.lpNorm<Eigen::Infinity>();
  }

 private:
  double fallen_ = 0;  // what the next update must be below to have fallen: half of what was taken is gone; 0: not comparable
};

// Tells when the energy falls no more: for several iterations in a row by no more than its rounding, or only along a negligible
// part of a move, while updates do not shrink either. Either the forces are rounded (those that pinch a light body may exceed its
// weight by many orders, so that the rounding of their sum moves it), or the energy has an edge there that no direction leads down.
// More iterations change nothing.
class FlatEnd {
 public:
  // After an iteration: the energy and its rounding, J, the largest update, which part of the admissible move was taken, and by how
  // much that move was to lower the energy to first order, J.
  bool Observe(double energy, double rounding, double update, double part, double promise) {
    constexpr int kFew = 8, kMany = 32;
    constexpr double kNothing = 1e-5;  // 17 halvings
    // What is promised below rounding cannot be seen: a light body may well be on its way beside one that stores a lot.
    const int patience = promise > rounding ? kFew : kMany;
    const bool falls = (energy < lowest_ - rounding && part > kNothing) || update < 0.5 * least_;
    since_ = falls ? 0 : since_ + 1;
    if (falls) {
      lowest_ = std::min(lowest_, energy);
      least_ = std::min(least_, update);
    }
    return since_ >= patience;
  }

 private:
  double lowest_ = std::numeric_limits<double>::infinity();
  double least_ = std::numeric_limits<double>::infinity();
  int since_ = 0;  // iterations
};

}  // namespace eipc

#endif  // EIPC_SIM_SOLVER_ROUNDING_END_H_
