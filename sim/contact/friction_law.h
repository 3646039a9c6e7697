#ifndef EIPC_SIM_CONTACT_FRICTION_LAW_H_
#define EIPC_SIM_CONTACT_FRICTION_LAW_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "sim/base/parameter.h"

namespace eipc {

// Friction of a pair of bodies, force over normal force at the sliding speed v (Larionov et al. 2023, III-C; theory.md, eq. 15):
//     c(v) = (dynamic + (static - dynamic) g(v / stribeck)) s(v) + viscous v,
//     g(x) = (2x + 1)(x - 1)^2 below 1, else 0;  s(v) = 2 v / eps - v^2 / eps^2 below eps, else 1.
// The viscous part is proportional to the normal force as well (the paper's is per contact), so that it does not depend on how
// finely the surfaces are meshed. Its integral and derivative: sim/energy/friction_curve.h.
struct FrictionLaw {
  double dynamic_coefficient = 0;
  double static_coefficient = 0;     // >= dynamic
  double viscous_s_m = 0;            // 1 / (m/s)
  double stribeck_velocity_m_s = 0;  // read only where static > dynamic; taken as at least eps
};

// The parameters that an author gives for a scene or for one pair. An absent one is the scene's for a pair, the default for a
// scene.
struct FrictionSpec {
  std::optional<double> dynamic_coefficient;    // default 0
  std::optional<double> static_coefficient;     // default: the dynamic one
  std::optional<double> stribeck_velocity_m_s;  // 0, the default: ten times the friction velocity
  std::optional<double> viscous_s_m;            // default 0
};

// The parameters of FrictionSpec, from which scene checks, conversion, overrides and documentation follow.
using FrictionParameter = Parameter<FrictionSpec, std::optional<double>>;
absl::Span<const FrictionParameter> FrictionParameters();

// `base` with the parameters that `by` sets in place of its own. A dynamic coefficient in `by` also removes the static one of
// `base`, which was chosen for another dynamic one.
FrictionSpec Overridden(FrictionSpec base, const FrictionSpec& by);

struct FrictionProblem {
  std::string parameter;  // by its name in scene messages
  std::string message;
};
// What is wrong with `given`, whose dynamic coefficient is that of `base` where it says none.
std::vector<FrictionProblem> FrictionProblems(const FrictionSpec& given, const FrictionSpec& base);

// Defaults filled in; all zero without friction.
FrictionLaw ToFrictionLaw(const FrictionSpec& spec, double friction_velocity_m_s);

}  // namespace eipc

#endif  // EIPC_SIM_CONTACT_FRICTION_LAW_H_
