#ifndef EIPC_SIM_DYNAMICS_BARRIER_STIFFNESS_H_
#define EIPC_SIM_DYNAMICS_BARRIER_STIFFNESS_H_

#include <vector>

namespace eipc {

struct Model;

// The scene's stiffness, or, when it gives none, one at which the heaviest body's own load (weight at standard gravity or the
// scene's, whichever is larger, and its external force) rests at half of dhat: carried by ten pairs in the per-pair form, by a
// twentieth of its surface in the area-weighted one. N/m per pair, N/m^3 area weighted.
double InitialBarrierStiffness(const Model& model);
// Where the bodies have these masses, kg, in place of the model's.
double InitialBarrierStiffness(const Model& model, const std::vector<double>& masses);

// Adaptive stiffness grows up to here, N/m or N/m^3: 1e10 times the initial value. It is reached only where a gap does not open
// however stiff the barrier is, as between parts that drives press together.
double BarrierStiffnessLimit(const Model& model);

// The state by which stiffness is decided.
struct StiffnessState {
  double relative_gap;    // the smallest as a part of its dhat; 1 or more: nothing touches
  double barrier_energy;  // with the present stiffness, J
  double other_energy;    // kinetic and elastic, J
};

// Gaps below this part of their dhat are too small to last.
inline constexpr double kSmallGap = 0.05;

// Stiffness for the next step, after one that ended (accepted) in this state, the gap the smallest of those that do not open. Only
// adaptive scenes change it: at most doubled while such gaps are below kSmallGap, never lowered. All for the sake of true forces
// and energies: where it grew to what gaps need at once, falling spikes gained up to 3 % of their energy, where it grew while gaps
// opened, what bounced had a multiple of its energy at steps that resolve the bounce, and where it fell while gaps were wide, a
// block that slid between two fingers was gripped again by the fingers' own motion. What it adds to the barrier's energy is a
// hundredth of the other at most, or what lifts all bodies by the gap that it opens.
double NextBarrierStiffness(const Model& model, double stiffness, const StiffnessState& end);

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
// energy of the start a hundredth of the other energy, kinetic as if the step ended without contact. So the body is stopped, and
// bodies that are already pressed together are not thrown apart. Unchanged where this would not even double it.
double StiffnessForImpact(const Model& model, double stiffness, const StiffnessState& start);

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_BARRIER_STIFFNESS_H_
