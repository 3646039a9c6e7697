#include "sim/dynamics/stability_guard.h"

#include <cmath>
#include <limits>

#include "sim/solver/stacked_nodes.h"

namespace eipc {

bool StabilityGuard::Allows(double stable_angle, const State& from, double dt_s, const std::vector<uint8_t>& fixed,
                            std::optional<State::Stability>* found) {
  constexpr double kMargin = 0.9;
  constexpr int64_t kSteps = 16;  // that one estimate serves
  problem_->SetPoint(from.q);
  const bool touches = !problem_->contacts().stencils().empty();
  const bool kept = from.stability && from.stability->dt_s == dt_s && from.step % kSteps != 0 && !touches;
  if (kept) {
    *found = from.stability;
  } else {
    found->emplace(State::Stability{dt_s, Largest(from, dt_s, fixed)});
  }
  return (*found)->angle2 <= kMargin * stable_angle * stable_angle;
}

double StabilityGuard::Largest(const State& from, double dt_s, const std::vector<uint8_t>& fixed) {
  constexpr int kMaxIterations = 100;
  constexpr double kSettled = 1e-3;
  const double half = 0.5 * dt_s;  // forces that are proportional to the velocity count twice
  q_before_ = from.q - half * from.v;
  problem_->BeginStage(from.q, q_before_, from.v, half);
  problem_->SetPoint(from.q);
  problem_->LagFriction();
  system_->Assemble(problem_);
  x_.resize(from.q.size());
  for (Eigen::Index i = 0; i < x_.size(); ++i) x_[i] = std::sin(static_cast<double>(i + 1));
  ZeroFixed(fixed, &x_);
  double largest = 0;
  for (int k = 0; k < kMaxIterations; ++k) {
    accelerations_->MassTimes(x_, &mass_);
    const double norm2 = x_.dot(mass_);
    if (!(norm2 > 0)) break;
    system_->Multiply(x_, &product_);
    const double before = largest;
    largest = x_.dot(product_) / norm2;
    if (k > 8 && std::abs(largest - before) <= kSettled * largest) break;
    if (!accelerations_->Solve(fixed, &product_)) return std::numeric_limits<double>::max();
    x_ = product_ / product_.norm();
  }
  return dt_s * dt_s * largest - 4;  // less that of the inertia of half a step
}

}  // namespace eipc
