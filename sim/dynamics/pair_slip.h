#ifndef EIPC_SIM_DYNAMICS_PAIR_SLIP_H_
#define EIPC_SIM_DYNAMICS_PAIR_SLIP_H_

#include <vector>

#include "sim/contact/contact_forces.h"
#include "sim/dynamics/model.h"
#include "sim/dynamics/state.h"

namespace eipc {

// How a body slides on another: the velocity of its surface relative to the other's where they touch, without the part along the
// contact normal, as the mean over the contacts weighed by their normal forces. World frame.
struct PairSlip {
  int32_t body = 0;
  int32_t other = 0;        // body < other
  double normal_force = 0;  // N, the sum over the contacts
  Vec3 velocity = Vec3::Zero();
  // Share of normal_force at contacts that hold: there is friction, and they slide slower than
  // ContactSettings::friction_velocity_m_s.
  double sticking = 0;
};

// One contact's normal force, N, and how its first side slides on the second: the velocity of the closest points relative to each
// other, without the part along the normal, m/s. Zero without a normal force.
struct ContactSlip {
  double normal_force = 0;
  Vec3 velocity = Vec3::Zero();
};

// v: velocities of the nodes, m/s.
ContactSlip SlipOf(const Model& model, const VecX& v, const ContactForce& contact);

// Of the pairs in contact at the end of a step, sorted. v: velocities of the nodes, m/s.
std::vector<PairSlip> Slips(const Model& model, const VecX& v, const ContactForces& contacts);

// Completes next->slides, where the model tracks slip: adds to those of `from` the displacement of a step of dt_s, whose positions
// next->q are, and forgets the pairs that `contacts`, those of the step's end, do not have.
void AdvanceSlides(const Model& model, const State& from, const ContactForces& contacts, double dt_s, State* next);

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_PAIR_SLIP_H_
