#ifndef EIPC_SIM_SENSOR_SENSORS_H_
#define EIPC_SIM_SENSOR_SENSORS_H_

#include <vector>

#include "sim/contact/contact_forces.h"
#include "sim/dynamics/model.h"
#include "sim/dynamics/simulation.h"
#include "sim/dynamics/state.h"

namespace eipc {

// Pose of the body frame (mass-weighted polar fit, w >= 0), m; kinematic bodies: from their nodes; static: as placed.
Pose BodyPose(const Model& model, const State& state, int body);

struct Twist {
  Vec3 linear = Vec3::Zero();   // of the centre of mass, m/s, world
  Vec3 angular = Vec3::Zero();  // rad/s, world
};
Twist BodyTwist(const Model& model, const State& state, int body);

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

// Active stencils by unordered body pair (a <= b), sorted.
struct PairCount {
  int32_t body_a = 0;
  int32_t body_b = 0;
  int32_t point_triangle = 0;
  int32_t edge_edge = 0;
};
std::vector<PairCount> ContactCounts(const ContactForces& contacts);

struct Energies {
  double kinetic_j = 0;
  double elastic_j = 0;
  double gravity_j = 0;  // of gravity and of the bodies' constant external forces
  double barrier_j = 0;
  double volume_j = 0;  // of what fills closed surfaces, zero at rest volume
};
// Of any state; searches its contacts, which takes as long as many steps.
Energies ComputeEnergies(const Model& model, const State& state, const std::vector<Vec3>& x);
// Of a world as it is; after a step its contacts are known.
Energies ComputeEnergies(const World& world, const std::vector<Vec3>& x);

// What fills a closed surface, in the order of Model::filled_regions.
struct VolumeReading {
  int32_t body = 0;
  double volume_m3 = 0;
  double overpressure_pa = 0;  // over what is outside
};
std::vector<VolumeReading> EnclosedVolumes(const Model& model, const std::vector<Vec3>& x);

}  // namespace eipc

#endif  // EIPC_SIM_SENSOR_SENSORS_H_
