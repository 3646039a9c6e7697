#ifndef EIPC_SIM_DYNAMICS_SLEEP_MANAGER_H_
#define EIPC_SIM_DYNAMICS_SLEEP_MANAGER_H_

#include <cstdint>
#include <vector>

#include "sim/contact/contact_forces.h"
#include "sim/dynamics/model.h"
#include "sim/dynamics/sleep_islands.h"
#include "sim/dynamics/state.h"
#include "sim/energy/surface_map.h"

namespace eipc {

// Bodies at rest are left out of the solve until a force disturbs them (SleepSettings; off by default). The rules, why they are so
// and what they may change: docs/concepts/dynamics.md, "Bodies at rest"; the condition to wake: docs/concepts/theory.md,
// section 12.
//
// In short: a free body falls asleep with its whole island, when every body of the island has been calm for `after_s`. Contacts
// between bodies that do not move are held: they are neither searched for nor evaluated, and reported with the forces they were
// last solved with. Contacts with awake bodies are solved as usual. A sleeping body wakes when these forces differ by too much from
// its baseline force, those at which it fell asleep, and the same step is then solved again. A kinematic body that stands still is
// treated as asleep.
//
// Which bodies sleep is part of State; this class only works on it.
class SleepManager {
 public:
  explicit SleepManager(const Model* model);

  bool enabled() const { return model_->dynamics.sleep.after_s > 0; }
  // Begins a step, or a part of one, from `from`, at whose end driven nodes should be at `target`.
  void Begin(const SurfaceMap& map, const State& from, const VecX& target);
  // By body: asleep, or kinematic and standing still. Empty where bodies never sleep.
  const std::vector<uint8_t>& asleep() const { return asleep_; }
  // The number of free bodies asleep.
  int count() const;
  // Marks the nodes of sleeping bodies (by node); they stay where they are.
  void Prescribe(std::vector<uint8_t>* prescribed) const;
  // Wakes the bodies that the forces of the last solve disturb. False when there are none.
  bool Wake(const SurfaceMap& map, const ContactForces& solved);
  // Writes the bodies asleep now to the state that the attempt leads to.
  void Store(State* next) const;

  // The first `count` of the forces were solved, and the first of these are active, with these potentials over the barrier's
  // stiffness.
  struct Solved {
    const ContactForces& forces;
    size_t count;
    const std::vector<double>& potentials_m2;
  };
  // After a whole step from `from` to `next`: lets islands fall asleep. `counts`: whether the step is converged, so that it counts
  // as time at rest.
  void Settle(const SurfaceMap& map, const Solved& solved, const State& from, double dt_s, bool counts, State* next);
  // Adds the held contacts to those that were solved.
  void AddHeld(ContactForces* contacts) const;
  // Contact energy of the held contacts in units of the barrier's stiffness, J / (N/m).
  double HeldPotential() const;

 private:
  bool IsFree(int32_t body) const { return inertia_[body] > 0; }
  bool IsDriven(int32_t body) const { return model_->bodies[body].traits.IsDriven(); }
  bool IsAwake(int32_t body) const { return !asleep_[body] && IsFree(body); }
  bool StandsStill(int32_t body, const VecX& from, const VecX& to) const;
  bool AtRest(int32_t body) const { return asleep_[body] || model_->summaries.fixed[body]; }
  bool IsDisturbed(int32_t body) const;
  // The friction that the held contacts can exert, by node. Driven bodies that push are awake and contribute nothing.
  void ComputeFrictionCapacity();
  // Adds the sleeping bodies that touch one of `bodies`.
  void AddNeighbours(std::vector<int32_t>* bodies) const;
  void WakeBodies(const SurfaceMap& map, const std::vector<int32_t>& bodies);
  void WakeAll();
  // Root mean square speed over the body's mass, m/s.
  double RmsSpeed(int32_t body, const VecX& v) const;
  // Marks the bodies in contact with a driven body that moved.
  void MarkDrivenContacts(const ContactForces& forces, const State& from, const State& next);
  // Finds the islands all of whose bodies have been calm for long enough.
  void ChooseFallingAsleep(const Solved& solved);
  // Holds the contacts both of whose bodies are at rest now.
  void HoldContacts(const SurfaceMap& map, const Solved& solved);
  void AddToSleepingNodes(const SurfaceMap& map, const ContactForce& force, double sign, VecX* nodes) const;

  const Model* model_;
  std::vector<double> inertia_;            // by body: mass, kg; 0: static, kinematic, or with driven nodes
  std::vector<double> node_inertia_;       // by node: mass, kg
  State::Sleep now_;                       // Body::asleep is kept in asleep_
  std::vector<uint8_t> asleep_;            // by body
  int wakes_ = 0;                          // times that a body woke in this step
  VecX contact_force_;                     // by node: force of solved contacts on sleeping bodies, N
  std::vector<double> friction_capacity_;  // by node, N
  std::vector<int32_t> woken_;
  std::vector<uint8_t> drive_moved_;     // by body: a drive of it moved in this step
  std::vector<uint8_t> driven_contact_;  // by body: in contact with a body whose drive moved
  SleepIslands islands_;
  std::vector<uint8_t> island_awake_;    // by representative: a body of the island is not calm yet
  std::vector<uint8_t> falling_asleep_;  // by body
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_SLEEP_MANAGER_H_
