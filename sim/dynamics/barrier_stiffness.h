#ifndef EIPC_SIM_DYNAMICS_BARRIER_STIFFNESS_H_
#define EIPC_SIM_DYNAMICS_BARRIER_STIFFNESS_H_

#include <cstddef>
#include <vector>

namespace eipc {

struct Model;

// The scene's stiffness, or, when it gives none, one at which each body's own load (LargestLoad) rests at half of dhat or above:
// carried by ten pairs in the per-pair form, by a twentieth of its surface in the area-weighted one. N/m per pair, N/m^3 area
// weighted.
double InitialBarrierStiffness(const Model& model);
// Where the bodies have these masses, kg, in place of the model's.
double InitialBarrierStiffness(const Model& model, const std::vector<double>& masses);

// What contact may have to carry of a body of this mass: weight at standard gravity or the scene's, whichever is larger, its
// external force, and the largest force that the scene commands its slider, N.
double LargestLoad(const Model& model, size_t body, double mass_kg);

// Adaptive stiffness grows up to here, N/m or N/m^3: 1e10 times the initial value. It is reached only where a gap does not open
// however stiff the barrier is, as between parts that drives press together.
double BarrierStiffnessLimit(const Model& model);

// Gaps below this part of their dhat are too small to last.
inline constexpr double kSmallGap = 0.05;

// Bodies that contacts connect, at the end of a step (contact_groups.h).
struct ContactGroup {
  double least_gap = 1;       // that forces can open, as a part of its dhat
  double closing_gap = 1;     // the smallest of those that close
  double contact_n = 0;       // forces of contact on free nodes, sum of sizes
  double inertia_n = 0;       // mass times acceleration of these in the last part of the step, sum of sizes
  double barrier_energy = 0;  // of contact, with the present stiffness, J
  double kinetic_energy = 0;  // J, beside the frames of bodies (contact_frames.h)
  double stored_energy = 0;   // of elasticity, J
  double load_n = 0;          // LargestLoad of its bodies
  bool jammed = false;        // a drive that presses it, or is in it, was stopped
};

// Stiffness for the next step, after one of dt_s that ended (accepted) so. Only adaptive scenes change it: doubled while there are
// small gaps, never lowered. Both for the sake of true forces and energies: where it grew to what gaps need at once, falling spikes
// gained up to 3 % of their energy, and where it fell while gaps were wide, a block that slid between two fingers was gripped again
// by the fingers' own motion. A group in an impact, where contact accelerates what it presses (inertia is more than a tenth of its
// forces), needs it only while gaps close, and its barrier's energy then grows by a hundredth of its own at most, or by what lifts
// it by the gap that it opens: doubled at every step that resolves an impact, it threw a soft cube back with 4 to 30 times its
// energy. A drive that was stopped ends at the tightest gap that it may leave (PrescribedMotion), however stiff the barrier is. So
// what needs it in a jammed group only needs it while the group yields by more than some of these gaps, which is while the
// barrier's energy is below four times the group's: then a stiffer one takes the drive further; else each doubling would press what
// cannot yield twice as hard. The stiffness is that of all contacts: what has no small gaps is lifted no faster than it would fall,
// where steps resolve that.
double NextBarrierStiffness(const Model& model, double stiffness, const std::vector<ContactGroup>& groups, double dt_s);

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

// Stiffness to solve a pinched step with, from its start, where these groups touched: up to a hundred times as much, but no more
// than what adds to their barriers' energy a hundredth of the energy of what is pinched, kinetic, as if the step ended without
// contact, and stored. So the body is stopped, and bodies that are already pressed together are not thrown apart; what has no small
// gaps there is lifted as above. Where a drive is blocked, `pressed_energy` is that of what is pinched's barriers now, J, and the
// same hundredth bounds it too; 0: none is. Unchanged where this would not even double it.
double StiffnessForImpact(const Model& model, double stiffness, double pinched_energy, double pressed_energy,
                          const std::vector<ContactGroup>& start, double dt_s);

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_BARRIER_STIFFNESS_H_
