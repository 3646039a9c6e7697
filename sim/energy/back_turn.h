#ifndef EIPC_SIM_ENERGY_BACK_TURN_H_
#define EIPC_SIM_ENERGY_BACK_TURN_H_

#include <algorithm>

namespace eipc {

// How Newton's method sees a slip that it takes back. A slip u beyond the threshold has no curvature along itself, so nothing tells
// a direction that would take it through rest to the other side that it is resisted there, and the line search then cuts the whole
// direction for the sake of one contact. From then on the Hessian of that contact has along u a part `bound` of the curvature
// F'(y)/y of the paraboloid that touches F0 at u and lies above it (theory.md, eq. 16a); 0 means its own.
struct BackTurn {
  double bound = 0;
  double to_rest = 1;  // the part with which the last direction would have taken the slip to rest

  // `along`: u . du / u^2 of the direction du that was found with this bound. The first bound is the whole paraboloid, which is
  // safe but slow: the slip shrinks by a constant factor, near 1 where the contact nearly slides. Each direction tells the part
  // that would have done. One that hardly changes the slip, or makes it grow, gives the Hessian its own curvature back.
  void Observe(double along) {
    constexpr double kLeast = 1e-3;
    if (bound == 0) {
      bound = along < -1 ? to_rest : 0;
      return;
    }
    to_rest = along < 0 ? std::clamp(bound * -along, 1e-9, 1.0) : 1;
    bound = along < 0 && to_rest >= kLeast ? to_rest : 0;
  }
};

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_BACK_TURN_H_
