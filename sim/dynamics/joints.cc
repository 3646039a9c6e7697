#include "sim/dynamics/joints.h"

#include <algorithm>

#include "sim/dynamics/joint_drives.h"

namespace eipc {

const char* JointKindName(JointKind kind) {
  switch (kind) {
    case JointKind::kWeld:
      return "weld";
    case JointKind::kBall:
      return "ball";
    case JointKind::kHinge:
      return "hinge";
    case JointKind::kSlider:
      return "slider";
    case JointKind::kSpring:
      return "spring";
    case JointKind::kAttachment:
      return "attachment";
  }
  return "";
}

const char* JointContactName(JointContact contact) {
  switch (contact) {
    case JointContact::kOn:
      return "ON";
    case JointContact::kOffByScene:
      return "OFF_BY_SCENE";
    case JointContact::kOffByOverlap:
      return "OFF_BY_OVERLAP";
  }
  return "";
}

// Forces on nodes of a body without nodes do not show; then they are those on the other body, turned around.
JointLoad LoadOf(const Model& model, const Joint& joint, const JointTerms& terms, const VecX& q) {
  std::vector<NodeForce> forces;
  JointLoad load;
  if (terms.ties != nullptr) terms.ties->AppendForces(q, &forces);
  if (terms.coordinate != nullptr) {
    terms.coordinate->AppendForces(q, &forces);
    load.effort = terms.coordinate->EffortAt(q);
    load.drive_effort = terms.coordinate->DriveEffortAt(q);
  }
  if (terms.mimic != nullptr) {
    terms.mimic->AppendFollowerForces(q, &forces);
    load.effort += terms.mimic->FollowerEffort(q);
  }
  for (const MimicTerm* follower : terms.followers) {
    follower->AppendLeaderForces(q, &forces);
    load.effort += follower->LeaderEffort(q);
  }
  const bool by_b = model.bodies[joint.body_a].nodes.size() == 0;
  const IndexRange& nodes = model.bodies[by_b ? joint.body_b : joint.body_a].nodes;
  const Vec3 about = joint.point.At(q);
  for (const NodeForce& f : forces) {
    if (f.node < nodes.begin || f.node >= nodes.end) continue;
    load.force += f.force;
    load.moment += (Vec3(q.segment<3>(3 * f.node)) - about).cross(f.force);
  }
  if (by_b) {
    load.force = -load.force;
    load.moment = -load.moment;
  }
  return load;
}

double JointDrift(const Joint& joint, const VecX& q) {
  double drift = 0;
  for (const Tie& tie : joint.ties) drift = std::max(drift, tie.gap.At(q).norm());
  if (joint.kind == JointKind::kSlider) {
    const CoordinateVectors v = joint.coordinate->At(q);
    drift = std::max(drift, v[0].normalized().cross(v[1]).norm());
  }
  return drift;
}

double JointPosition(const Joint& joint, const VecX& q, double reference) {
  if (!joint.coordinate) return 0;
  const double value = joint.coordinate->Value(q);
  return joint.coordinate->kind() == CoordinateKind::kAngle ? Unwrapped(value, reference) : value;
}

void StartJoints(const Model& model, State* state) {
  state->joints.assign(model.joints.size(), {});
  for (size_t j = 0; j < model.joints.size(); ++j) {
    state->joints[j].position = JointPosition(model.joints[j], state->q, 0);
    state->joints[j].drift_m = JointDrift(model.joints[j], state->q);
  }
  StartJointDrives(model, &state->joints);
}

void MeasureJoints(const Model& model, const State& from, double dt_s, const std::vector<JointLoad>& loads, State* next) {
  for (size_t j = 0; j < model.joints.size(); ++j) {
    State::Joint& seen = next->joints[j];
    const double before = from.joints[j].position;
    seen.position = JointPosition(model.joints[j], next->q, before);
    seen.velocity = (seen.position - before) / dt_s;
    seen.effort = loads[j].effort;
    seen.drift_m = JointDrift(model.joints[j], next->q);
    seen.force_n = loads[j].force;
    seen.moment_nm = loads[j].moment;
    if (model.joints[j].drive) MeasureJointDrive(model, model.joints[j], loads[j].drive_effort, &seen);
  }
}

}  // namespace eipc
