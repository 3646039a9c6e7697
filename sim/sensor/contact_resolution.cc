#include "sim/sensor/contact_resolution.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

namespace eipc {
namespace {

// What the stencils between two bodies add up to, seen from one of them.
struct Sums {
  double all = 0;
  double by_points = 0;
  double by_edges = 0;
  std::map<int32_t, Vec3> on_vertex;  // normal force, by vertex of the body
  // First and second moment of the forces at their stencils.
  Vec3 first = Vec3::Zero();
  Mat3 second = Mat3::Zero();
};

bool BetweenBodies(const ContactForce& c) { return c.body_a != c.body_b && std::isfinite(c.distance_m); }

// Adds a stencil between two bodies to the sums of both.
void AddStencil(const ContactForce& c, const std::vector<int32_t>& vertex_body, const std::vector<Vec3>& x,
                std::map<std::pair<int32_t, int32_t>, Sums>* sums) {
  Sums& a = (*sums)[{c.body_a, c.body_b}];
  Sums& b = (*sums)[{c.body_b, c.body_a}];
  Vec3 on_a = Vec3::Zero(), point = Vec3::Zero();
  double weight = 0;
  for (int i = 0; i < 4; ++i) {
    const bool of_a = vertex_body[c.vertices[i]] == c.body_a;
    auto [force, added] = (of_a ? a : b).on_vertex.try_emplace(c.vertices[i], Vec3::Zero());
    force->second += c.normal_force[i];
    if (!of_a) continue;
    const double f = c.normal_force[i].norm();
    on_a += c.normal_force[i];
    point += f * x[c.vertices[i]];
    weight += f;
  }
  if (weight <= 0) return;
  point /= weight;  // on the side of a
  const double force = on_a.norm();
  for (Sums* side : {&a, &b}) {
    side->all += force;
    side->first += force * point;
    side->second += force * point * point.transpose();
    if (c.kind == ContactKind::kEdgeEdge) side->by_edges += force;
  }
  if (c.kind == ContactKind::kPointTriangle) a.by_points += force;
}

using PairOfBodies = std::pair<int32_t, int32_t>;  // the lower one first

PairOfBodies PairOf(const ContactForce& c) { return std::minmax(c.body_a, c.body_b); }

// Sum of the normal forces between two bodies, N.
std::map<PairOfBodies, double> NormalForces(const ContactForces& contacts, const std::vector<int32_t>& vertex_body) {
  std::map<PairOfBodies, double> out;
  auto of_pair = out.end();
  for (const ContactForce& c : contacts.stencils) {
    if (!BetweenBodies(c)) continue;
    const PairOfBodies pair = PairOf(c);
    if (of_pair == out.end() || of_pair->first != pair) of_pair = out.try_emplace(pair, 0.0).first;  // mostly that of the last one
    Vec3 on_a = Vec3::Zero();
    for (int i = 0; i < 4; ++i) {
      if (vertex_body[c.vertices[i]] == c.body_a) on_a += c.normal_force[i];
    }
    of_pair->second += on_a.norm();
  }
  return out;
}

// 4 standard deviations: a uniform ellipse has the variance (half axis)^2 / 4.
double PatchLength(const Sums& sums) {
  const Vec3 mean = sums.first / sums.all;
  const Mat3 covariance = sums.second / sums.all - mean * mean.transpose();
  const double greatest = Eigen::SelfAdjointEigenSolver<Mat3>(covariance, Eigen::EigenvaluesOnly).eigenvalues()[2];
  return 4 * std::sqrt(std::max(0.0, greatest));
}

ContactResolution Resolution(const Sums& sums, const std::vector<double>& edge_m) {
  ContactResolution r;
  r.normal_n = sums.all;
  r.by_points = sums.by_points / sums.all;
  r.by_edges = sums.by_edges / sums.all;
  double total = 0, squares = 0, edges = 0;
  for (const auto& [vertex, force] : sums.on_vertex) {
    const double f = force.norm();
    total += f;
    squares += f * f;
    edges += f * edge_m[vertex];
  }
  r.vertices = total * total / squares;
  r.edge_m = edges / total;
  r.patch_m = PatchLength(sums);
  return r;
}

}  // namespace

ContactResolutionMeter::ContactResolutionMeter(const Model* model) : model_(model) {
  const CollisionSurface& surface = model->surface;
  edge_m_.assign(surface.vertex_count, 0.0);
  std::vector<int> count(surface.vertex_count, 0);
  for (size_t e = 0; e < surface.edges.size(); ++e) {
    for (const int32_t v : surface.edges[e]) {
      edge_m_[v] += std::sqrt(surface.edge_rest_length2[e]);
      ++count[v];
    }
  }
  for (size_t v = 0; v < edge_m_.size(); ++v) edge_m_[v] /= std::max(1, count[v]);
}

void ContactResolutionMeter::Add(const std::vector<Vec3>& x, const ContactForces& contacts) {
  const std::vector<int32_t>& vertex_body = model_->surface.vertex_body;
  std::vector<PairOfBodies> growing;
  for (const auto& [pair, normal_n] : NormalForces(contacts, vertex_body)) {
    if (normal_n > greatest_[pair].normal_n) growing.push_back(pair);
  }
  if (growing.empty()) return;
  std::map<std::pair<int32_t, int32_t>, Sums> sums;
  for (const ContactForce& c : contacts.stencils) {
    if (BetweenBodies(c) && std::find(growing.begin(), growing.end(), PairOf(c)) != growing.end())
      AddStencil(c, vertex_body, x, &sums);
  }
  for (const auto& [pair, of_pair] : sums) {
    ContactResolution& greatest = greatest_[pair];
    if (of_pair.all <= greatest.normal_n) continue;
    greatest = Resolution(of_pair, edge_m_);
    greatest.body = pair.first;
    greatest.other = pair.second;
  }
}

std::vector<ContactResolution> ContactResolutionMeter::Greatest() const {
  std::vector<ContactResolution> out;
  for (const auto& [pair, resolution] : greatest_) {
    if (resolution.normal_n > 0) out.push_back(resolution);
  }
  return out;
}

}  // namespace eipc
