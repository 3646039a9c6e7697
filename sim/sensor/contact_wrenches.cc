#include "sim/sensor/contact_wrenches.h"

#include <array>
#include <map>
#include <utility>

namespace eipc {
namespace {

using Wrenches = std::map<std::pair<int32_t, int32_t>, ContactWrench>;

ContactWrench* WrenchOf(int32_t body, int32_t other, Wrenches* wrenches) {
  ContactWrench& w = (*wrenches)[{body, other}];
  w.body = body;
  w.other = other;
  return &w;
}

}  // namespace

std::vector<ContactWrench> ContactWrenches(const Model& model, const State& state, const std::vector<Vec3>& x,
                                           const ContactForces& contacts) {
  BodyPoses poses(model, state);
  return ContactWrenches(model, &poses, x, contacts);
}

std::vector<ContactWrench> ContactWrenches(const Model& model, BodyPoses* poses, const std::vector<Vec3>& x,
                                           const ContactForces& contacts) {
  Wrenches wrenches;
  std::array<ContactWrench*, 2> sides{};  // of the last stencil: those of many are of one pair
  for (const ContactForce& c : contacts.stencils) {
    if (c.body_a == c.body_b) continue;  // inner forces of one body
    if (sides[0] == nullptr || sides[0]->body != c.body_a || sides[0]->other != c.body_b) {
      sides = {WrenchOf(c.body_a, c.body_b, &wrenches), WrenchOf(c.body_b, c.body_a, &wrenches)};
    }
    for (int i = 0; i < 4; ++i) {
      const int32_t body = model.surface.vertex_body[c.vertices[i]];
      ContactWrench& w = *sides[body == c.body_a ? 0 : 1];
      const Vec3 arm = x[c.vertices[i]] - (*poses)[body].position;
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
