#include "sim/energy/friction.h"

#include <algorithm>
#include <cmath>

#include "sim/base/ordered_loop.h"

namespace eipc {
namespace {

constexpr int64_t kChunk = 64;  // of stencils, of which each is little work

}  // namespace

void FrictionTerm::KeepTurns() {
  for (const FrictionStencil& f : stencils_) {
    const auto place = std::lower_bound(kept_.begin(), kept_.end(), f.v, [](const Kept& k, const auto& v) { return k.v < v; });
    const bool known = place != kept_.end() && place->v == f.v;
    if (known) place->turn = f.turn;
    if (!known && f.turn.bound > 0) kept_.insert(place, {f.v, f.turn});
  }
}

void FrictionTerm::Lag(const ContactSet& contacts, const std::vector<Vec3>& x, const ContactPotential& potential) {
  KeepTurns();
  stencils_.clear();
  for (const ContactStencil& c : contacts.stencils()) {
    const double mu = pairs_->DynamicCoefficient(c.body_a, c.body_b);
    if (mu <= 0) continue;
    const double normal_force = potential.NormalForce(c, Gather(c.v, x));
    if (!(normal_force > 0)) continue;
    FrictionStencil f;
    f.v = c.v;
    f.w = c.closest.w;
    const Vec3 n = c.closest.e / c.distance;
    f.tangent.col(0) = n.unitOrthogonal();
    f.tangent.col(1) = n.cross(f.tangent.col(0));
    f.limit = mu * normal_force;
    f.law = pairs_->Law(c.body_a, c.body_b);
    f.kind = c.kind;
    f.body_a = c.body_a;
    f.body_b = c.body_b;
    const auto kept = std::lower_bound(kept_.begin(), kept_.end(), f.v, [](const Kept& k, const auto& v) { return k.v < v; });
    if (kept != kept_.end() && kept->v == f.v) f.turn = kept->turn;
    stencils_.push_back(f);
  }
}

void FrictionTerm::BeginStage(const StageContext& stage) {
  epsilon_ = friction_velocity_ * stage.gamma_h;
  gamma_h_ = stage.gamma_h;
  x_tilde_ = &stage.x_tilde;
  for (FrictionStencil& f : stencils_) f.turn = {};
  kept_.clear();
}

Vec2 FrictionTerm::Slip(const FrictionStencil& f, const std::vector<Vec3>& x) const {
  Vec3 u = Vec3::Zero();
  for (int i = 0; i < 4; ++i) u += f.w[i] * (x[f.v[i]] - (*x_tilde_)[f.v[i]]);
  return f.tangent.transpose() * u;
}

double FrictionTerm::Value(const Point& point) {
  double sum = 0;
  ForEachInOrder<double, kChunk>(
      pool_, static_cast<int64_t>(stencils_.size()),
      [&](int64_t i, double* value) {
        const FrictionStencil& f = stencils_[i];
        *value = f.limit * Curve(f.law).Potential(Slip(f, point.x).norm());
      },
      [&](int64_t, double value) { sum += value; });
  return sum;
}

std::array<Vec3, 4> FrictionTerm::Forces(const FrictionStencil& f, const std::vector<Vec3>& x) const {
  const Vec2 u = Slip(f, x);
  const Vec3 force = -f.limit * Curve(f.law).ForceOverY(u.norm()) * (f.tangent * u);
  return {f.w[0] * force, f.w[1] * force, f.w[2] * force, f.w[3] * force};
}

void FrictionTerm::AddGradient(const Point& point, VecX* gradient) {
  ForEachInOrder<Vec12, kChunk>(
      pool_, static_cast<int64_t>(stencils_.size()),
      [&](int64_t i, Vec12* g) {
        const std::array<Vec3, 4> forces = Forces(stencils_[i], point.x);
        *g << -forces[0], -forces[1], -forces[2], -forces[3];
      },
      [&](int64_t i, const Vec12& g) { map_->AddGradient(stencils_[i].v, g, gradient); });
}

double FrictionTerm::ObserveDirection(const Point& point, const VecX& direction) {
  double fastest = 0;
  for (FrictionStencil& f : stencils_) {
    const Vec2 u = Slip(f, point.x);
    if (u.norm() <= epsilon_) {
      f.turn = {};
      continue;
    }
    const Vec12 moves = map_->Directions(f.v, direction);
    Vec3 move = Vec3::Zero();
    for (int i = 0; i < 4; ++i) move += f.w[i] * moves.segment<3>(3 * i);
    const Vec2 du = f.tangent.transpose() * move;
    if (f.turn.bound > 0) fastest = std::max(fastest, u.norm() / gamma_h_);
    f.turn.Observe(u.dot(du) / u.squaredNorm());
  }
  return fastest;
}

// H = limit [f1/y (I - uu^T/y^2) + f1' uu^T/y^2]: f1' is negative only where static friction yields, and is left out. That of the
// paraboloid above is limit f1/y I.
Mat3 FrictionTerm::Stiffness(const FrictionStencil& f, const std::vector<Vec3>& x) const {
  const Vec2 u = Slip(f, x);
  const double y = u.norm();
  const Vec2 along = y > 0 ? Vec2(u / y) : Vec2(1, 0);
  const Vec2 across(-along.y(), along.x());
  const FrictionCurve curve = Curve(f.law);
  const Vec3 a = f.tangent * along, b = f.tangent * across;
  const double secant = std::max(0.0, f.limit * curve.ForceOverY(y));
  const double slope = std::max(f.turn.bound * secant, f.limit * curve.Slope(y));
  return slope * a * a.transpose() + secant * b * b.transpose();
}

void FrictionTerm::AddHessian(const Point& point, BlockMatrix* hessian) {
  ForEachInOrder<Mat3, kChunk>(
      pool_, static_cast<int64_t>(stencils_.size()), [&](int64_t i, Mat3* d) { *d = Stiffness(stencils_[i], point.x); },
      [&](int64_t i, const Mat3& d) { map_->AddHessian(stencils_[i].v, stencils_[i].w, d, hessian); });
}

}  // namespace eipc
