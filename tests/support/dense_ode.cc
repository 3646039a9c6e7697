#include "tests/support/dense_ode.h"

#include <Eigen/LU>
#include <cmath>
#include <vector>

namespace eipc::testing {
namespace {

VecX Of(double value) { return VecX::Constant(1, value); }
MatX Matrix(double value) { return MatX::Constant(1, 1, value); }

}  // namespace

DenseProblem Dahlquist(double real, double imaginary) {
  MatX a(2, 2);
  a << real, -imaginary, imaginary, real;
  return {.first_order = true,
          .mass = {},
          .force = [a](const VecX& q, const VecX&) { return VecX(a * q); },
          .force_by_q = [a](const VecX&, const VecX&) { return a; },
          .force_by_v = {}};
}

DenseProblem Oscillator(double omega, double damping) {
  return {.first_order = false,
          .mass = Matrix(1),
          .force = [=](const VecX& q, const VecX& v) { return VecX(-omega * omega * q - damping * v); },
          .force_by_q = [=](const VecX&, const VecX&) { return Matrix(-omega * omega); },
          .force_by_v = [=](const VecX&, const VecX&) { return Matrix(-damping); }};
}

DenseProblem Pendulum(double gravity, double length) {
  const double k = gravity / length;
  return {.first_order = false,
          .mass = Matrix(1),
          .force = [k](const VecX& q, const VecX&) { return Of(-k * std::sin(q[0])); },
          .force_by_q = [k](const VecX& q, const VecX&) { return Matrix(-k * std::cos(q[0])); },
          .force_by_v = [](const VecX&, const VecX&) { return Matrix(0); }};
}

DenseRun::DenseRun(const DenseProblem* problem, const Scheme& scheme, const VecX& q, const VecX& v)
    : problem_(problem), scheme_(scheme), q_(q), v_(v) {}

void DenseRun::SetPast(double dt_s, const std::vector<VecX>& q, const std::vector<VecX>& v) {
  past_.clear();
  for (size_t j = 0; j < q.size(); ++j) past_.push_back({q[j], v[j], dt_s});
}

VecX DenseRun::Force(const VecX& q, const VecX& v) {
  ++evaluations_;
  return problem_->force(q, v);
}

// Newton to rounding. The unknown is the rate: v, of which y = q_hat + a h v.
void DenseRun::Reach(const SchemePoint& point, double dt_s, VecX* q, VecX* v, VecX* force) {
  constexpr int kMaxIterations = 60;
  const SchemeRow& row = point.row;
  const double ah = row.a * dt_s, bh = row.b * dt_s;
  const bool first_order = problem_->first_order;
  const auto accelerate = [&](const VecX& y, const VecX& rate) {
    VecX f = Force(y, rate);
    if (!first_order) f = problem_->mass.partialPivLu().solve(f);
    return f;
  };
  if (first_order ? row.a == 0 : !row.solved()) {
    *q = point.q_hat;
    if (!first_order && row.a > 0) *q += ah * point.v_hat;
    const VecX f = accelerate(*q, point.v_hat);
    *v = first_order ? f : VecX(point.v_hat + bh * f);
    *force = f;
    return;
  }
  *v = first_order ? accelerate(point.q_hat, point.v_hat) : point.v_hat;
  double last = 0;
  for (int k = 0; k < kMaxIterations; ++k) {
    *q = point.q_hat + ah * *v;
    ++solves_;
    VecX residual;
    MatX jacobian;
    if (first_order) {
      residual = *v - Force(*q, *v);
      jacobian = MatX::Identity(v->size(), v->size()) - ah * problem_->force_by_q(*q, *v);
    } else {
      residual = problem_->mass * (*v - point.v_hat) - bh * Force(*q, *v);
      jacobian = problem_->mass - bh * (ah * problem_->force_by_q(*q, *v) + problem_->force_by_v(*q, *v));
    }
    const VecX update = jacobian.partialPivLu().solve(residual);
    *v -= update;
    const double size = update.norm();
    if (size == 0 || (k > 1 && size >= 0.5 * last && size <= 1e-10 * v->norm())) break;
    last = size;
  }
  *q = point.q_hat + ah * *v;
  *force = accelerate(*q, *v);
}

void DenseRun::Step(double dt_s) {
  std::vector<SchemeState> past;
  for (const Past& p : past_) past.push_back({&p.q, &p.v, p.dt_s});
  const SchemeState start = {&q_, &v_, dt_s};
  run_.Begin(scheme_, dt_s, start, past);
  SchemePoint point;
  while (!run_.Done()) {
    run_.Prepare(&point);
    VecX q, v, force;
    Reach(point, dt_s, &q, &v, &force);
    run_.Accept(q, v);
    if (run_.NeedsForce()) run_.SetForce(force);
  }
  VecX q, v;
  run_.End(&q, &v);
  past_.push_front({q_, v_, dt_s});
  if (static_cast<int>(past_.size()) > kMaxHistory - 1) past_.pop_back();
  q_ = q;
  v_ = v;
}

}  // namespace eipc::testing
