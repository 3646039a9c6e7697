#include "sim/energy/friction_curve.h"

#include <algorithm>

namespace eipc {

double FrictionF0(double y, double epsilon) {
  if (y >= epsilon) return y;
  const double r = y / epsilon;
  return epsilon * (r * r * (1 - r / 3) + 1.0 / 3);
}

double FrictionF1OverY(double y, double epsilon) { return y >= epsilon ? 1 / y : (2 - y / epsilon) / epsilon; }

double FrictionF1Derivative(double y, double epsilon) { return y >= epsilon ? 0 : 2 * (1 - y / epsilon) / epsilon; }

namespace {

// g(x) of the Stribeck curve, its derivative, and the integral of g(y/a) s(y; e) from 0 to y for e <= a.
double Bump(double x) { return x < 1 ? (2 * x + 1) * (x - 1) * (x - 1) : 0; }
double BumpSlope(double x) { return x < 1 ? 6 * x * (x - 1) : 0; }

// Term by term of g = 1 - 3 (y/a)^2 + 2 (y/a)^3 times s = 2 (y/e) - (y/e)^2, then times 1.
double BumpIntegral(double y, double a, double e) {
  const double m = std::min(y, e), p = m / e, q = m / a;
  const double inside = m * (p - p * p / 3 - 3 * q * q * (p / 2 - p * p / 5) + 2 * q * q * q * (2 * p / 5 - p * p / 6));
  if (y <= e) return inside;
  const auto whole = [a](double z) { return z - z * z * z / (a * a) + z * z * z * z / (2 * a * a * a); };
  return inside + whole(std::min(y, a)) - whole(e);
}

}  // namespace

FrictionCurve::FrictionCurve(const FrictionLaw& law, double epsilon, double gamma_h)
    : epsilon_(epsilon),
      extra_((law.static_coefficient - law.dynamic_coefficient) / law.dynamic_coefficient),
      stribeck_(std::max(epsilon, law.stribeck_velocity_m_s * gamma_h)),
      viscous_(law.viscous_s_m / (law.dynamic_coefficient * gamma_h)) {}

double FrictionCurve::Potential(double y) const {
  double sum = FrictionF0(y, epsilon_);
  if (extra_ > 0) sum += extra_ * BumpIntegral(y, stribeck_, epsilon_);
  return sum + 0.5 * viscous_ * y * y;
}

double FrictionCurve::ForceOverY(double y) const {
  const double smooth = FrictionF1OverY(y, epsilon_);
  double sum = smooth;
  if (extra_ > 0) sum += extra_ * Bump(y / stribeck_) * smooth;
  return sum + viscous_;
}

double FrictionCurve::Slope(double y) const {
  const double slope = FrictionF1Derivative(y, epsilon_);
  double sum = slope;
  if (extra_ > 0) {
    const double x = y / stribeck_;
    sum += extra_ * (Bump(x) * slope + BumpSlope(x) / stribeck_ * y * FrictionF1OverY(y, epsilon_));
  }
  return sum + viscous_;
}

}  // namespace eipc
