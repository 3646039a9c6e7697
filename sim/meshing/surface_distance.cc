#include "sim/meshing/surface_distance.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/meshing/triangle_tree.h"

namespace eipc {
namespace {

constexpr double kPoints = 20000;  // spread over the triangles of each surface

// From one surface to the other: sum of area-weighted distances and the area; the largest distance.
struct OneSided {
  double sum = 0, area = 0, max = 0;
};

OneSided Measure(const MeshData& from, const TriangleTree& to) {
  OneSided out;
  const auto distance = [&](const Vec3& p) {
    const double d = (p - to.Closest(p)).norm();
    out.max = std::max(out.max, d);
    return d;
  };
  std::vector<bool> used(from.vertices.size(), false);
  double total = 0;
  const auto area = [&](const Triangle& t) {
    const std::vector<Vec3>& x = from.vertices;
    return 0.5 * (x[t[1]] - x[t[0]]).cross(x[t[2]] - x[t[0]]).norm();
  };
  for (const Triangle& t : from.triangles) {
    total += area(t);
    for (const int32_t v : t) used[v] = true;
  }
  for (size_t v = 0; v < used.size(); ++v) {
    if (used[v]) distance(from.vertices[v]);
  }
  for (const Triangle& t : from.triangles) {
    const Vec3 &a = from.vertices[t[0]], &b = from.vertices[t[1]], &c = from.vertices[t[2]];
    const double share = area(t) / std::max(total, 1e-300);
    // n^2 small triangles' centres: a regular grid over the triangle.
    const int n = std::clamp(static_cast<int>(std::sqrt(kPoints * share)), 1, 100);
    double mean = 0;
    for (int i = 0; i < n; ++i) {
      for (int j = 0; i + j < n; ++j) {
        const double u = (i + 1.0 / 3) / n, v = (j + 1.0 / 3) / n;
        mean += distance(a + u * (b - a) + v * (c - a));
      }
    }
    out.sum += area(t) * mean / (0.5 * n * (n + 1));
    out.area += area(t);
  }
  return out;
}

}  // namespace

SurfaceDistance DistanceBetween(const MeshData& first, const MeshData& second) {
  if (first.triangles.empty() || second.triangles.empty()) return {};
  const OneSided there = Measure(first, TriangleTree(second.vertices, second.triangles));
  const OneSided back = Measure(second, TriangleTree(first.vertices, first.triangles));
  SurfaceDistance out;
  out.mean = (there.sum + back.sum) / std::max(there.area + back.area, 1e-300);
  out.max_from_first = there.max;
  out.max_from_second = back.max;
  out.max = std::max(there.max, back.max);
  return out;
}

}  // namespace eipc
