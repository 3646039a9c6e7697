#include "sim/dynamics/contact_work.h"

#include <algorithm>
#include <cmath>

#include "sim/solver/stacked_nodes.h"

namespace eipc {

void ContactWork::Begin(const State& from) {
  problem_->SetPoint(from.q);
  touched_ = !problem_->contacts().stencils().empty();
  start_ = problem_->BarrierEnergy();
  kicks_.setZero(from.q.size());
}

void ContactWork::AddKick(double kick) {
  if (kick == 0 || problem_->contacts().stencils().empty()) return;
  touched_ = true;
  product_.setZero(kicks_.size());
  problem_->BarrierGradient(&product_);
  kicks_ += kick * product_;
}

double ContactWork::Kinetic(const VecX& v, const std::vector<uint8_t>& fixed) {
  v_ = v;
  ZeroFixed(fixed, &v_);
  accelerations_->MassTimes(v_, &product_);
  return 0.5 * v_.dot(product_);
}

bool ContactWork::MadeTooMuch(const State& from, const State& next, double dt_s, const std::vector<uint8_t>& fixed) {
  constexpr double kShare = 0.01;
  if (!touched_ && problem_->contacts().stencils().empty()) return false;
  double paid = 0, exchanged = 0;
  for (size_t n = 0; n < fixed.size(); ++n) {
    const auto of = [n](const VecX& x) { return x.segment<3>(3 * n); };
    const Vec3 dq = fixed[n] ? Vec3(of(next.q) - of(from.q)) : Vec3(0.5 * dt_s * (of(from.v) + of(next.v)));
    const double work = of(kicks_).dot(dq);
    paid += work;
    exchanged += std::abs(work);
  }
  const double made = problem_->BarrierEnergy() - start_ - paid;
  return made > kShare * (exchanged + std::max(Kinetic(from.v, fixed), Kinetic(next.v, fixed)));
}

}  // namespace eipc
