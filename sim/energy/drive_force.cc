#include "sim/energy/drive_force.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace eipc {
namespace {

// The part of the greatest speed up to which the whole force may act; as far beyond that speed as below it the whole force brakes.
constexpr double kFullForce = 0.9;

}  // namespace

double DriveForce::Unlimited(double s) const {
  return law_.bias + law_.stiffness * (law_.target - s) + law_.damping * (law_.velocity - Speed(s));
}

double DriveForce::Braking() const { return law_.force_limit / ((1 - kFullForce) * law_.max_speed); }

double DriveForce::Upper(double s) const {
  if (std::isinf(law_.max_speed)) return law_.force_limit;
  return std::clamp(Braking() * (law_.max_speed - Speed(s)), -law_.force_limit, law_.force_limit);
}

double DriveForce::Lower(double s) const {
  if (std::isinf(law_.max_speed)) return -law_.force_limit;
  return std::clamp(-Braking() * (law_.max_speed + Speed(s)), -law_.force_limit, law_.force_limit);
}

double DriveForce::Force(double s) const { return std::clamp(Unlimited(s), Lower(s), Upper(s)); }

double DriveForce::Stiffness(double s) const {
  const double wanted = Unlimited(s), upper = Upper(s), lower = Lower(s);
  if (wanted < upper && wanted > lower) return law_.stiffness + law_.damping / gamma_h_;
  const double limit = wanted >= upper ? upper : lower;
  return std::abs(limit) < law_.force_limit ? Braking() / gamma_h_ : 0;
}

// Each crossing of a limit splits the interval; between these f is linear.
double DriveForce::IntegralOver(double from, double to) const {
  const auto crossing = [&](double before, double after) {
    return before * after < 0 ? from + (to - from) * (before / (before - after)) : to;
  };
  const double above = crossing(Unlimited(from) - Upper(from), Unlimited(to) - Upper(to));
  const double below = crossing(Unlimited(from) - Lower(from), Unlimited(to) - Lower(to));
  const std::array<double, 4> ends = {from, std::min(above, below), std::max(above, below), to};
  double sum = 0;
  for (size_t k = 0; k + 1 < ends.size(); ++k) sum += 0.5 * (ends[k + 1] - ends[k]) * (Force(ends[k]) + Force(ends[k + 1]));
  return sum;
}

double DriveForce::Energy(double s) const {
  const double low = std::min(s, s_tilde_), high = std::max(s, s_tilde_);
  // Where the limits bend.
  std::array<double, 6> ends = {low, high, high, high, high, high};
  if (!std::isinf(law_.max_speed)) {
    const double full = kFullForce * law_.max_speed * gamma_h_, braked = (2 - kFullForce) * law_.max_speed * gamma_h_;
    ends = {low, s_tilde_ - braked, s_tilde_ - full, s_tilde_ + full, s_tilde_ + braked, high};
    for (double& end : ends) end = std::clamp(end, low, high);
  }
  double integral = 0;
  for (size_t k = 0; k + 1 < ends.size(); ++k) {
    if (ends[k + 1] > ends[k]) integral += IntegralOver(ends[k], ends[k + 1]);
  }
  return s >= s_tilde_ ? -integral : integral;
}

}  // namespace eipc
