#ifndef EIPC_SIM_SENSOR_BODY_MOTION_H_
#define EIPC_SIM_SENSOR_BODY_MOTION_H_

#include "sim/base/types.h"
#include "sim/dynamics/model.h"
#include "sim/dynamics/state.h"

namespace eipc {

// Pose of the body frame (mass-weighted polar fit, w >= 0), m; kinematic bodies: from their nodes; static: as placed.
Pose BodyPose(const Model& model, const State& state, int body);

struct Twist {
  Vec3 linear = Vec3::Zero();   // of the centre of mass, m/s, world
  Vec3 angular = Vec3::Zero();  // rad/s, world
};
Twist BodyTwist(const Model& model, const State& state, int body);

}  // namespace eipc

#endif  // EIPC_SIM_SENSOR_BODY_MOTION_H_
