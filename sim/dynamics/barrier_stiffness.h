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

// The start of a step, by which StiffnessForImpact decides.
struct StiffnessState {
  double relative_gap;    // the smallest as a part of its dhat; 1 or more: nothing touches
  double barrier_energy;  // with the present stiffness, J
  double other_energy;    // kinetic, as if the step ended without contact, and elastic, of the bodies that are pinched, J
};

// Gaps below this part of their dhat are too small to last.
inline constexpr double kSmallGap = 0.05;

// The bodies with such a gap at the end of a step, and what they have in common (pressed_bodies.h).
struct PressedBodies {
  double least_gap = 1;       // as a part of its dhat; 1: there is none
  double closing_gap = 1;     // the smallest that does not open
  double contact_n = 0;       // forces of contact on their free nodes, sum of sizes
  double inertia_n = 0;       // mass times acceleration of these nodes in the last part of the step, sum of sizes
  double barrier_energy = 0;  // of their contacts, with the present stiffness, J
  double kinetic_energy = 0;  // J; beside the driven bodies among them, unless one is static
  double stored_energy = 0;   // of elasticity, J
  double load_n = 0;          // weight at standard gravity or the scene's, whichever is larger, and external forces
};

// Stiffness for the next step, after one that ended (accepted) so. Only adaptive scenes change it: doubled while there are small
// gaps, never lowered. Both for the sake of true forces and energies: where it grew to what gaps need at once, falling spikes
// gained up to 3 % of their energy, and where it fell while gaps were wide, a block that slid between two fingers was gripped again
// by the fingers' own motion. In an impact, where contact accelerates what it presses (inertia is more than a tenth of its forces),
// it grows only while gaps close, and the barrier's energy by a hundredth of the other at most, or by what lifts the bodies by the
// gap that it opens: doubled at every step that resolves an impact, it threw a soft cube back with 4 to 30 times its energy.
double NextBarrierStiffness(const Model& model, double stiffness, const PressedBodies& end);

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
// energy of the start a hundredth of the other energy. So the body is stopped, and
// bodies that are already pressed together are not thrown apart. Unchanged where this would not even double it.
double StiffnessForImpact(const Model& model, double stiffness, const StiffnessState& start);

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_BARRIER_STIFFNESS_H_
