#ifndef EIPC_SIM_DYNAMICS_CONTACT_WORK_H_
#define EIPC_SIM_DYNAMICS_CONTACT_WORK_H_

#include <array>
#include <cstdint>
#include <vector>

#include "sim/base/types.h"
#include "sim/dynamics/accelerations.h"
#include "sim/dynamics/contact_frames.h"
#include "sim/dynamics/model.h"
#include "sim/dynamics/sleep_islands.h"
#include "sim/dynamics/stage_problem.h"
#include "sim/dynamics/state.h"

namespace eipc {

// The energy that an integrator makes out of nothing where it takes contact's forces at a few points of a part and goes on past the
// last of them. Over the part contact changes the velocities of free nodes by -h M^-1 g, with g the sum of its gradients at the
// points times their kicks (SchemeRow::kick), so their kinetic energy by -h g . (v_0 + v_1) / 2, and prescribed nodes do the work
// g . (q_1 - q_0). What its potential B has gained beyond that,
//     B(q_1) - B(q_0) - g . dq,   dq = h (v_0 + v_1) / 2 of free nodes, q_1 - q_0 of prescribed ones,
// nothing has paid for. It vanishes with the third power of the step where contact is resolved (of the second for methods of first
// order), and is most of the potential where a step lands deep in the barrier. Friction, whose gradients are summed alike into g_f,
// only takes: what it gives, -g_f . dq where that is positive, nothing has paid for either.
//
// Both are judged for each group of free bodies that touched each other in the part. What a force on prescribed nodes pays counts
// for the group on whose free side the force acts.
class ContactWork {
 public:
  ContactWork(const Model* model, StageProblem* problem, const Accelerations* accelerations);

  // Moves the problem's point to the start of the part. Again where the barrier is stiffened.
  void Begin(const State& from);
  // Contact and friction acted at the problem's point with this share of the step.
  void AddKick(double kick);
  // A part, from its start to its end, where the problem's point is.
  struct Part {
    const State& from;
    const State& to;
    double dt_s;
    const std::vector<uint8_t>& fixed;  // by node
  };
  // What may be made: this share of what moves, and `kicks` times the kinetic energy that forces from outside would have given each
  // body at rest.
  struct Allowance {
    double share, kicks, tolerance_m_s;
  };
  // Whether what was made in a group is more than is allowed. What moves there is the kinetic energy of its free nodes, at the
  // start, at the end or at the speed of the fastest prescribed surface and the tolerance more, whichever is largest, and the work
  // that contact did on them, with either sign. Velocities are those beside the frames of bodies (contact_frames.h), so that
  // neither motion that contact cannot change nor what touches nothing changes the answer. What rests is pressed to contact anew in
  // every part, and swings by what the part cannot resolve. What rounding of coordinates does to energies is left out.
  bool MadeTooMuch(const Part& part, const Allowance& allowance);

 private:
  // Of a body, then of a group.
  struct Account {
    double start = 0, end = 0;                     // of the potential
    double paid = 0, rubbed = 0;                   // by contact and by friction, as above
    double exchanged = 0;                          // sizes of both, beside the frame
    double kinetic_before = 0, kinetic_after = 0;  // beside the frame
    double driven = 0;                             // kinetic, at the speed of the fastest prescribed surface
    double fastest = 0;                            // m/s, beside the frame
    double pressed = 0;                            // of the kicks of forces from outside
    void Add(const Account& other);
  };
  // Of bodies that joints hold together, by the one that represents them.
  struct Press {
    double mass = 0;  // kg
    Vec3 impulse = Vec3::Zero();
  };
  // A pair that touched, or rubbed, at one of the points.
  struct Touch {
    SurfaceMap::Stencil v;
    std::array<double, 4> w;
    int32_t body_a, body_b;
    Vec12 contact = Vec12::Zero(), friction = Vec12::Zero();  // gradients by vertex, times their kick
    double start = 0, end = 0;                                // of the potential
  };
  // Keeps the contacts of the problem's point, for the frames with their forces times `share`: calls set(stencil, positions,
  // touch).
  template <typename Set>
  void Keep(double share, const Set& set);
  void KeepFriction(double kick);
  // Every node's over the part.
  void MeanVelocity(const Part& part, VecX* v) const;
  void Book(const Part& part);
  void AddExchange(const Part& part, double tolerance_m_s);
  void AddPressed(const Part& part, double kicks);
  void AddKinetic(const Part& part, const VecX& v, double Account::*kinetic);
  void JoinGroups(const Part& part, double kicks);
  bool Touches(size_t body) const { return frames_.Touches(static_cast<int32_t>(body)); }

  const Model* model_;
  StageProblem* problem_;
  const Accelerations* accelerations_;
  ContactFrames frames_;
  SleepIslands islands_;
  std::vector<Touch> touches_;
  std::vector<Account> accounts_;  // by body
  std::vector<Press> pressed_;
  VecX kicks_, friction_, v_, impulse_, product_;
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_CONTACT_WORK_H_
