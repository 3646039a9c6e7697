#ifndef EIPC_SIM_DYNAMICS_BARRIER_STIFFNESS_H_
#define EIPC_SIM_DYNAMICS_BARRIER_STIFFNESS_H_

namespace eipc {

struct Model;

// The scene's stiffness, or, when it gives none, one at which the heaviest body's own load (weight at standard gravity or the
// scene's, whichever is larger, and its external force) rests at half of dhat: carried by ten pairs in the per-pair form, by a
// twentieth of its surface in the area-weighted one. N/m per pair, N/m^3 area weighted.
double InitialBarrierStiffness(const Model& model);

// Adaptive stiffness grows up to here, N/m or N/m^3: 1e4 times the initial value.
double BarrierStiffnessLimit(const Model& model);

// Stiffness for the next step, after one that ended (accepted) with `relative_gap`, the smallest gap as a part of dhat. Only
// adaptive scenes change it: doubled while gaps fall below dhat / 20, never lowered, so that an accepted state is never made worse
// by it.
double NextBarrierStiffness(const Model& model, double stiffness, double relative_gap);

// Detects impacts, for which a stiffness chosen for weights is too small: a body that is stopped from 20 m/s within one step
// presses with a thousand times its weight, and the barrier balances that only at a gap of 1e-5 dhat, which Newton approaches by
// halving. Gaps below dhat / 100 that last for some iterations indicate such a load; a gap that a single step made too small opens
// again.
class PinchDetector {
 public:
  void Begin() { iterations_ = 0; }
  // After each iteration.
  bool Pinched(double relative_gap);

 private:
  int iterations_ = 0;  // in a row
};

// Stiffness to solve a pinched step with, from its start: up to a hundred times as much, but no more than what adds to the barrier
// energy of the start a hundredth of `free_energy`, the kinetic energy that the step would end with without contact. So the body is
// stopped, and bodies that are already pressed together are not thrown apart. Unchanged where this would not even double it.
double StiffnessForImpact(const Model& model, double stiffness, double barrier_energy, double free_energy);

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_BARRIER_STIFFNESS_H_
