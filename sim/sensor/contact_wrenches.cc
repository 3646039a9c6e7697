#include "sim/sensor/contact_wrenches.h"

#include <map>
#include <utility>

#include "sim/sensor/body_motion.h"

namespace eipc {

std::vector<ContactWrench> ContactWrenches(const Model& model, const State& state, const std::vector<Vec3>& x,
                                           const ContactForces& contacts) {
  std::map<std::pair<int32_t, int32_t>, ContactWrench> wrenches;
  std::vector<Vec3> centre(model.bodies.size());
  for (size_t b = 0; b < model.bodies.size(); ++b) centre[b] = BodyPose(model, state, static_cast<int>(b)).position;
  for (const ContactForce& c : contacts.stencils) {
    if (c.body_a == c.body_b) continue;  // inner forces of one body
    for (int i = 0; i < 4; ++i) {
      const int32_t body = model.surface.vertex_body[c.vertices[i]];
      const int32_t other = body == c.body_a ? c.body_b : c.body_a;
      ContactWrench& w = wrenches[{body, other}];
      w.body = body;
      w.other = other;
      const Vec3 arm = x[c.vertices[i]] - centre[body];
      w.normal_force += c.normal_force[i];
      w.friction_force += c.friction_force[i];
      w.normal_moment += arm.cross(c.normal_force[i]);
      w.friction_moment += arm.cross(c.friction_force[i]);
    }
  }
  std::vector<ContactWrench> out;
  for (const auto& [pair, wrench] : wrenches) out.push_back(wrench);
  return out;
}

std::vector<PairCount> ContactCounts(const ContactForces& contacts) {
  std::map<std::pair<int32_t, int32_t>, PairCount> counts;
  for (const ContactForce& c : contacts.stencils) {
    if (std::isinf(c.distance_m)) continue;  // friction of a pair that has separated
    const std::pair<int32_t, int32_t> key = std::minmax(c.body_a, c.body_b);
    PairCount& count = counts[key];
    count.body_a = key.first;
    count.body_b = key.second;
    ++(c.kind == ContactKind::kPointTriangle ? count.point_triangle : count.edge_edge);
  }
  std::vector<PairCount> out;
  for (const auto& [pair, count] : counts) out.push_back(count);
  return out;
}

}  // namespace eipc
