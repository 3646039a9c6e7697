#ifndef EIPC_SIM_ENERGY_IMPLICIT_FRICTION_H_
#define EIPC_SIM_ENERGY_IMPLICIT_FRICTION_H_

#include "sim/base/types.h"
#include "sim/contact/contact_potential.h"
#include "sim/energy/friction_curve.h"

namespace eipc {

// Friction of one stencil with contact force, sliding plane, closest points and sliding displacement all of the same positions x
// (Larionov et al. 2023, III-C): with r = sum_i w_i(x) (x_i - x~_i), u = (I - n n^T) r, y = |u|, lambda(x) the normal force,
//     F_i = -w_i mu lambda c(y) / y u,
// N, by the four vertices. No potential has this force; at each x it is the lagged friction force lagged at x.
// `stencil` must be of the positions x.
struct FrictionPoint {
  const ContactStencil& stencil;
  const StencilPositions& x;
  const StencilPositions& x_tilde;
  double mu;  // dynamic coefficient: the curve is in units of it
  const ContactPotential& potential;
  const FrictionCurve& curve;
};

// dF/dx, 12 x 12, exact, not symmetric (N/m).
Mat12 ImplicitFrictionJacobian(const FrictionPoint& point);

// The part of it that remains when lambda, n and w are held, with a falling curve taken as flat: minus the Hessian of the lagged
// potential as FrictionTerm gives it (projected).
Mat12 LaggedFrictionJacobian(const FrictionPoint& point);

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_IMPLICIT_FRICTION_H_
