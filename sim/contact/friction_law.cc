#include "sim/contact/friction_law.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace eipc {
namespace {

constexpr FrictionParameter kParameters[] = {
    {"friction_coefficient", "", "Coulomb coefficient, of sliding", &FrictionSpec::dynamic_coefficient, Bounds::NotNegative()},
    {"static_friction_coefficient", "", "coefficient at rest, at least friction_coefficient", &FrictionSpec::static_coefficient,
     Bounds::NotNegative()},
    {"stribeck_velocity_m_s", "m/s", "speed at which only the coefficient of sliding is left", &FrictionSpec::stribeck_velocity_m_s,
     Bounds::NotNegative()},
    {"viscous_friction_s_m", "s/m", "coefficient per speed", &FrictionSpec::viscous_s_m, Bounds::NotNegative()},
};

// Of the default Stribeck velocity over the friction velocity.
constexpr double kStribeckOverFrictionVelocity = 10;

}  // namespace

absl::Span<const FrictionParameter> FrictionParameters() { return kParameters; }

FrictionSpec Overridden(FrictionSpec base, const FrictionSpec& by) {
  if (by.dynamic_coefficient) base.static_coefficient.reset();
  for (const FrictionParameter& parameter : kParameters) {
    if (by.*parameter.value) base.*parameter.value = by.*parameter.value;
  }
  return base;
}

std::vector<FrictionProblem> FrictionProblems(const FrictionSpec& given, const FrictionSpec& base) {
  std::vector<FrictionProblem> problems;
  for (const FrictionParameter& parameter : kParameters) {
    const std::optional<double>& value = given.*parameter.value;
    if (value && !parameter.bounds.Contains(*value)) {
      problems.push_back({std::string(parameter.name), absl::StrCat("must be ", parameter.bounds.Text(), ", got ", *value)});
    }
  }
  const double dynamic = given.dynamic_coefficient.value_or(base.dynamic_coefficient.value_or(0));
  if (given.static_coefficient && !(*given.static_coefficient >= dynamic)) {
    problems.push_back({"static_friction_coefficient",
                        absl::StrCat("must be at least friction_coefficient (", dynamic, "), got ", *given.static_coefficient)});
  }
  if (!(dynamic > 0) && (given.viscous_s_m.value_or(0) > 0 || given.static_coefficient.value_or(0) > 0)) {
    problems.push_back({"friction_coefficient", "must be > 0 for static or viscous friction"});
  }
  return problems;
}

FrictionLaw ToFrictionLaw(const FrictionSpec& spec, double friction_velocity_m_s) {
  const double dynamic = spec.dynamic_coefficient.value_or(0);
  if (!(dynamic > 0)) return {};
  const double stribeck = spec.stribeck_velocity_m_s.value_or(0);
  return {dynamic, std::max(dynamic, spec.static_coefficient.value_or(0)), spec.viscous_s_m.value_or(0),
          stribeck > 0 ? stribeck : kStribeckOverFrictionVelocity * friction_velocity_m_s};
}

}  // namespace eipc
