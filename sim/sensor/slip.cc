#include "sim/sensor/slip.h"

namespace eipc {
namespace {

Vec3 VertexVelocity(const Model& model, const VecX& v, int32_t vertex) {
  const EmbeddingRow& row = model.embedding[vertex];
  Vec3 velocity = Vec3::Zero();
  for (int k = 0; k < row.count; ++k) velocity += row.weights[k] * v.segment<3>(3 * row.nodes[k]);
  return velocity;
}

// One contact's share: its normal force, and its slip velocity times that force. The normal forces on the vertices of a side share
// its force as the closest point is made of them.
struct Share {
  double force = 0;
  Vec3 slip = Vec3::Zero();
};

Share ShareOf(const Model& model, const VecX& v, const ContactForce& c) {
  const int second = c.kind == ContactKind::kPointTriangle ? 1 : 2;  // first vertex of the second side
  Vec3 total = Vec3::Zero();
  for (int i = 0; i < second; ++i) total += c.normal_force[i];
  const double force = total.norm();
  if (!(force > 0)) return {};
  const Vec3 normal = total / force;
  Vec3 relative = Vec3::Zero();
  for (int i = 0; i < 4; ++i) relative += (c.normal_force[i].dot(normal) / force) * VertexVelocity(model, v, c.vertices[i]);
  return {force, force * (relative - relative.dot(normal) * normal)};
}

}  // namespace

std::vector<PairSlip> Slips(const Model& model, const State& state, const ContactForces& contacts) {
  std::map<std::pair<int32_t, int32_t>, Share> sums;
  for (const ContactForce& c : contacts.stencils) {
    if (c.body_a == c.body_b) continue;
    const Share share = ShareOf(model, state.v, c);
    Share& sum = sums[std::minmax(c.body_a, c.body_b)];
    sum.force += share.force;
    sum.slip += c.body_a < c.body_b ? share.slip : Vec3(-share.slip);
  }
  std::vector<PairSlip> out;
  for (const auto& [pair, sum] : sums) {
    if (sum.force > 0) out.push_back({pair.first, pair.second, sum.force, sum.slip / sum.force});
  }
  return out;
}

void SlipMeter::Add(const State& state, const ContactForces& contacts, double dt_s) {
  for (const PairSlip& slip : Slips(*model_, state, contacts)) {
    ways_.try_emplace({slip.body, slip.other}, Vec3::Zero()).first->second += dt_s * slip.velocity;
  }
}

Vec3 SlipMeter::Way(int32_t body, int32_t other) const {
  const auto found = ways_.find(std::minmax(body, other));
  if (found == ways_.end()) return Vec3::Zero();
  return body < other ? found->second : Vec3(-found->second);
}

}  // namespace eipc
