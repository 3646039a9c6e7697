#include "sim/dynamics/contact_work.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace eipc {

void ContactWork::Begin(const State& from) {
  touched_ = false;
  body_touch_.assign(model_->bodies.size(), 0);
  problem_->SetPoint(from.q);
  Touch();
  start_ = problem_->BarrierEnergy();
  kicks_.setZero(from.q.size());
  friction_.setZero(from.q.size());
}

void ContactWork::Touch() {
  for (const ContactStencil& s : problem_->contacts().stencils()) {
    touched_ = true;
    body_touch_[s.body_a] = body_touch_[s.body_b] = 1;
  }
}

void ContactWork::AddKick(double kick) {
  if (kick == 0 || problem_->contacts().stencils().empty()) return;
  Touch();
  product_.setZero(kicks_.size());
  problem_->BarrierGradient(&product_);
  kicks_ += kick * product_;
  product_.setZero(kicks_.size());
  problem_->FrictionGradient(&product_);
  friction_ += kick * product_;
}

void ContactWork::KeepFreeThatTouch(const std::vector<uint8_t>& fixed, VecX* v) const {
  for (size_t b = 0; b < model_->bodies.size(); ++b) {
    const Body& body = model_->bodies[b];
    for (int32_t n = body.nodes.begin; n < body.nodes.end; ++n) {
      if (!body_touch_[b] || fixed[n]) v->segment<3>(3 * n).setZero();
    }
  }
}

double ContactWork::Kinetic(const VecX& v, const Vec3& common, const std::vector<uint8_t>& fixed) {
  v_ = v;
  for (Eigen::Index n = 0; n < v_.size() / 3; ++n) v_.segment<3>(3 * n) -= common;
  KeepFreeThatTouch(fixed, &v_);
  accelerations_->MassTimes(v_, &product_);
  return 0.5 * v_.dot(product_);
}

Vec3 ContactWork::Displacement(const Part& part, size_t node) const {
  const auto of = [node](const VecX& x) { return x.segment<3>(3 * node); };
  if (part.fixed[node]) return of(part.to.q) - of(part.from.q);
  return 0.5 * part.dt_s * (of(part.from.v) + of(part.to.v));
}

// Mean velocity of prescribed nodes weighted by contact's forces on them, static bodies among them: what forces on nodes lack to be
// zero in sum acts on those. Where no prescribed body touches, that of the free nodes, weighted by their mass.
Vec3 ContactWork::CommonVelocity(const Part& part) {
  v_ = kicks_;
  problem_->BarrierGradient(&v_);  // at the end: of what no point has seen
  Vec3 sum = Vec3::Zero(), moved = Vec3::Zero();
  double weight = 0, all = 0;
  for (size_t n = 0; n < part.fixed.size(); ++n) {
    const Vec3 force = v_.segment<3>(3 * n);
    sum += force;
    all += force.norm();
    if (!part.fixed[n]) continue;
    weight += force.norm();
    moved += force.norm() * Displacement(part, n);
  }
  weight += sum.norm();
  constexpr double kNone = 1e-9;  // what is left of forces between free bodies
  if (weight > kNone * all) return moved / (weight * part.dt_s);
  v_ = 0.5 * (part.from.v + part.to.v);
  accelerations_->MassTimes(v_, &product_);
  KeepFreeThatTouch(part.fixed, &product_);
  Vec3 momentum = Vec3::Zero(), mass = Vec3::Zero();
  for (size_t n = 0; n < part.fixed.size(); ++n) momentum += product_.segment<3>(3 * n);
  v_.setOnes();
  accelerations_->MassTimes(v_, &product_);
  KeepFreeThatTouch(part.fixed, &product_);
  for (size_t n = 0; n < part.fixed.size(); ++n) mass += product_.segment<3>(3 * n);
  return mass.x() > 0 ? Vec3(momentum / mass.x()) : Vec3(Vec3::Zero());
}

bool ContactWork::MadeTooMuch(const Part& part, double share, double tolerance_m_s) {
  constexpr double kRounding = 1e3 * std::numeric_limits<double>::epsilon();
  Touch();
  if (!touched_) return false;
  const Vec3 common = CommonVelocity(part);
  double paid = 0, rubbed = 0, exchanged = 0, fastest = 0;
  for (size_t b = 0; b < model_->bodies.size(); ++b) {
    if (!body_touch_[b]) continue;
    const Body& body = model_->bodies[b];
    for (int32_t n = body.nodes.begin; n < body.nodes.end; ++n) {
      const Vec3 force = kicks_.segment<3>(3 * n), friction = friction_.segment<3>(3 * n), dq = Displacement(part, n);
      paid += force.dot(dq);
      rubbed += friction.dot(dq);
      const Vec3 beside = dq - part.dt_s * common;
      exchanged += std::abs(force.dot(beside)) + std::abs(friction.dot(beside));
      if (part.fixed[n]) fastest = std::max(fastest, beside.norm() / part.dt_s);
    }
  }
  const double end = problem_->BarrierEnergy();
  const double driven = fastest + tolerance_m_s;
  v_ = VecX::Zero(kicks_.size());
  const double moving = std::max({Kinetic(part.from.v, common, part.fixed), Kinetic(part.to.v, common, part.fixed),
                                  Kinetic(v_, Vec3(driven, 0, 0), part.fixed)});
  const double rounding = kRounding * (std::max(start_, end) + kicks_.lpNorm<1>() * part.to.q.lpNorm<Eigen::Infinity>());
  return end - start_ - paid + std::max(0.0, -rubbed) > share * (moving + exchanged) + rounding;
}

}  // namespace eipc
