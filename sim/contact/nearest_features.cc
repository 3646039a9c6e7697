#include "sim/contact/nearest_features.h"

#include <algorithm>
#include <cmath>

namespace eipc {

// The vertices whose weight is not zero.
NearestFeatures::Name NearestFeatures::NameOf(const ContactStencil& s) {
  Name name = {-1, -1, -1};
  for (int k = 1; k < 4; ++k) name[k - 1] = s.closest.w[k] != 0 ? s.v[k] : -1;
  std::sort(name.begin(), name.end());
  return name;
}

void NearestFeatures::Sort(std::vector<Cell>* cells) {
  std::sort(cells->begin(), cells->end(), [](const Cell& l, const Cell& r) {
    if (l.a != r.a) return l.a < r.a;
    return l.b != r.b ? l.b < r.b : l.order < r.order;
  });
}

void NearestFeatures::Append(const std::vector<ContactStencil>& hits, const std::vector<Vec3>& x,
                             std::vector<ContactStencil>* out) {
  if (hits.size() == 1) out->push_back(hits.front());
  if (hits.size() < 2) return;
  AddTriangles(hits);
  AddEdges(x);
  AddVertices(x);
  Keep(out);
}

void NearestFeatures::AddTriangles(const std::vector<ContactStencil>& hits) {
  stencils_ = hits;
  features_.clear();
  edges_.clear();
  vertices_.clear();
  for (size_t i = 0; i < hits.size(); ++i) {
    const std::array<int32_t, 4>& v = hits[i].v;
    features_.push_back({NameOf(hits[i]), static_cast<int32_t>(i), 1});
    for (int k = 1; k < 4; ++k) {
      const int32_t p = v[k], q = v[k % 3 + 1], r = v[(k + 1) % 3 + 1], order = static_cast<int32_t>(edges_.size());
      edges_.push_back({std::min(p, q), std::max(p, q), order, {r, r}});
      vertices_.push_back({p, p, order, {q, r}});
    }
  }
  Sort(&edges_);
  Sort(&vertices_);
}

void NearestFeatures::AddEdges(const std::vector<Vec3>& x) {
  const int32_t point = stencils_.front().v[0];
  at_vertex_.clear();
  for (size_t i = 0; i < edges_.size();) {
    const Cell& e = edges_[i];
    int triangles = 0;
    for (; i < edges_.size() && edges_[i].a == e.a && edges_[i].b == e.b; ++i) ++triangles;
    if (triangles == 1) continue;
    at_vertex_.emplace_back(e.a, triangles - 1);
    at_vertex_.emplace_back(e.b, triangles - 1);
    Add({point, e.a, e.b, e.others[0]}, PointEdgeClosest(x[point], x[e.a], x[e.b]), 1 - triangles);
  }
  std::sort(at_vertex_.begin(), at_vertex_.end());
}

void NearestFeatures::AddVertices(const std::vector<Vec3>& x) {
  const int32_t point = stencils_.front().v[0];
  auto edge = at_vertex_.begin();
  for (size_t i = 0; i < vertices_.size();) {
    const Cell& v = vertices_[i];
    int coefficient = 1;
    for (; i < vertices_.size() && vertices_[i].a == v.a; ++i) --coefficient;
    for (; edge != at_vertex_.end() && edge->first == v.a; ++edge) coefficient += edge->second;
    ClosestPoints at;
    at.e = x[point] - x[v.a];
    at.w = {1, -1, 0, 0};
    at.distance2 = at.e.squaredNorm();
    Add({point, v.a, v.others[0], v.others[1]}, at, coefficient);
  }
}

void NearestFeatures::Add(const std::array<int32_t, 4>& v, const ClosestPoints& closest, int coefficient) {
  const double reach = stencils_.front().dhat + stencils_.front().offset;
  if (coefficient == 0 || !(closest.distance2 < reach * reach)) return;
  ContactStencil s = stencils_.front();
  s.v = v;
  s.closest = closest;
  s.distance = std::sqrt(closest.distance2);
  if (!(s.gap() < s.dhat)) return;
  features_.push_back({NameOf(s), static_cast<int32_t>(stencils_.size()), coefficient});
  stencils_.push_back(s);
}

// In the order in which the features were met.
void NearestFeatures::Keep(std::vector<ContactStencil>* out) {
  const double weight = stencils_.front().weight;
  std::sort(features_.begin(), features_.end(),
            [](const Feature& l, const Feature& r) { return l.name != r.name ? l.name < r.name : l.order < r.order; });
  kept_.clear();
  for (size_t i = 0; i < features_.size();) {
    Feature f = features_[i];
    for (++i; i < features_.size() && features_[i].name == f.name; ++i) f.coefficient += features_[i].coefficient;
    if (f.coefficient != 0) kept_.push_back(f);
  }
  std::sort(kept_.begin(), kept_.end(), [](const Feature& l, const Feature& r) { return l.order < r.order; });
  for (const Feature& f : kept_) {
    out->push_back(stencils_[f.order]);
    out->back().weight = f.coefficient * weight;
  }
}

}  // namespace eipc
