#ifndef EIPC_SIM_ENERGY_BARRIER_STENCIL_H_
#define EIPC_SIM_ENERGY_BARRIER_STENCIL_H_

#include <array>

#include "sim/base/types.h"
#include "sim/contact/contact_set.h"
#include "sim/energy/surface_map.h"

namespace eipc {

// The barrier of one stencil, m(c) b(d) per unit stiffness and weight, as a function of its four vertices. m = 1 for
// point-triangle; for edge-edge it is the mollifier of Li et al. 2020, eq. 24, of c = |(a1 - a0) x (b1 - b0)|^2.
struct StencilPositions {
  std::array<Vec3, 4> x;
};

double BarrierStencilValue(const ContactStencil& stencil, const StencilPositions& x);
Vec12 BarrierStencilGradient(const ContactStencil& stencil, const StencilPositions& x);
// Exact Hessian, not projected.
Mat12 BarrierStencilHessian(const ContactStencil& stencil, const StencilPositions& x);
// Factor of the Hessian with its negative eigenvalues removed. Exact: by a (3 + k)-dimensional eigenproblem in the span named in
// distance.h, or by the full 12-dimensional one while the mollifier is at work.
StencilFactor BarrierStencilFactor(const ContactStencil& stencil, const StencilPositions& x);

// m(c) of the stencil: the share of the unmollified normal force, lambda = -kappa w m b'(d).
double MollifierValue(const ContactStencil& stencil, const StencilPositions& x);

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_BARRIER_STENCIL_H_
