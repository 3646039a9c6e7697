#include "sim/energy/friction.h"

#include <algorithm>
#include <cmath>

namespace eipc {

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
  for (const FrictionStencil& f : stencils_) sum += f.limit * Curve(f.law).Potential(Slip(f, point.x).norm());
  return sum;
}

std::array<Vec3, 4> FrictionTerm::Forces(const FrictionStencil& f, const std::vector<Vec3>& x) const {
  const Vec2 u = Slip(f, x);
  const Vec3 force = -f.limit * Curve(f.law).ForceOverY(u.norm()) * (f.tangent * u);
  return {f.w[0] * force, f.w[1] * force, f.w[2] * force, f.w[3] * force};
}

void FrictionTerm::AddGradient(const Point& point, VecX* gradient) {
  for (const FrictionStencil& f : stencils_) {
    const std::array<Vec3, 4> forces = Forces(f, point.x);
    Vec12 g;
    g << -forces[0], -forces[1], -forces[2], -forces[3];
    map_->AddGradient(f.v, g, gradient);
  }
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

void FrictionTerm::AddHessian(const Point& point, BlockMatrix* hessian) {
  for (const FrictionStencil& f : stencils_) {
    const Vec2 u = Slip(f, point.x);
    const double y = u.norm();
    // H = limit [f1/y (I - uu^T/y^2) + f1' uu^T/y^2]: f1' is negative only where static friction yields, and is left out. That of
    // the paraboloid above is limit f1/y I.
    const Vec2 along = y > 0 ? Vec2(u / y) : Vec2(1, 0);
    const Vec2 across(-along.y(), along.x());
    const FrictionCurve curve = Curve(f.law);
    const Vec3 a = f.tangent * along, b = f.tangent * across;
    const double secant = std::max(0.0, f.limit * curve.ForceOverY(y));
    const double slope = std::max(f.turn.bound * secant, f.limit * curve.Slope(y));
    map_->AddHessian(f.v, f.w, slope * a * a.transpose() + secant * b * b.transpose(), hessian);
  }
}

}  // namespace eipc
