#ifndef EIPC_SIM_DYNAMICS_SLIDER_H_
#define EIPC_SIM_DYNAMICS_SLIDER_H_

#include <vector>

#include "sim/base/types.h"
#include "sim/dynamics/interpolation.h"

namespace eipc {

// What a drive is commanded: a position on its guide, m, a speed along it, m/s, or a force, N.
enum class DriveMode { kPosition, kVelocity, kForce };

// Commands over time, in the unit of the mode: held before the first and after the last key.
struct DriveMotion {
  struct Key {
    double time_s = 0;
    double value = 0;
  };
  DriveMode mode = DriveMode::kPosition;
  Interpolation interpolation = Interpolation::kLinear;
  std::vector<Key> keys;  // strictly increasing times

  bool empty() const { return keys.empty(); }
  // Precondition: not empty. RateAt: of the segment that ends at this time, per second.
  double At(double time_s) const;
  double RateAt(double time_s) const;
};

// A boundary set whose nodes are not prescribed: they slide as one rigid part along a guide, moved by a drive with a limited force
// and by what touches them. The guide is the set's frame, which goes where it is commanded (sim/energy/slider.h).
struct Slider {
  int32_t boundary_set = 0;        // index in Model::boundary_sets
  Vec3 axis = Vec3::UnitX();       // of the guide, unit vector in its frame
  double max_force_n = 0;          // of the drive
  double stiffness_n_m = 0;        // position
  double damping_n_s_m = 0;        // position and velocity
  double max_speed_m_s = 0;        // beyond which the drive brakes; 0: any
  double guide_stiffness_n_m = 0;  // against every other motion
  DriveMotion motion;              // until a client commands; empty: position 0
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_SLIDER_H_
