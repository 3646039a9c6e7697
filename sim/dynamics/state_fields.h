#ifndef EIPC_SIM_DYNAMICS_STATE_FIELDS_H_
#define EIPC_SIM_DYNAMICS_STATE_FIELDS_H_

#include "sim/dynamics/state.h"

namespace eipc {

// A pose is its seven numbers.
template <typename Archive, typename P>
void VisitPose(Archive& archive, P& pose) {
  for (int k = 0; k < 3; ++k) archive.Value(pose.position[k]);
  for (int k = 0; k < 4; ++k) archive.Value(pose.rotation.coeffs()[k]);
}

// Visits every field of a State, in a fixed order: what is digested, stored and loaded is the same by construction. The structured
// binding does not compile when State has a field that is not named here.
template <typename Archive, typename S>
void VisitState(Archive& archive, S& state) {
  auto& [step, time_s, q, v, barrier_stiffness, drives, memory, contact_pairs] = state;
  archive.Value(step);
  archive.Value(time_s);
  archive.Vector(q);
  archive.Vector(v);
  archive.Value(barrier_stiffness);
  archive.Size(drives);
  for (auto& drive : drives) {
    auto& [commanded, by_client, error_m] = drive;
    VisitPose(archive, commanded);
    archive.Value(by_client);
    archive.Value(error_m);
  }
  archive.Size(contact_pairs);
  for (auto& [smaller, larger] : contact_pairs) {
    archive.Value(smaller);
    archive.Value(larger);
  }
  archive.Size(memory);
  for (auto& past : memory) {
    auto& [dt_s, past_q, past_v, halvings] = past;
    archive.Value(dt_s);
    archive.Vector(past_q);
    archive.Vector(past_v);
    archive.Value(halvings);
  }
}

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_STATE_FIELDS_H_
