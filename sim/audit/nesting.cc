#include "sim/audit/nesting.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "sim/audit/exact_triangles.h"

namespace eipc {
namespace {

constexpr int kMaxRays = 64;

// A small repeatable sequence in (0, 1) to aim rays with.
double Fraction(int i, int k) {
  const double golden[3] = {0.8191725133961645, 0.6710436067037893, 0.5497004779019703};
  const double value = 0.5 + golden[k] * (i + 1);
  return value - static_cast<int>(value);
}

int32_t Root(std::vector<int32_t>* parent, int32_t i) {
  while ((*parent)[i] != i) i = (*parent)[i] = (*parent)[(*parent)[i]];
  return i;
}

}  // namespace

bool AuditBody::IsClosed() const {
  std::vector<Edge> half_edges;
  half_edges.reserve(3 * triangles.size());
  for (const Triangle& t : triangles) {
    for (int k = 0; k < 3; ++k) half_edges.push_back({t[k], t[(k + 1) % 3]});
  }
  std::sort(half_edges.begin(), half_edges.end());
  if (std::adjacent_find(half_edges.begin(), half_edges.end()) != half_edges.end()) return false;
  return std::all_of(half_edges.begin(), half_edges.end(), [&](const Edge& e) {
    return std::binary_search(half_edges.begin(), half_edges.end(), Edge{e[1], e[0]});
  });
}

std::vector<int32_t> AuditBody::ComponentVertices() const {
  std::vector<int32_t> vertices;
  for (const Triangle& t : triangles) vertices.insert(vertices.end(), t.begin(), t.end());
  std::sort(vertices.begin(), vertices.end());
  vertices.erase(std::unique(vertices.begin(), vertices.end()), vertices.end());
  const auto local = [&](int32_t v) {
    return static_cast<int32_t>(std::lower_bound(vertices.begin(), vertices.end(), v) - vertices.begin());
  };
  std::vector<int32_t> parent(vertices.size());
  std::iota(parent.begin(), parent.end(), 0);
  for (const Triangle& t : triangles) {
    for (int k = 1; k < 3; ++k) {
      const int32_t a = Root(&parent, local(t[0])), b = Root(&parent, local(t[k]));
      parent[std::max(a, b)] = std::min(a, b);
    }
  }
  std::vector<int32_t> representatives;
  for (size_t i = 0; i < parent.size(); ++i) {
    if (parent[i] == static_cast<int32_t>(i)) representatives.push_back(vertices[i]);
  }
  return representatives;
}

bool IsInside(const std::vector<Vec3>& x, const AuditBody& body, const Vec3& p) {
  Vec3 low = p, high = p;
  for (const Triangle& t : body.triangles) {
    for (const int32_t v : t) {
      low = low.cwiseMin(x[v]);
      high = high.cwiseMax(x[v]);
    }
  }
  const Vec3 size = (high - low).array() + (high - low).maxCoeff();
  // Rays aim at points of a face of a larger box; a ray that grazes an edge, a vertex or a plane proves nothing and is aimed anew.
  for (int i = 0; i < kMaxRays; ++i) {
    Vec3 q = low + Vec3(Fraction(i, 0), Fraction(i, 1), Fraction(i, 2)).cwiseProduct(high - low);
    q[i % 3] = high[i % 3] + size[i % 3];
    bool degenerate = false, odd = false;
    for (const Triangle& t : body.triangles) {
      const Crossing crossing = SegmentCrossing(p, q, x[t[0]], x[t[1]], x[t[2]]);
      degenerate |= crossing == Crossing::kDegenerate;
      odd ^= crossing == Crossing::kThrough;
    }
    if (!degenerate) return odd;
  }
  return true;  // only a point on the surface defeats every ray
}

}  // namespace eipc
