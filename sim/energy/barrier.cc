#include "sim/energy/barrier.h"

#include <array>

#include "sim/base/ordered_loop.h"
#include "sim/geometry/distance.h"

namespace eipc {
namespace {

// Of stencils: 9 KiB of factors; gradients and values cost less than what begins and ends a chunk of so few.
constexpr int64_t kFactors = 8, kGradients = 32, kValues = 64;

}  // namespace

double BarrierTerm::Value(const Point& point) {
  const std::vector<ContactStencil>& stencils = contacts_->stencils();
  double sum = 0;
  ForEachInOrder<double, kValues>(
      pool_, static_cast<int64_t>(stencils.size()),
      [&](int64_t i, double* value) { *value = ContactPotential::ValuePerStiffness(stencils[i], Gather(stencils[i].v, point.x)); },
      [&](int64_t, double value) { sum += value; });
  return potential_.stiffness() * sum;
}

void BarrierTerm::AddGradient(const Point& point, VecX* gradient) {
  const std::vector<ContactStencil>& stencils = contacts_->stencils();
  ForEachInOrder<Vec12, kGradients>(
      pool_, static_cast<int64_t>(stencils.size()),
      [&](int64_t i, Vec12* g) { *g = potential_.Gradient(stencils[i], Gather(stencils[i].v, point.x)); },
      [&](int64_t i, const Vec12& g) { map_->AddGradient(stencils[i].v, g, gradient); });
}

void BarrierTerm::AddHessian(const Point& point, BlockMatrix* hessian) {
  const std::vector<ContactStencil>& stencils = contacts_->stencils();
  const HessianKind kind = exact_ ? HessianKind::kExact : HessianKind::kSemidefinite;
  ForEachInOrder<StencilFactor, kFactors>(
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
