#ifndef EIPC_SIM_ENERGY_JOINT_LAW_H_
#define EIPC_SIM_ENERGY_JOINT_LAW_H_

#include <algorithm>
#include <limits>

namespace eipc {

// What acts along the coordinate s of a joint: a spring, a damper, and stops that push back like a spring beyond them. Units by the
// coordinate: N m/rad and N m s/rad of an angle, N/m and N s/m of a length.
struct JointLaw {
  double stiffness = 0;
  double rest = 0;
  double damping = 0;
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
  double stop_stiffness = 0;

  bool HasStops() const {
    return lower > -std::numeric_limits<double>::infinity() || upper < std::numeric_limits<double>::infinity();
  }
  bool acts() const { return stiffness > 0 || damping > 0 || (stop_stiffness > 0 && HasStops()); }
};

// Its effort at the end of a stage in which the speed is (s - s_tilde) / (gamma h): minus the derivative of a convex potential.
class JointEffort {
 public:
  JointEffort() = default;
  // `gamma_h` > 0.
  JointEffort(const JointLaw& law, double s_tilde, double gamma_h)
      : law_(law), s_tilde_(s_tilde), damping_(law.damping / gamma_h) {}

  double Energy(double s) const {
    const double moved = s - s_tilde_, stretch = s - law_.rest, beyond = Beyond(s);
    return 0.5 * (law_.stiffness * stretch * stretch + damping_ * moved * moved + law_.stop_stiffness * beyond * beyond);
  }
  double Effort(double s) const {
    return -(law_.stiffness * (s - law_.rest) + damping_ * (s - s_tilde_) + law_.stop_stiffness * Beyond(s));
  }
  // Minus the derivative of the effort, >= 0.
  double Stiffness(double s) const { return law_.stiffness + damping_ + (Beyond(s) != 0 ? law_.stop_stiffness : 0); }

 private:
  // How far s is past a stop, with its sign.
  double Beyond(double s) const { return std::max(0.0, s - law_.upper) + std::min(0.0, s - law_.lower); }

  JointLaw law_;
  double s_tilde_ = 0;
  double damping_ = 0;  // over the stage's step, in units of the stiffness
};

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_JOINT_LAW_H_
