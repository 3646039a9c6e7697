#include "sim/dynamics/contact_work.h"

#include <algorithm>
#include <cmath>
#include <limits>

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

double ContactWork::KineticAt(double speed, const std::vector<uint8_t>& fixed) {
  same_.setZero(kicks_.size());
  for (Eigen::Index i = 0; i < same_.size(); i += 3) same_[i] = speed;
  return Kinetic(same_, fixed);
}

bool ContactWork::MadeTooMuch(const Part& part, double share, double tolerance_m_s) {
  constexpr double kRounding = 1e3 * std::numeric_limits<double>::epsilon();
  if (!touched_ && problem_->contacts().stencils().empty()) return false;
  double paid = 0, exchanged = 0, fastest = 0;
  for (size_t n = 0; n < part.fixed.size(); ++n) {
    const auto of = [n](const VecX& x) { return x.segment<3>(3 * n); };
    Vec3 dq = 0.5 * part.dt_s * (of(part.from.v) + of(part.to.v));
    if (part.fixed[n]) {
      dq = of(part.to.q) - of(part.from.q);
      fastest = std::max(fastest, dq.norm() / part.dt_s);
    }
    const double work = of(kicks_).dot(dq);
    paid += work;
    exchanged += std::abs(work);
  }
  const double end = problem_->BarrierEnergy();
  const double moving =
      std::max({Kinetic(part.from.v, part.fixed), Kinetic(part.to.v, part.fixed), KineticAt(fastest + tolerance_m_s, part.fixed)});
  const double rounding = kRounding * (std::max(start_, end) + kicks_.lpNorm<1>() * part.to.q.lpNorm<Eigen::Infinity>());
  return end - start_ - paid > share * (moving + exchanged) + rounding;
}

}  // namespace eipc
