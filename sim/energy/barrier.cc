#include "sim/energy/barrier.h"

namespace eipc {

double BarrierTerm::Value(const Point& point) {
  return potential_.stiffness() * ContactPotential::ValuePerStiffness(*contacts_, point.x);
}

void BarrierTerm::AddGradient(const Point& point, VecX* gradient) {
  for (const ContactStencil& s : contacts_->stencils()) {
    map_->AddGradient(s.v, potential_.Gradient(s, Gather(s.v, point.x)), gradient);
  }
}

void BarrierTerm::AddHessian(const Point& point, BlockMatrix* hessian) {
  const std::vector<ContactStencil>& stencils = contacts_->stencils();
  const HessianKind kind = exact_ ? HessianKind::kExact : HessianKind::kSemidefinite;
  if (factors_.size() < stencils.size()) factors_.resize(stencils.size());
  pool_->ParallelFor(static_cast<int64_t>(stencils.size()), 16, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) factors_[i] = potential_.Factor(stencils[i], Gather(stencils[i].v, point.x), kind);
  });
  for (size_t i = 0; i < stencils.size(); ++i) map_->AddHessian(stencils[i].v, factors_[i], hessian);
}

}  // namespace eipc
