#include "sim/meshing/triangle_tree.h"

#include <algorithm>

namespace eipc {
namespace {

constexpr int32_t kLeafTriangles = 4;

double BoxDistanceSquared(const Vec3& low, const Vec3& high, const Vec3& p) {
  return (low - p).cwiseMax(p - high).cwiseMax(0.0).squaredNorm();
}

// Ericson 2005, 5.1.5: by the Voronoi region that holds p.
Vec3 ClosestOnTriangle(const Vec3& p, const Vec3& a, const Vec3& b, const Vec3& c) {
  const Vec3 ab = b - a, ac = c - a, ap = p - a;
  const double d1 = ab.dot(ap), d2 = ac.dot(ap);
  if (d1 <= 0 && d2 <= 0) return a;
  const Vec3 bp = p - b;
  const double d3 = ab.dot(bp), d4 = ac.dot(bp);
  if (d3 >= 0 && d4 <= d3) return b;
  const double vc = d1 * d4 - d3 * d2;
  if (vc <= 0 && d1 >= 0 && d3 <= 0) return a + d1 / (d1 - d3) * ab;
  const Vec3 cp = p - c;
  const double d5 = ab.dot(cp), d6 = ac.dot(cp);
  if (d6 >= 0 && d5 <= d6) return c;
  const double vb = d5 * d2 - d1 * d6;
  if (vb <= 0 && d2 >= 0 && d6 <= 0) return a + d2 / (d2 - d6) * ac;
  const double va = d3 * d6 - d5 * d4;
  if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) return b + (d4 - d3) / ((d4 - d3) + (d5 - d6)) * (c - b);
  const double sum = va + vb + vc;
  return a + vb / sum * ab + vc / sum * ac;
}

// Skew to every axis and diagonal, so that it grazes no edge of an aligned mesh.
const Vec3 kRay(0.5773502691, 0.6131847205, 0.5391638660);

// Whether the ray p + s d meets the box at any 0 <= s <= end.
bool RayHitsBox(const Vec3& low, const Vec3& high, const Vec3& p, const Vec3& d,
                double end = std::numeric_limits<double>::infinity()) {
  double begin = 0;
  for (int k = 0; k < 3; ++k) {
    if (d[k] == 0) {
      if (p[k] < low[k] || p[k] > high[k]) return false;
      continue;
    }
    const double to_low = (low[k] - p[k]) / d[k], to_high = (high[k] - p[k]) / d[k];
    begin = std::max(begin, std::min(to_low, to_high));
    end = std::min(end, std::max(to_low, to_high));
  }
  return begin <= end;
}

// Where the line p + s d meets the triangle; negative when nowhere ahead (Moeller and Trumbore 1997).
double RayMeetsTriangle(const Vec3& p, const Vec3& d, const Vec3& a, const Vec3& b, const Vec3& c) {
  const Vec3 e1 = b - a, e2 = c - a, h = d.cross(e2);
  const double det = e1.dot(h);
  if (det == 0) return -1;
  const Vec3 s = p - a;
  const double u = s.dot(h) / det;
  if (u < 0 || u > 1) return -1;
  const Vec3 q = s.cross(e1);
  const double v = d.dot(q) / det;
  return v >= 0 && u + v <= 1 ? e2.dot(q) / det : -1;
}

}  // namespace

TriangleTree::TriangleTree(const std::vector<Vec3>& vertices, const std::vector<Triangle>& triangles) {
  triangles_.reserve(triangles.size());
  for (const Triangle& t : triangles) {
    triangles_.push_back({vertices[t[0]], vertices[t[1]], vertices[t[2]], static_cast<int32_t>(triangles_.size())});
  }
  if (!triangles_.empty()) Build(0, static_cast<int32_t>(triangles_.size()));
}

int32_t TriangleTree::Build(int32_t begin, int32_t end) {
  const int32_t index = static_cast<int32_t>(nodes_.size());
  Vec3 low = triangles_[begin].a, high = low;
  for (int32_t i = begin; i < end; ++i) {
    const Corners& t = triangles_[i];
    low = low.cwiseMin(t.a).cwiseMin(t.b).cwiseMin(t.c);
    high = high.cwiseMax(t.a).cwiseMax(t.b).cwiseMax(t.c);
  }
  nodes_.push_back({low, high, begin, end});
  if (end - begin <= kLeafTriangles) return index;
  int axis = 0;
  (high - low).maxCoeff(&axis);
  const int32_t middle = begin + (end - begin) / 2;
  std::nth_element(triangles_.begin() + begin, triangles_.begin() + middle, triangles_.begin() + end,
                   [axis](const Corners& s, const Corners& t) { return (s.a + s.b + s.c)[axis] < (t.a + t.b + t.c)[axis]; });
  const int32_t left = Build(begin, middle);
  const int32_t right = Build(middle, end);
  nodes_[index].left = left;
  nodes_[index].right = right;
  return index;
}

Vec3 TriangleTree::Closest(const Vec3& p, double within) const {
  // A little more than `within`, so that rounding loses nothing.
  double best = within * within * (1 + 1e-9);
  Vec3 closest = p;
  std::array<std::pair<double, int32_t>, kMaxDepth> stack;
  int count = 0;
  if (!nodes_.empty()) stack[count++] = {0.0, 0};
  while (count > 0) {
    const auto [distance, index] = stack[--count];
    if (distance >= best) continue;
    const Node& node = nodes_[index];
    if (node.left < 0) {
      for (int32_t i = node.begin; i < node.end; ++i) {
        const Vec3 q = ClosestOnTriangle(p, triangles_[i].a, triangles_[i].b, triangles_[i].c);
        if ((q - p).squaredNorm() >= best) continue;
        best = (q - p).squaredNorm();
        closest = q;
      }
      continue;
    }
    std::pair<double, int32_t> near = {BoxDistanceSquared(nodes_[node.left].low, nodes_[node.left].high, p), node.left};
    std::pair<double, int32_t> far = {BoxDistanceSquared(nodes_[node.right].low, nodes_[node.right].high, p), node.right};
    if (far.first < near.first) std::swap(near, far);
    stack[count++] = far;
    stack[count++] = near;
  }
  return closest;
}

bool TriangleTree::OddCrossings(const Vec3& p) const {
  bool odd = false;
  std::array<int32_t, kMaxDepth> stack = {0};
  int count = nodes_.empty() ? 0 : 1;
  while (count > 0) {
    const Node& node = nodes_[stack[--count]];
    if (!RayHitsBox(node.low, node.high, p, kRay)) continue;
    if (node.left >= 0) {
      stack[count++] = node.left;
      stack[count++] = node.right;
      continue;
    }
    for (int32_t i = node.begin; i < node.end; ++i)
      odd ^= RayMeetsTriangle(p, kRay, triangles_[i].a, triangles_[i].b, triangles_[i].c) > 0;
  }
  return odd;
}

TriangleTree::Hit TriangleTree::FirstHit(const Vec3& p, const Vec3& direction, double from) const {
  Hit hit;
  double end = std::numeric_limits<double>::infinity();
  std::array<int32_t, kMaxDepth> stack = {0};
  int count = nodes_.empty() ? 0 : 1;
  while (count > 0) {
    const Node& node = nodes_[stack[--count]];
    if (!RayHitsBox(node.low, node.high, p, direction, end)) continue;
    if (node.left >= 0) {
      stack[count++] = node.left;
      stack[count++] = node.right;
      continue;
    }
    for (int32_t i = node.begin; i < node.end; ++i) {
      const double at = RayMeetsTriangle(p, direction, triangles_[i].a, triangles_[i].b, triangles_[i].c);
      if (at <= from || at >= end) continue;
      end = at;
      hit = {triangles_[i].id, at};
    }
  }
  return hit;
}

double TriangleTree::SignedDistance(const Vec3& p, double within) const {
  const double distance = (p - Closest(p, within)).norm();
  return OddCrossings(p) ? -distance : distance;
}

}  // namespace eipc
