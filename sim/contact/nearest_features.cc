#include "sim/contact/nearest_features.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace eipc {
namespace {

// Up to three vertices, sorted, -1 where there are fewer.
using FeatureName = std::array<int32_t, 3>;

struct Feature {
  FeatureName name;
  int32_t order;  // of `stencils`
  int coefficient;
};

// An edge (a < b) or a vertex (a = b) of a triangle of K, and that triangle's other vertices.
struct Cell {
  int32_t a, b;
  std::array<int32_t, 2> others;
  friend bool operator<(const Cell& l, const Cell& r) { return l.a != r.a ? l.a < r.a : l.b < r.b; }
};

// The vertices whose weight is not zero.
FeatureName NameOf(const ContactStencil& s) {
  FeatureName name = {-1, -1, -1};
  for (int k = 1; k < 4; ++k) name[k - 1] = s.closest.w[k] != 0 ? s.v[k] : -1;
  std::sort(name.begin(), name.end());
  return name;
}

class Sum {
 public:
  Sum(const std::vector<ContactStencil>& hits, const std::vector<Vec3>& x) : like_(hits.front()), x_(x), stencils_(hits) {
    std::vector<Cell> edges, vertices;
    for (size_t i = 0; i < hits.size(); ++i) {
      const std::array<int32_t, 4>& v = hits[i].v;
      features_.push_back({NameOf(hits[i]), static_cast<int32_t>(i), 1});
      for (int k = 1; k < 4; ++k) {
        const int32_t p = v[k], q = v[k % 3 + 1], r = v[(k + 1) % 3 + 1];
        edges.push_back({std::min(p, q), std::max(p, q), {r, r}});
        vertices.push_back({p, p, {q, r}});
      }
    }
    std::stable_sort(edges.begin(), edges.end());
    std::stable_sort(vertices.begin(), vertices.end());
    AddEdges(edges);
    AddVertices(vertices);
  }

  // In the order in which the features were met.
  void AppendTo(std::vector<ContactStencil>* out) {
    std::stable_sort(features_.begin(), features_.end(), [](const Feature& l, const Feature& r) { return l.name < r.name; });
    std::vector<Feature> kept;
    for (size_t i = 0; i < features_.size();) {
      Feature f = features_[i];
      for (++i; i < features_.size() && features_[i].name == f.name; ++i) f.coefficient += features_[i].coefficient;
      if (f.coefficient != 0) kept.push_back(f);
    }
    std::sort(kept.begin(), kept.end(), [](const Feature& l, const Feature& r) { return l.order < r.order; });
    for (const Feature& f : kept) {
      out->push_back(stencils_[f.order]);
      out->back().weight = f.coefficient * like_.weight;
    }
  }

 private:
  void AddEdges(const std::vector<Cell>& edges) {
    for (size_t i = 0; i < edges.size();) {
      const Cell& e = edges[i];
      int triangles = 0;
      for (; i < edges.size() && edges[i].a == e.a && edges[i].b == e.b; ++i) ++triangles;
      if (triangles == 1) continue;
      at_vertex_.emplace_back(e.a, triangles - 1);
      at_vertex_.emplace_back(e.b, triangles - 1);
      Add({like_.v[0], e.a, e.b, e.others[0]}, PointEdgeClosest(x_[like_.v[0]], x_[e.a], x_[e.b]), 1 - triangles);
    }
    std::sort(at_vertex_.begin(), at_vertex_.end());
  }

  void AddVertices(const std::vector<Cell>& vertices) {
    auto edge = at_vertex_.begin();
    for (size_t i = 0; i < vertices.size();) {
      const Cell& v = vertices[i];
      int coefficient = 1;
      for (; i < vertices.size() && vertices[i].a == v.a; ++i) --coefficient;
      for (; edge != at_vertex_.end() && edge->first == v.a; ++edge) coefficient += edge->second;
      ClosestPoints at;
      at.e = x_[like_.v[0]] - x_[v.a];
      at.w = {1, -1, 0, 0};
      at.distance2 = at.e.squaredNorm();
      Add({like_.v[0], v.a, v.others[0], v.others[1]}, at, coefficient);
    }
  }

  void Add(const std::array<int32_t, 4>& v, const ClosestPoints& closest, int coefficient) {
    const double reach = like_.dhat + like_.offset;
    if (coefficient == 0 || !(closest.distance2 < reach * reach)) return;
    ContactStencil s = like_;
    s.v = v;
    s.closest = closest;
    s.distance = std::sqrt(closest.distance2);
    if (!(s.gap() < s.dhat)) return;
    features_.push_back({NameOf(s), static_cast<int32_t>(stencils_.size()), coefficient});
    stencils_.push_back(s);
  }

  const ContactStencil& like_;
  const std::vector<Vec3>& x_;
  std::vector<ContactStencil> stencils_;
  std::vector<Feature> features_;
  std::vector<std::pair<int32_t, int>> at_vertex_;  // vertex and m_e - 1 of an edge there
};

}  // namespace

void AppendNearestFeatures(const std::vector<ContactStencil>& hits, const std::vector<Vec3>& x, std::vector<ContactStencil>* out) {
  if (hits.size() == 1) {
    out->push_back(hits.front());
  } else if (!hits.empty()) {
    Sum(hits, x).AppendTo(out);
  }
}

}  // namespace eipc
