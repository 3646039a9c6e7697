#ifndef EIPC_SIM_DYNAMICS_STABILITY_GUARD_H_
#define EIPC_SIM_DYNAMICS_STABILITY_GUARD_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/base/types.h"
#include "sim/dynamics/accelerations.h"
#include "sim/dynamics/stage_problem.h"
#include "sim/dynamics/state.h"
#include "sim/solver/newton_system.h"

namespace eipc {

// Whether a step is within the limit of stability of an integrator that has one, found before the step is taken. An oscillation of
// frequency omega and damping d, x'' = -omega^2 x - d x', has (h omega)^2 + 2 h d; the largest of these is that of
// h^2 M^-1 (K + (2 / h) D), all terms at the start of the step, contact and friction included, found by power iteration. It has to
// be at most 0.9 times the square of the stable angle: the iteration comes from below, and the step changes the matrix.
//
// What was found is kept in the state and found again in every 16th step, where the step size changes, and in every step with
// contact.
class StabilityGuard {
 public:
  StabilityGuard(StageProblem* problem, NewtonSystem* system, Accelerations* accelerations)
      : problem_(problem), system_(system), accelerations_(accelerations) {}

  // Of a part of this size from `from`, with the problem's step begun. Sets *found, which belongs to the state after it.
  bool Allows(double stable_angle, const State& from, double dt_s, const std::vector<uint8_t>& fixed,
              std::optional<State::Stability>* found);

 private:
  double Largest(const State& from, double dt_s, const std::vector<uint8_t>& fixed);

  StageProblem* problem_;
  NewtonSystem* system_;
  Accelerations* accelerations_;
  VecX q_before_, x_, product_, mass_;
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_STABILITY_GUARD_H_
