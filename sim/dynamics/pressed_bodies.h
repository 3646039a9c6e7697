#ifndef EIPC_SIM_DYNAMICS_PRESSED_BODIES_H_
#define EIPC_SIM_DYNAMICS_PRESSED_BODIES_H_

#include <cstdint>
#include <vector>

#include "sim/base/types.h"
#include "sim/dynamics/barrier_stiffness.h"
#include "sim/dynamics/model.h"
#include "sim/dynamics/stage_problem.h"

namespace eipc {

// By body: has a gap below kSmallGap at the problem's current point.
std::vector<uint8_t> BodiesWithSmallGaps(const Model& model, const StageProblem& problem);
// Of these bodies, as in PressedBodies.
double KineticEnergyOf(const Model& model, const std::vector<uint8_t>& pressed, const VecX& v);
double StoredEnergyOf(const Model& model, const std::vector<uint8_t>& pressed, const VecX& q);

// A part of a step: its end, where the problem's point is, the velocities before it, and its length.
struct PartEnd {
  const VecX& q;
  const VecX& v;
  const VecX& v_before;
  double dt_s;
  const std::vector<uint8_t>& fixed;  // by node
};
PressedBodies MeasurePressedBodies(const Model& model, StageProblem* problem, const PartEnd& end);

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_PRESSED_BODIES_H_
