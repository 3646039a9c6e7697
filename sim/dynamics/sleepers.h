#ifndef EIPC_SIM_DYNAMICS_SLEEPERS_H_
#define EIPC_SIM_DYNAMICS_SLEEPERS_H_

#include <cstdint>
#include <vector>

#include "sim/contact/contact_forces.h"
#include "sim/dynamics/model.h"
#include "sim/dynamics/state.h"
#include "sim/energy/surface_map.h"

namespace eipc {

// Bodies that lie still are left out of the solve until something pushes them (SleepSettings; off by default).
//
// A free body is calm in a step that ends with a speed below SleepSettings::speed_m_s (root mean square over its mass: v^T M v /
// 1^T M 1 is its square), unless it touches a driven body that moved in that step. When it has been calm for `after_s` it may fall
// asleep, and does so together with the awake bodies that it touches, by way of others too, once all of them are as calm: one by
// one they would be nailed down while their neighbours still shift their loads. Velocities become zero, nodes stay where they are
// to the last bit, and contacts with what moves as little are neither searched nor evaluated but held as they were last solved. So
// forces go on being told, in balance, and surfaces that do not move stay apart.
//
// A kinematic body that did not move in a step is as good as asleep, until it is to move again.
//
// Contacts with bodies that are awake are solved as ever, and what they exert on a sleeping body is compared, after every stage,
// with what they exerted when it fell asleep (its lean, in generalized forces: a soft body that is pinched from both sides feels
// it). Where a node's share differs by more than its inertia times `wake_acceleration_m_s2` and a fifth of what friction can hold
// there, sum mu |N| over what is held, the body wakes, and the same step is solved again with it: no step is accepted in which
// something that should have given way was as if nailed down. All wake when the stiffness of the barrier changes, for what is held
// was in balance with another one.
//
// Who sleeps is part of State; this only works on it.
class Sleepers {
 public:
  explicit Sleepers(const Model* model);

  bool enabled() const { return model_->dynamics.sleep.after_s > 0; }
  // Of a step, or a part of one, from `from`, at whose end driven nodes should be at `target`.
  void Begin(const SurfaceMap& map, const State& from, const VecX& target);
  // By body: asleep, or kinematic and standing still. Empty where bodies never sleep.
  const std::vector<uint8_t>& asleep() const { return asleep_; }
  // Of free bodies.
  int count() const;
  // Marks sleeping nodes (by node); they stay where they are.
  void Prescribe(std::vector<uint8_t>* prescribed) const;
  // Given the forces that the step was solved with: wakes whom they disturb. False when nobody is.
  bool Wake(const SurfaceMap& map, const ContactForces& solved);
  // Who sleeps after the try, for the state that it leads to.
  void Store(State* next) const;

  // The first `count` of the forces were solved, and the first of these are active, with these potentials over the barrier's
  // stiffness.
  struct Solved {
    const ContactForces& forces;
    size_t count;
    const std::vector<double>& potentials_m2;
  };
  // After a whole step from `from` to `next`: who falls asleep. `counts`: whether the step is one to judge by.
  void Settle(const SurfaceMap& map, const Solved& solved, const State& from, double dt_s, bool counts, State* next);
  // What is held, beside what was solved.
  void AddHeld(ContactForces* contacts) const;
  // Contact energy of what is held in units of the barrier's stiffness, J / (N/m).
  double HeldPotential() const;

 private:
  bool MovesFreely(int32_t body) const { return inertia_[body] > 0; }
  bool IsKinematic(int32_t body) const { return model_->bodies[body].kind == BodyKind::kKinematic; }
  bool Stands(int32_t body, const VecX& from, const VecX& to) const;
  bool AtRest(int32_t body) const { return asleep_[body] || model_->patches.fixed[body]; }
  bool Disturbed(int32_t body) const;
  // By node, what friction can hold of what is held: what pushes does not hold.
  void MeasureGrip();
  void AddGrip(const ContactForce& force);
  // Whoever touches one of them and sleeps.
  void AddNeighbours(std::vector<int32_t>* bodies) const;
  void WakeBodies(const SurfaceMap& map, const std::vector<int32_t>& bodies);
  void WakeAll();
  double SpeedOf(int32_t body, const VecX& v) const;
  bool IsAwake(int32_t body) const { return !asleep_[body] && MovesFreely(body); }
  // Who falls asleep now.
  void ChooseNewly(const Solved& solved);
  void FindIslands(const Solved& solved);
  int32_t IslandOf(int32_t body);
  void MarkPushed(const ContactForces& forces, const State& from, const State& next);
  void Hold(const SurfaceMap& map, const Solved& solved);
  void AddToNodes(const SurfaceMap& map, const ContactForce& force, double sign, VecX* nodes) const;

  const Model* model_;
  std::vector<double> inertia_;       // by body: mass, kg; 0: static, kinematic, or with driven nodes
  std::vector<double> node_inertia_;  // what a node carries, kg
  State::Sleep now_;                  // but for who is asleep
  std::vector<uint8_t> asleep_;       // by body
  int tries_ = 0;                     // of this step in which somebody woke
  VecX felt_;                         // by node: contact force on sleeping bodies that is not held, N
  std::vector<double> grip_;          // by node: what friction can hold, N
  std::vector<int32_t> woken_;
  std::vector<uint8_t> moved_;     // by body: has drives that moved
  std::vector<uint8_t> pushed_;    // by body: touches a driven body that moved
  std::vector<int32_t> island_;    // by body: another one of its island; itself: the one that stands for it
  std::vector<uint8_t> restless_;  // by island
  std::vector<uint8_t> newly_;     // by body: falls asleep now
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_SLEEPERS_H_
