#include "sim/energy/barrier.h"

#include <array>

#include "sim/base/ordered_loop.h"
#include "sim/geometry/distance.h"

namespace eipc {
namespace {

constexpr int64_t kChunk = 8;  // of stencils: 9 KiB of factors

}  // namespace

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
  ForEachInOrder<StencilFactor, kChunk>(
      pool_, static_cast<int64_t>(stencils.size()),
      [&](int64_t i, StencilFactor* factor) { *factor = potential_.Factor(stencils[i], Gather(stencils[i].v, point.x), kind); },
      [&](int64_t i, const StencilFactor& factor) { map_->AddHessian(stencils[i].v, factor, hessian); });
}

// Along the path a distance changes by grad d . J dq + c, where the Hessian only knows the first: the quadratic model of the
// barrier of d + grad d . J dq + c has the gradient of that without c and kappa w m b''(d) c grad d. Where c > 0, surfaces part
// more than the model says, and nothing needs to be mended.
bool BarrierTerm::AddCurvature(const Point& point, const VecX& dq, const VecX& end, VecX* gradient) const {
  bool any = false;
  for (const ContactStencil& s : contacts_->stencils()) {
    if (s.weight <= 0) continue;
    std::array<Vec3, 4> x;
    for (int i = 0; i < 4; ++i) x[i] = map_->Position(end, s.v[i]);
    const std::array<Vec3, 4> grad = DistanceGradient(s.closest);
    const double curvature = SpannedDistance(s.closest, x) - (s.distance - map_->Closing(s.v, grad, dq));
    if (!(curvature < 0)) continue;
    any = true;
    const double force = curvature * potential_.NormalStiffness(s, Gather(s.v, point.x));
    for (int i = 0; i < 4; ++i) map_->AddVertexGradient(s.v[i], force * grad[i], gradient);
  }
  return any;
}

}  // namespace eipc
