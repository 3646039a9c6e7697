#ifndef EIPC_SIM_CONTACT_FRICTION_LAW_H_
#define EIPC_SIM_CONTACT_FRICTION_LAW_H_

namespace eipc {

// Friction of a pair of bodies, force over normal force at the sliding speed v (Larionov et al. 2023, III-C):
//     c(v) = (dynamic + (static - dynamic) g(v / stribeck)) s(v) + viscous v,
//     g(x) = (2x + 1)(x - 1)^2 below 1, else 0;  s(v) = 2 v / eps - v^2 / eps^2 below eps, else 1.
// The viscous part is proportional to the normal force as well (the paper's is per contact), so that it does not depend on how
// finely the surfaces are meshed.
struct FrictionLaw {
  double dynamic_coefficient = 0;
  double static_coefficient = 0;     // >= dynamic
  double viscous_s_m = 0;            // 1 / (m/s)
  double stribeck_velocity_m_s = 0;  // read only where static > dynamic; taken as at least eps
};

}  // namespace eipc

#endif  // EIPC_SIM_CONTACT_FRICTION_LAW_H_
