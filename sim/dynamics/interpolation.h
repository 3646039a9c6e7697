#ifndef EIPC_SIM_DYNAMICS_INTERPOLATION_H_
#define EIPC_SIM_DYNAMICS_INTERPOLATION_H_

namespace eipc {

// How a motion goes from one key to the next: at a constant speed, or by the polynomial time scaling of third or fifth order, which
// is at rest at each key; that of fifth order has no acceleration there either and is the one of least jerk between two rests.
enum class Interpolation { kLinear, kCubic, kMinimumJerk };

// The part of the path that is covered at the part s of the time, both in [0, 1], and its derivative.
inline double Ease(Interpolation interpolation, double s) {
  switch (interpolation) {
    case Interpolation::kLinear:
      return s;
    case Interpolation::kCubic:
      return s * s * (3 - 2 * s);
    case Interpolation::kMinimumJerk:
      return s * s * s * (10 + s * (6 * s - 15));
  }
  return s;
}

inline double EaseRate(Interpolation interpolation, double s) {
  switch (interpolation) {
    case Interpolation::kLinear:
      return 1;
    case Interpolation::kCubic:
      return 6 * s * (1 - s);
    case Interpolation::kMinimumJerk:
      return 30 * s * s * (1 - s) * (1 - s);
  }
  return 1;
}

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_INTERPOLATION_H_
