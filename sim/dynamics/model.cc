#include "sim/dynamics/model.h"

namespace eipc {

std::vector<Vec3> Model::NodeAccelerations() const {
  std::vector<Vec3> out(node_count, gravity);
  for (const Body& body : bodies) {
    if (body.external_force.isZero(0)) continue;
    for (int32_t i = body.nodes.begin; i < body.nodes.end; ++i) out[i] += body.external_force / body.mass.mass;
  }
  return out;
}

int Model::FindBody(const std::string& body_name) const {
  for (size_t i = 0; i < bodies.size(); ++i) {
    if (bodies[i].name == body_name) return static_cast<int>(i);
  }
  return -1;
}

int Model::FindBoundarySet(const std::string& body, const std::string& set) const {
  const int index = FindBody(body);
  for (size_t i = 0; i < boundary_sets.size(); ++i) {
    if (boundary_sets[i].body == index && boundary_sets[i].name == set) return static_cast<int>(i);
  }
  return -1;
}

int Model::FindSlider(int boundary_set) const {
  for (size_t i = 0; i < sliders.size(); ++i) {
    if (sliders[i].boundary_set == boundary_set) return static_cast<int>(i);
  }
  return -1;
}

int Model::FindPoseDrive(int boundary_set) const {
  for (size_t i = 0; i < pose_drives.size(); ++i) {
    if (pose_drives[i].boundary_set == boundary_set) return static_cast<int>(i);
  }
  return -1;
}

int Model::FindJoint(const std::string& joint_name) const {
  for (size_t j = 0; j < joints.size(); ++j) {
    if (joints[j].name == joint_name) return static_cast<int>(j);
  }
  return -1;
}

}  // namespace eipc
