#include "sim/dynamics/contact_work.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/contact/contact_potential.h"

namespace eipc {
namespace {

bool HasNodes(const Body& body) { return body.nodes.begin < body.nodes.end; }

}  // namespace

ContactWork::ContactWork(const Model* model, StageProblem* problem, const Accelerations* accelerations)
    : model_(model), problem_(problem), accelerations_(accelerations), frames_(model, &problem->map()) {}

void ContactWork::Account::Add(const Account& other) {
  start += other.start, end += other.end;
  paid += other.paid, rubbed += other.rubbed, exchanged += other.exchanged;
  kinetic_before += other.kinetic_before, kinetic_after += other.kinetic_after;
  mass += other.mass, fastest = std::max(fastest, other.fastest);
}

void ContactWork::Begin(const State& from) {
  const size_t bodies = model_->bodies.size();
  islands_.Reset(static_cast<int32_t>(bodies));
  touches_.assign(bodies, 0);
  accounts_.assign(bodies, {});
  frames_.Clear();
  problem_->SetPoint(from.q);
  Touch(1, &Account::start);
  kicks_.setZero(from.q.size());
  friction_.setZero(from.q.size());
}

void ContactWork::Touch(double share, double Account::*potential) {
  const ContactPotential& barrier = problem_->contact_potential();
  for (const ContactStencil& s : problem_->contacts().stencils()) {
    touches_[s.body_a] = touches_[s.body_b] = 1;
    const bool a = HasNodes(model_->bodies[s.body_a]), b = HasNodes(model_->bodies[s.body_b]);
    if (a && b) islands_.Join(s.body_a, s.body_b);
    const StencilPositions positions = Gather(s.v, problem_->x());
    frames_.Add(s, share * std::abs(barrier.NormalForce(s, positions)));
    if (potential == nullptr) continue;
    accounts_[a ? s.body_a : s.body_b].*potential += barrier.stiffness() * ContactPotential::ValuePerStiffness(s, positions);
  }
}

void ContactWork::AddKick(double kick) {
  if (kick == 0 || problem_->contacts().stencils().empty()) return;
  Touch(kick, nullptr);
  product_.setZero(kicks_.size());
  problem_->BarrierGradient(&product_);
  kicks_ += kick * product_;
  product_.setZero(kicks_.size());
  problem_->FrictionGradient(&product_);
  friction_ += kick * product_;
}

void ContactWork::MeanVelocity(const Part& part, VecX* v) const {
  *v = 0.5 * (part.from.v + part.to.v);
  for (size_t n = 0; n < part.fixed.size(); ++n) {
    if (part.fixed[n]) v->segment<3>(3 * n) = (part.to.q.segment<3>(3 * n) - part.from.q.segment<3>(3 * n)) / part.dt_s;
  }
}

// v_ is the mean velocity.
void ContactWork::AddWork(const Part& part) {
  for (size_t b = 0; b < accounts_.size(); ++b) {
    if (!touches_[b]) continue;
    Account& account = accounts_[b];
    const IndexRange& nodes = model_->bodies[b].nodes;
    for (int32_t n = nodes.begin; n < nodes.end; ++n) {
      const Vec3 force = kicks_.segment<3>(3 * n), friction = friction_.segment<3>(3 * n), v = v_.segment<3>(3 * n);
      account.paid += part.dt_s * force.dot(v);
      account.rubbed += part.dt_s * friction.dot(v);
      if (part.fixed[n]) continue;
      const Vec3 beside = v - frames_.Velocity(static_cast<int32_t>(b));
      account.exchanged += part.dt_s * (std::abs(force.dot(beside)) + std::abs(friction.dot(beside)));
    }
    account.mass = frames_.FreeMass(static_cast<int32_t>(b));
  }
  frames_.ForEachDriven([this](int32_t b, double speed) { accounts_[b].fastest = std::max(accounts_[b].fastest, speed); });
}

void ContactWork::AddKinetic(const Part& part, const VecX& v, double Account::*kinetic) {
  v_.setZero(v.size());
  const auto for_free = [&](const auto& visit) {
    for (size_t b = 0; b < accounts_.size(); ++b) {
      const IndexRange& nodes = model_->bodies[b].nodes;
      for (int32_t n = nodes.begin; touches_[b] && n < nodes.end; ++n) {
        if (!part.fixed[n]) visit(b, n);
      }
    }
  };
  for_free([&](size_t b, int32_t n) { v_.segment<3>(3 * n) = v.segment<3>(3 * n) - frames_.Velocity(static_cast<int32_t>(b)); });
  accelerations_->MassTimes(v_, &product_);
  for_free([&](size_t b, int32_t n) { accounts_[b].*kinetic += 0.5 * v_.segment<3>(3 * n).dot(product_.segment<3>(3 * n)); });
}

bool ContactWork::MadeTooMuch(const Part& part, double share, double tolerance_m_s) {
  constexpr double kRounding = 1e3 * std::numeric_limits<double>::epsilon();
  Touch(1, &Account::end);
  frames_.SetFixed(&part.fixed);
  MeanVelocity(part, &v_);
  frames_.Find(v_);
  AddWork(part);
  AddKinetic(part, part.from.v, &Account::kinetic_before);
  AddKinetic(part, part.to.v, &Account::kinetic_after);
  for (size_t b = 0; b < accounts_.size(); ++b) {
    const auto group = static_cast<size_t>(islands_.Of(static_cast<int32_t>(b)));
    if (group != b) accounts_[group].Add(accounts_[b]);
  }
  const double coordinates = kicks_.lpNorm<1>() * part.to.q.lpNorm<Eigen::Infinity>();
  for (size_t b = 0; b < accounts_.size(); ++b) {
    if (islands_.Of(static_cast<int32_t>(b)) != static_cast<int32_t>(b)) continue;
    const Account& a = accounts_[b];
    const double driven = a.fastest + tolerance_m_s;
    const double moving = std::max({a.kinetic_before, a.kinetic_after, 0.5 * a.mass * driven * driven});
    const double made = a.end - a.start - a.paid + std::max(0.0, -a.rubbed);
    if (made > share * (moving + a.exchanged) + kRounding * (std::max(a.start, a.end) + coordinates)) return true;
  }
  return false;
}

}  // namespace eipc
