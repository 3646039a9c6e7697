#ifndef EIPC_SIM_ENERGY_DRIVE_FORCE_H_
#define EIPC_SIM_ENERGY_DRIVE_FORCE_H_

#include <limits>

namespace eipc {

// What a drive does along its coordinate s, m (docs/concepts/theory.md, eq. 23): a constant force, a spring towards `target` and a
// damper of the speed relative to `velocity`, with at most `force_limit` in all, and less where the speed nears `max_speed`.
struct DriveLaw {
  double bias = 0;                                             // N
  double stiffness = 0;                                        // N/m
  double target = 0;                                           // m
  double damping = 0;                                          // N s/m
  double velocity = 0;                                         // m/s
  double max_speed = std::numeric_limits<double>::infinity();  // m/s
  double force_limit = 0;                                      // N
};

// Its force at the end of a stage, where the speed is v = (s - s_tilde) / (gamma h):
//   f = clamp(bias + k (target - s) + c (v* - v), lower(v), upper(v)).
// Both limits are the force limit F up to nine tenths of the greatest speed; from there they fall, to zero at that speed, and
// beyond it they brake, with F at most. f is piecewise linear and does not increase with s, so its potential -int f ds is convex
// and continuously differentiable whatever the gains and the step: the drive is solved for at the end of the stage, with no lag
// that could make it overshoot.
class DriveForce {
 public:
  DriveForce() = default;
  // `gamma_h` and `max_speed` > 0; gains and force limit >= 0.
  DriveForce(const DriveLaw& law, double s_tilde, double gamma_h) : law_(law), s_tilde_(s_tilde), gamma_h_(gamma_h) {}

  double Force(double s) const;      // N
  double Stiffness(double s) const;  // -df/ds >= 0, N/m; 0 where the force is at its limit
  double Energy(double s) const;     // J, 0 at s_tilde

 private:
  double Speed(double s) const { return (s - s_tilde_) / gamma_h_; }
  double Unlimited(double s) const;
  double Upper(double s) const;
  double Lower(double s) const;
  // How fast the limits fall with the speed where they do, N s/m.
  double Braking() const;
  // Of f over an interval in which what it is clamped from and to is linear.
  double IntegralOver(double from, double to) const;

  DriveLaw law_;
  double s_tilde_ = 0;
  double gamma_h_ = 1;
};

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_DRIVE_FORCE_H_
