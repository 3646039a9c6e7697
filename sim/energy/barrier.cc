#include "sim/energy/barrier.h"

#include <cmath>

namespace eipc {

double BarrierPotential(const ContactSet& contacts, const std::vector<Vec3>& x) {
  double sum = 0;
  for (const ContactStencil& s : contacts.stencils()) sum += s.weight * BarrierStencilValue(s, Gather(s.v, x));
  return sum;
}

double BarrierTerm::Value(const Point& point) { return stiffness_ * BarrierPotential(*contacts_, point.x); }

void BarrierTerm::AddGradient(const Point& point, VecX* gradient) {
  for (const ContactStencil& s : contacts_->stencils()) {
    map_->AddGradient(s.v, stiffness_ * s.weight * BarrierStencilGradient(s, Gather(s.v, point.x)), gradient);
  }
}

void BarrierTerm::AddHessian(const Point& point, BlockMatrix* hessian) {
  const std::vector<ContactStencil>& stencils = contacts_->stencils();
  if (factors_.size() < stencils.size()) factors_.resize(stencils.size());
  pool_->ParallelFor(static_cast<int64_t>(stencils.size()), 16, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      factors_[i] = BarrierStencilFactor(stencils[i], Gather(stencils[i].v, point.x));
      factors_[i].columns.leftCols(factors_[i].rank) *= std::sqrt(stiffness_ * std::abs(stencils[i].weight));
    }
  });
  for (size_t i = 0; i < stencils.size(); ++i) map_->AddHessian(stencils[i].v, factors_[i], hessian);
}

}  // namespace eipc
