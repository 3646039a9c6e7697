#include "sim/contact/contact_potential.h"

#include <cmath>

#include "sim/contact/barrier_function.h"

namespace eipc {

double ContactPotential::ValuePerStiffness(const ContactStencil& s, const StencilPositions& x) {
  return s.weight * BarrierStencilValue(s, x);
}

double ContactPotential::ValuePerStiffness(const ContactSet& contacts, const std::vector<Vec3>& x) {
  double sum = 0;
  for (const ContactStencil& s : contacts.stencils()) sum += ValuePerStiffness(s, Gather(s.v, x));
  return sum;
}

Vec12 ContactPotential::Gradient(const ContactStencil& s, const StencilPositions& x) const {
  return stiffness_ * s.weight * BarrierStencilGradient(s, x);
}

StencilFactor ContactPotential::Factor(const ContactStencil& s, const StencilPositions& x, HessianKind kind) const {
  StencilFactor factor = BarrierStencilFactor(s, x, kind);
  factor.columns.leftCols(factor.rank + factor.negative) *= std::sqrt(stiffness_ * std::abs(s.weight));
  return factor;
}

double ContactPotential::NormalForce(const ContactStencil& s, const StencilPositions& x) const {
  return -stiffness_ * s.weight * MollifierValue(s, x) * BarrierFirst(s.gap(), s.dhat);
}

// By the product rule; the gradient of the distance d is w_i n by vertex i (sim/geometry/distance.h).
Vec12 ContactPotential::NormalForceGradient(const ContactStencil& s, const StencilPositions& x) const {
  const double b1 = BarrierFirst(s.gap(), s.dhat), b2 = BarrierSecond(s.gap(), s.dhat);
  const Vec3 n = s.closest.e / s.distance;
  Vec12 distance;
  for (int i = 0; i < 4; ++i) distance.segment<3>(3 * i) = s.closest.w[i] * n;
  return -stiffness_ * s.weight * (MollifierValue(s, x) * b2 * distance + b1 * MollifierGradient(s, x));
}

double ContactPotential::NormalStiffness(const ContactStencil& s, const StencilPositions& x) const {
  return stiffness_ * s.weight * MollifierValue(s, x) * BarrierSecond(s.gap(), s.dhat);
}

double ContactPotential::UnitNormalForce(double gap, double dhat) { return -BarrierFirst(gap, dhat); }

}  // namespace eipc
