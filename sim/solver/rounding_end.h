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
  struct Iteration {
    double energy = 0;    // after it, J
    double rounding = 0;  // of that, J
    double update = 0;    // the largest of a node
    double part = 1;      // of the admissible move that was taken
    double promise = 0;   // by how much that move was to lower the energy to first order, J
    bool damped = false;  // energy may then fall as slowly as it is rounded
  };

  bool Observe(const Iteration& iteration) {
    constexpr double kFew = 8, kMany = 32;
    constexpr double kNothing = 1e-5;  // 17 halvings
    // What is promised below rounding cannot be seen: a light body may well be on its way beside one that stores a lot.
    const double patience = iteration.promise > iteration.rounding ? kFew : kMany;
    const double visible = iteration.damped ? 0 : iteration.rounding;
    const bool falls = (iteration.energy < lowest_ - visible && iteration.part > kNothing) || iteration.update < 0.5 * least_;
    spent_ = falls ? 0 : spent_ + 1 / patience;
    if (falls) {
      lowest_ = std::min(lowest_, iteration.energy);
      least_ = std::min(least_, iteration.update);
    }
    return spent_ >= 1;
  }

 private:
  double lowest_ = std::numeric_limits<double>::infinity();
  double least_ = std::numeric_limits<double>::infinity();
  double spent_ = 0;  // of the patience
};

}  // namespace eipc

#endif  // EIPC_SIM_SOLVER_ROUNDING_END_H_
