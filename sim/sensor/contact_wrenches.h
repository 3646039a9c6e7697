#ifndef EIPC_SIM_SENSOR_CONTACT_WRENCHES_H_
#define EIPC_SIM_SENSOR_CONTACT_WRENCHES_H_

#include <vector>

#include "sim/contact/contact_forces.h"
#include "sim/dynamics/model.h"
#include "sim/dynamics/state.h"
#include "sim/sensor/body_motion.h"

namespace eipc {

// Force of `other` on `body` and its moment about the centre of mass of `body`, world frame. One entry per ordered pair in contact.
struct ContactWrench {
  int32_t body = 0;
  int32_t other = 0;
  Vec3 normal_force = Vec3::Zero();
  Vec3 friction_force = Vec3::Zero();
  Vec3 normal_moment = Vec3::Zero();
  Vec3 friction_moment = Vec3::Zero();
};
std::vector<ContactWrench> ContactWrenches(const Model& model, const State& state, const std::vector<Vec3>& x,
                                           const ContactForces& contacts);
// The same where poses of the state are needed for other things too.
std::vector<ContactWrench> ContactWrenches(const Model& model, BodyPoses* poses, const std::vector<Vec3>& x,
                                           const ContactForces& contacts);

// Active stencils by unordered body pair (a <= b), sorted.
struct PairCount {
  int32_t body_a = 0;
  int32_t body_b = 0;
  int32_t point_triangle = 0;
  int32_t edge_edge = 0;
};
std::vector<PairCount> ContactCounts(const ContactForces& contacts);

}  // namespace eipc

#endif  // EIPC_SIM_SENSOR_CONTACT_WRENCHES_H_
