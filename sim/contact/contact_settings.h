#ifndef EIPC_SIM_CONTACT_CONTACT_SETTINGS_H_
#define EIPC_SIM_CONTACT_CONTACT_SETTINGS_H_

namespace eipc {

enum class BarrierForm { kAreaWeighted, kPerPair };

struct ContactSettings {
  double dhat_m = 1e-3;
  BarrierForm form = BarrierForm::kAreaWeighted;
  // N/m per pair, N/m^3 area weighted; 0: adaptive.
  double stiffness = 0;
  double friction_velocity_m_s = 1e-4;
  int friction_lag_iterations = 1;
};

}  // namespace eipc

#endif  // EIPC_SIM_CONTACT_CONTACT_SETTINGS_H_
