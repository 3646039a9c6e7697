#ifndef EIPC_SIM_SENSOR_BODY_MOTION_H_
#define EIPC_SIM_SENSOR_BODY_MOTION_H_

#include <optional>
#include <vector>

#include "sim/base/types.h"
#include "sim/dynamics/model.h"
#include "sim/dynamics/state.h"

namespace eipc {

// Pose of the body frame (mass-weighted polar fit, w >= 0), m; kinematic bodies: from their nodes; static: as placed.
Pose BodyPose(const Model& model, const State& state, int body);

// The same of all bodies of a state, each found once, when it is first asked for. The model and the state must outlive it.
class BodyPoses {
 public:
  BodyPoses(const Model& model, const State& state) : model_(model), state_(state), poses_(model.bodies.size()) {}

  const Pose& operator[](int body);

 private:
  const Model& model_;
  const State& state_;
  std::vector<std::optional<Pose>> poses_;
};

struct Twist {
  Vec3 linear = Vec3::Zero();   // of the centre of mass, m/s, world
  Vec3 angular = Vec3::Zero();  // rad/s, world
};
Twist BodyTwist(const Model& model, const State& state, int body);
// The same of a body whose pose is known.
Twist BodyTwist(const Model& model, const State& state, int body, const Pose& pose);

}  // namespace eipc

#endif  // EIPC_SIM_SENSOR_BODY_MOTION_H_
