#ifndef EIPC_SIM_DYNAMICS_BARRIER_STIFFNESS_H_
#define EIPC_SIM_DYNAMICS_BARRIER_STIFFNESS_H_

namespace eipc {

struct Model;

// The scene's stiffness, or, when it gives none, one at which the heaviest body's own load (weight at standard gravity or the
// scene's, whichever is larger, and its external force) rests at half of dhat: carried by ten pairs in the per-pair form, by a
// twentieth of its surface in the area-weighted one. N/m per pair, N/m^3 area weighted.
double InitialBarrierStiffness(const Model& model);

// Stiffness for the next step, after one that ended (accepted) at `min_distance_m`. Only adaptive scenes change it: doubled while
// gaps fall below dhat / 20, up to 1e4 times the initial value, never lowered, so that an accepted state is never made worse by it.
double NextBarrierStiffness(const Model& model, double stiffness, double min_distance_m);

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_BARRIER_STIFFNESS_H_
