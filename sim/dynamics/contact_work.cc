#include "sim/dynamics/contact_work.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/contact/contact_potential.h"

namespace eipc {

ContactWork::ContactWork(const Model* model, StageProblem* problem, const Accelerations* accelerations)
    : model_(model), problem_(problem), accelerations_(accelerations), frames_(model, &problem->map()) {}

void ContactWork::Account::Add(const Account& other) {
  start += other.start, end += other.end;
  paid += other.paid, rubbed += other.rubbed, exchanged += other.exchanged;
  kinetic_before += other.kinetic_before, kinetic_after += other.kinetic_after;
  driven += other.driven, pressed += other.pressed;
}

template <typename Set>
void ContactWork::Keep(double share, const Set& set) {
  const ContactPotential& barrier = problem_->contact_potential();
  for (const ContactStencil& s : problem_->contacts().stencils()) {
    const StencilPositions positions = Gather(s.v, problem_->x());
    frames_.Add(s, share * std::abs(barrier.NormalForce(s, positions)));
    touches_.push_back({s.v, s.closest.w, s.body_a, s.body_b});
    set(s, positions, &touches_.back());
  }
}

void ContactWork::Begin(const State& from) {
  touches_.clear();
  frames_.Clear();
  problem_->SetPoint(from.q);
  const double stiffness = problem_->contact_potential().stiffness();
  Keep(1, [&](const ContactStencil& s, const StencilPositions& x, Touch* touch) {
    touch->start = stiffness * ContactPotential::ValuePerStiffness(s, x);
  });
  kicks_.setZero(from.q.size());
  friction_.setZero(from.q.size());
}

void ContactWork::AddKick(double kick) {
  if (kick == 0 || problem_->contacts().stencils().empty()) return;
  const ContactPotential& barrier = problem_->contact_potential();
  Keep(kick,
       [&](const ContactStencil& s, const StencilPositions& x, Touch* touch) { touch->contact = kick * barrier.Gradient(s, x); });
  product_.setZero(kicks_.size());
  problem_->BarrierGradient(&product_);
  kicks_ += kick * product_;
  product_.setZero(kicks_.size());
  problem_->FrictionGradient(&product_);
  friction_ += kick * product_;
  KeepFriction(kick);
}

void ContactWork::KeepFriction(double kick) {
  const FrictionTerm& friction = problem_->friction();
  for (const FrictionStencil& f : friction.stencils()) {
    frames_.AddTouch(f.v, f.w, f.body_a, f.body_b);
    Touch& touch = touches_.emplace_back(Touch{f.v, f.w, f.body_a, f.body_b});
    const std::array<Vec3, 4> forces = friction.Forces(f, problem_->x());
    for (int i = 0; i < 4; ++i) touch.friction.segment<3>(3 * i) = -kick * forces[i];
  }
}

void ContactWork::MeanVelocity(const Part& part, VecX* v) const {
  *v = 0.5 * (part.from.v + part.to.v);
  for (size_t n = 0; n < part.fixed.size(); ++n) {
    if (part.fixed[n]) v->segment<3>(3 * n) = (part.to.q.segment<3>(3 * n) - part.from.q.segment<3>(3 * n)) / part.dt_s;
  }
}

// v_ is the mean velocity. Pairs whose both sides are prescribed move nothing.
void ContactWork::Book(const Part& part) {
  accounts_.assign(model_->bodies.size(), {});
  for (const Touch& touch : touches_) {
    const bool a = frames_.IsFree(touch.v, touch.w, 1), b = frames_.IsFree(touch.v, touch.w, -1);
    if (!a && !b) continue;
    Account& account = accounts_[a ? touch.body_a : touch.body_b];
    const Vec12 moved = part.dt_s * problem_->map().Directions(touch.v, v_);
    account.start += touch.start;
    account.end += touch.end;
    account.paid += touch.contact.dot(moved);
    account.rubbed += touch.friction.dot(moved);
  }
}

// v_ is the mean velocity.
void ContactWork::AddExchange(const Part& part, double tolerance_m_s) {
  frames_.ForEachDriven([this](int32_t b, double speed) { accounts_[b].fastest = std::max(accounts_[b].fastest, speed); });
  for (size_t b = 0; b < accounts_.size(); ++b) {
    const auto body = static_cast<int32_t>(b);
    if (!frames_.Touches(body)) continue;
    Account& account = accounts_[b];
    const double speed = account.fastest + tolerance_m_s;
    account.driven = 0.5 * frames_.FreeMass(body) * speed * speed;
    for (int32_t n = model_->bodies[b].nodes.begin; n < model_->bodies[b].nodes.end; ++n) {
      if (part.fixed[n]) continue;
      const Vec3 beside = part.dt_s * (v_.segment<3>(3 * n) - frames_.Velocity(body));
      account.exchanged += std::abs(kicks_.segment<3>(3 * n).dot(beside)) + std::abs(friction_.segment<3>(3 * n).dot(beside));
    }
  }
}

// Of the impulses p = M dv + h g of all forces but contact and friction, over the bodies that joints hold together: those of joints
// and of elasticity cancel.
void ContactWork::AddPressed(const Part& part, double kicks) {
  product_ = part.to.v - part.from.v;
  accelerations_->MassTimes(product_, &impulse_);
  impulse_ += part.dt_s * (kicks_ + friction_);
  pressed_.assign(accounts_.size(), {});
  for (size_t b = 0; b < accounts_.size(); ++b) {
    const auto body = static_cast<int32_t>(b);
    if (!frames_.Touches(body)) continue;
    Press& press = pressed_[islands_.Of(body)];
    press.mass += frames_.FreeMass(body);
    for (int32_t n = model_->bodies[b].nodes.begin; n < model_->bodies[b].nodes.end; ++n) {
      if (!part.fixed[n]) press.impulse += impulse_.segment<3>(3 * n);
    }
  }
  for (size_t b = 0; b < accounts_.size(); ++b) {
    const Press& press = pressed_[b];
    if (press.mass > 0) accounts_[b].pressed = kicks * 0.5 * press.impulse.squaredNorm() / press.mass;
  }
}

void ContactWork::AddKinetic(const Part& part, const VecX& v, double Account::*kinetic) {
  v_.setZero(v.size());
  const auto for_free = [&](const auto& visit) {
    for (size_t b = 0; b < accounts_.size(); ++b) {
      const IndexRange& nodes = model_->bodies[b].nodes;
      for (int32_t n = nodes.begin; Touches(b) && n < nodes.end; ++n) {
        if (!part.fixed[n]) visit(b, n);
      }
    }
  };
  for_free([&](size_t b, int32_t n) { v_.segment<3>(3 * n) = v.segment<3>(3 * n) - frames_.Velocity(static_cast<int32_t>(b)); });
  accelerations_->MassTimes(v_, &product_);
  for_free([&](size_t b, int32_t n) { accounts_[b].*kinetic += 0.5 * v_.segment<3>(3 * n).dot(product_.segment<3>(3 * n)); });
}

void ContactWork::JoinGroups(const Part& part, double kicks) {
  islands_.Reset(static_cast<int32_t>(accounts_.size()));
  const auto join = [this](int32_t a, int32_t b) { islands_.Join(a, b); };
  frames_.ForEachHeld(join);
  AddPressed(part, kicks);
  frames_.ForEachFreePair(join);
  for (size_t b = 0; b < accounts_.size(); ++b) {
    const auto group = static_cast<size_t>(islands_.Of(static_cast<int32_t>(b)));
    if (group != b) accounts_[group].Add(accounts_[b]);
  }
}

bool ContactWork::MadeTooMuch(const Part& part, const Allowance& allowance) {
  constexpr double kRounding = 1e3 * std::numeric_limits<double>::epsilon();
  const double stiffness = problem_->contact_potential().stiffness();
  Keep(1, [&](const ContactStencil& s, const StencilPositions& x, Touch* touch) {
    touch->end = stiffness * ContactPotential::ValuePerStiffness(s, x);
  });
  if (touches_.empty()) return false;
  frames_.SetFixed(&part.fixed);
  MeanVelocity(part, &v_);
  frames_.Find(v_);
  Book(part);
  AddExchange(part, allowance.tolerance_m_s);
  AddKinetic(part, part.from.v, &Account::kinetic_before);
  AddKinetic(part, part.to.v, &Account::kinetic_after);
  JoinGroups(part, allowance.kicks);
  const double coordinates = kicks_.lpNorm<1>() * part.to.q.lpNorm<Eigen::Infinity>();
  for (size_t b = 0; b < accounts_.size(); ++b) {
    if (islands_.Of(static_cast<int32_t>(b)) != static_cast<int32_t>(b)) continue;
    const Account& a = accounts_[b];
    const double moving = std::max({a.kinetic_before, a.kinetic_after, a.driven});
    const double made = a.end - a.start - a.paid + std::max(0.0, -a.rubbed);
    if (!(made <= allowance.share * (moving + a.exchanged) + a.pressed + kRounding * (std::max(a.start, a.end) + coordinates)))
      return true;
  }
  return false;
}

}  // namespace eipc
