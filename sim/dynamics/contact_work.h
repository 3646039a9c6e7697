#ifndef EIPC_SIM_DYNAMICS_CONTACT_WORK_H_
#define EIPC_SIM_DYNAMICS_CONTACT_WORK_H_

#include <cstdint>
#include <vector>

#include "sim/base/types.h"
#include "sim/dynamics/accelerations.h"
#include "sim/dynamics/model.h"
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
class ContactWork {
 public:
  ContactWork(const Model* model, StageProblem* problem, const Accelerations* accelerations)
      : model_(model), problem_(problem), accelerations_(accelerations) {}

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
  // Whether what was made is more than this share of what moves: of the kinetic energy of the free nodes of the bodies that touch,
  // at the start, at the end or at the speed of their fastest prescribed node and `tolerance_m_s` more, whichever is largest, and
  // of the work that contact did on nodes, with either sign. Velocities are those beside the prescribed bodies that touch, else
  // beside the mass centre of all that touch, so that neither common motion nor a body that touches nothing changes the answer.
  // What rounding of coordinates does to energies is left out.
  bool MadeTooMuch(const Part& part, double share, double tolerance_m_s);

 private:
  void Touch();
  Vec3 Displacement(const Part& part, size_t node) const;
  Vec3 CommonVelocity(const Part& part);
  // Of the free nodes of bodies that touch, in the frame that moves with `common`.
  double Kinetic(const VecX& v, const Vec3& common, const std::vector<uint8_t>& fixed);
  void KeepFreeThatTouch(const std::vector<uint8_t>& fixed, VecX* v) const;

  const Model* model_;
  StageProblem* problem_;
  const Accelerations* accelerations_;
  double start_ = 0;                 // B(q_0)
  bool touched_ = false;             // anything
  std::vector<uint8_t> body_touch_;  // by body
  VecX kicks_, friction_, v_, product_;
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_CONTACT_WORK_H_
