#ifndef EIPC_SIM_DYNAMICS_JOINTS_H_
#define EIPC_SIM_DYNAMICS_JOINTS_H_

#include <vector>

#include "sim/dynamics/model.h"
#include "sim/dynamics/state.h"
#include "sim/energy/coordinate_term.h"
#include "sim/energy/mimic.h"
#include "sim/energy/tie.h"

namespace eipc {

const char* JointKindName(JointKind kind);           // of its field in the scene message
const char* JointContactName(JointContact contact);  // of its enumerator in the observation

// The terms of one joint; null where it has none of that sort.
struct JointTerms {
  TieTerm* ties = nullptr;
  CoordinateTerm* coordinate = nullptr;
  MimicTerm* mimic = nullptr;         // by which it follows
  std::vector<MimicTerm*> followers;  // that follow it
};

// What a joint exerts at the end of a stage.
struct JointLoad {
  double effort = 0;           // along its coordinate: N, or N m of an angle
  double drive_effort = 0;     // of its drive alone
  Vec3 force = Vec3::Zero();   // on body_a, N
  Vec3 moment = Vec3::Zero();  // on body_a about Joint::point, N m
};
JointLoad LoadOf(const Model& model, const Joint& joint, const JointTerms& terms, const VecX& q);

// How far it opens at q, m: the greatest distance between points that it holds together.
double JointDrift(const Joint& joint, const VecX& q);
// Its coordinate at q, angles within half a turn of `reference`; 0 where it has none.
double JointPosition(const Joint& joint, const VecX& q, double reference);

// Writes where joints are at state.q, with angles within half a turn of zero and without loads: at the start of an episode.
void StartJoints(const Model& model, State* state);

// After a part of a step of this size: where joints are, and what they exert (`loads`, one per Model::joints).
void MeasureJoints(const Model& model, const State& from, double dt_s, const std::vector<JointLoad>& loads, State* next);

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_JOINTS_H_
