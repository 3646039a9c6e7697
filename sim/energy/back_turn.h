#ifndef EIPC_SIM_ENERGY_BACK_TURN_H_
#define EIPC_SIM_ENERGY_BACK_TURN_H_

#include <algorithm>
#include <cmath>

namespace eipc {

// How Newton's method sees a slip that it takes back. A slip u beyond the threshold has no curvature along itself, so nothing tells
// a direction that would take it through rest to the other side that it is resisted there, and the line search then cuts the whole
// direction for the sake of one contact. From then on the Hessian of that contact has along u a part `bound` of the curvature
// F'(y)/y of the paraboloid that touches F0 at u and lies above it (theory.md, eq. 16a); 0 means its own.
struct BackTurn {
  double bound = 0;

  // `along`: u . du / u^2 of the direction du that was found with this bound. The first bound is the whole paraboloid. With that
  // alone a slip that ends at rest shrinks by a constant factor, which may be near 1: the direction says that a part
  // bound * -along of the curvature would have taken it to rest, and the next bound is the root of that, halfway between the two.
  // Directions that hardly change the slip, or make it grow, give the Hessian its own curvature back.
  void Observe(double along) {
    constexpr double kLeast = 0.03;
    if (bound == 0) {
      bound = along < -1 ? 1 : 0;
      return;
    }
    const double to_rest = bound * -along;
    bound = to_rest >= kLeast ? std::min(1.0, std::sqrt(to_rest)) : 0;
  }
};

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_BACK_TURN_H_
