#ifndef EIPC_SIM_CONTACT_CONTACT_POTENTIAL_H_
#define EIPC_SIM_CONTACT_CONTACT_POTENTIAL_H_

#include <vector>

#include "sim/base/types.h"
#include "sim/contact/barrier_stencil.h"
#include "sim/contact/contact_set.h"

namespace eipc {

// The contact potential B(x) = kappa sum_k w_k m_k(x) b(d_k(x)) over the active stencils (Li et al. 2020, eq. 5; Du et al. 2025,
// III-B; theory.md, eq. 12): kappa the barrier stiffness (N/m per pair, N/m^3 area weighted), w the stencil's weight, m the
// mollifier of edge pairs. The one place that computes the magnitude of a normal force, lambda_k = -kappa w_k m_k b'(d_k), N, which
// friction takes, and its derivative by the stencil's four vertices. It is negative for a stencil of negative weight, which
// subtracts the feature that two walls of a crease have in common.
//
// Each stencil must be up to date with the positions x.
class ContactPotential {
 public:
  explicit ContactPotential(double stiffness = 0) : stiffness_(stiffness) {}

  double stiffness() const { return stiffness_; }

  // w m b, the energy divided by kappa: m^2 (per pair) or m^4 (area weighted).
  static double ValuePerStiffness(const ContactStencil& stencil, const StencilPositions& x);
  // The sum of these over all stencils.
  static double ValuePerStiffness(const ContactSet& contacts, const std::vector<Vec3>& x);
  // By the four vertices, N.
  Vec12 Gradient(const ContactStencil& stencil, const StencilPositions& x) const;
  // Factors of the Hessian by the four vertices, N/m, or of a positive semidefinite bound of it.
  StencilFactor Factor(const ContactStencil& stencil, const StencilPositions& x, HessianKind kind) const;

  // lambda, N.
  double NormalForce(const ContactStencil& stencil, const StencilPositions& x) const;
  // d lambda / dx, N/m.
  Vec12 NormalForceGradient(const ContactStencil& stencil, const StencilPositions& x) const;
  // -d lambda / dd, N/m: kappa w m b''(d).
  double NormalStiffness(const ContactStencil& stencil, const StencilPositions& x) const;
  // -b'(gap), m: the normal force at this gap of a stencil whose kappa w m is 1.
  static double UnitNormalForce(double gap, double dhat);

 private:
  double stiffness_;
};

// The positions of a stencil's vertices.
inline StencilPositions Gather(const std::array<int32_t, 4>& v, const std::vector<Vec3>& x) {
  return {{x[v[0]], x[v[1]], x[v[2]], x[v[3]]}};
}

}  // namespace eipc

#endif  // EIPC_SIM_CONTACT_CONTACT_POTENTIAL_H_
