#include "sim/dynamics/pair_slip.h"

#include <algorithm>
#include <map>
#include <utility>

namespace eipc {
namespace {

Vec3 VertexVelocity(const Model& model, const VecX& v, int32_t vertex) {
  const EmbeddingRow& row = model.embedding[vertex];
  Vec3 velocity = Vec3::Zero();
  for (int k = 0; k < row.count; ++k) velocity += row.weights[k] * v.segment<3>(3 * row.nodes[k]);
  return velocity;
}

// Sums over the contacts of a pair: their normal forces, what of them holds, and their slip velocities times these forces.
struct Sum {
  double force = 0;
  double held = 0;
  Vec3 slip = Vec3::Zero();
};

}  // namespace

// The normal forces on the vertices of a side share its force as the closest point is made of them.
ContactSlip SlipOf(const Model& model, const VecX& v, const ContactForce& c) {
  const int second = c.kind == ContactKind::kPointTriangle ? 1 : 2;  // first vertex of the second side
  Vec3 total = Vec3::Zero();
  for (int i = 0; i < second; ++i) total += c.normal_force[i];
  const double force = total.norm();
  if (!(force > 0)) return {};
  const Vec3 normal = total / force;
  Vec3 relative = Vec3::Zero();
  for (int i = 0; i < 4; ++i) relative += (c.normal_force[i].dot(normal) / force) * VertexVelocity(model, v, c.vertices[i]);
  return {force, relative - relative.dot(normal) * normal};
}

std::vector<PairSlip> Slips(const Model& model, const VecX& v, const ContactForces& contacts) {
  std::map<std::pair<int32_t, int32_t>, Sum> sums;
  for (const ContactForce& c : contacts.stencils) {
    if (c.body_a == c.body_b) continue;
    const ContactSlip slip = SlipOf(model, v, c);
    const bool holds =
        model.friction.DynamicCoefficient(c.body_a, c.body_b) > 0 && slip.velocity.norm() < model.contact.friction_velocity_m_s;
    Sum& sum = sums[std::minmax(c.body_a, c.body_b)];
    sum.force += slip.normal_force;
    sum.held += holds ? slip.normal_force : 0;
    sum.slip += slip.normal_force * (c.body_a < c.body_b ? slip.velocity : Vec3(-slip.velocity));
  }
  std::vector<PairSlip> out;
  for (const auto& [pair, sum] : sums) {
    if (sum.force > 0) out.push_back({pair.first, pair.second, sum.force, sum.slip / sum.force, sum.held / sum.force});
  }
  return out;
}

void AdvanceSlides(const Model& model, const State& from, const ContactForces& contacts, double dt_s, State* next) {
  next->slides.clear();
  if (!model.dynamics.track_slip) return;
  // The mean velocity over the step, so that the displacement is that between its positions, whatever the integrator.
  const VecX mean = (next->q - from.q) / dt_s;
  auto before = from.slides.begin();
  for (const PairSlip& slip : Slips(model, mean, contacts)) {
    State::Slide slide;
    slide.body = slip.body;
    slide.other = slip.other;
    slide.begun_s = from.time_s;
    while (before != from.slides.end() && std::pair(before->body, before->other) < std::pair(slip.body, slip.other)) ++before;
    if (before != from.slides.end() && before->body == slip.body && before->other == slip.other) slide = *before;
    slide.displacement_m += dt_s * slip.velocity;
    slide.path_m += dt_s * slip.velocity.norm();
    next->slides.push_back(slide);
  }
}

}  // namespace eipc
