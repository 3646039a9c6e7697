#ifndef EIPC_SIM_DYNAMICS_DRIVE_GAINS_H_
#define EIPC_SIM_DYNAMICS_DRIVE_GAINS_H_

#include <string>

#include "sim/dynamics/slider.h"
#include "sim/energy/drive_force.h"

namespace eipc {

// What a drive is able to do along its coordinate s, in the units of that: m and N, or rad and N m.
struct DriveGains {
  double max_effort = 0;
  double stiffness = 0;  // of positions
  double damping = 0;    // of positions and velocities
  double max_speed = 0;  // beyond which it brakes; 0: any
};

// What a scene calls the numbers of a drive.
struct GainNames {
  const char* max_effort;
  const char* stiffness;
  const char* damping;
  const char* max_speed;
};
inline constexpr GainNames kJointDriveNames = {"max_effort", "stiffness", "damping", "max_speed"};

// Empty when a drive can do this, else what is wrong.
std::string DriveProblem(const DriveGains& gains, const GainNames& names, DriveMode mode, double value);

// The law of a drive that is commanded this; `rate`: how fast a commanded position moves.
DriveLaw LawOf(const DriveGains& gains, DriveMode mode, double value, double rate);

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_DRIVE_GAINS_H_
