#ifndef EIPC_SIM_SENSOR_CONTACT_TRACTIONS_H_
#define EIPC_SIM_SENSOR_CONTACT_TRACTIONS_H_

#include <vector>

#include "sim/contact/contact_forces.h"
#include "sim/dynamics/model.h"

namespace eipc {

// The contact forces on the vertices of a body's surface: those of other bodies, which the body's contact wrenches are the sums of.
// One element of each vector for each vertex that a contact acts on.
struct ContactTractions {
  std::vector<int32_t> vertices;     // increasing, counted from the body's first
  std::vector<Vec3> normal_force;    // N, world frame
  std::vector<Vec3> friction_force;  // N, world frame
  std::vector<double> area_m2;       // a third of the triangles at the vertex, as they are deformed
  // m/s, world frame: how the body slides there on the others, without the part along the contact's normal; the mean over the
  // contacts that act on the vertex, weighed by their normal forces on it.
  std::vector<Vec3> slip_velocity;
};

// By body; empty for bodies that are not `wanted` (one element for each body). x: positions of the collision surface's vertices, m,
// and v: velocities of the nodes, m/s, to which `contacts` belong.
std::vector<ContactTractions> ContactTractionsOn(const Model& model, const std::vector<bool>& wanted, const std::vector<Vec3>& x,
                                                 const VecX& v, const ContactForces& contacts);

}  // namespace eipc

#endif  // EIPC_SIM_SENSOR_CONTACT_TRACTIONS_H_
