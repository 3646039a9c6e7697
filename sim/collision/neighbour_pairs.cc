#include "sim/collision/neighbour_pairs.h"

#include <cmath>
#include <functional>
#include <iterator>
#include <limits>

#include "sim/collision/interrupt_poll.h"
#include "sim/collision/interruptible_surface.h"
#include "sim/collision/pair_dhat.h"

namespace eipc {
namespace {

// Pairs of triangles of the body around each vertex, each once, in order.
std::vector<std::pair<int32_t, int32_t>> PairsAroundVertices(const CollisionSurface& surface, int32_t body) {
  std::vector<std::pair<int32_t, int32_t>> around;  // vertex, triangle
  for (const int32_t t : surface.trees[body].primitives()) {
    for (const int32_t v : surface.triangles[t]) around.emplace_back(v, t);
  }
  std::sort(around.begin(), around.end());
  std::vector<std::pair<int32_t, int32_t>> pairs;
  for (size_t i = 0; i < around.size(); ++i) {
    for (size_t j = i + 1; j < around.size() && around[j].first == around[i].first; ++j) {
      pairs.emplace_back(around[i].second, around[j].second);
    }
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  return pairs;
}

// Shared ones first.
std::array<int32_t, 5> VerticesOf(const Triangle& s, const Triangle& t) {
  const auto in = [](const Triangle& triangle) {
    return [&triangle](int32_t v) { return std::find(triangle.begin(), triangle.end(), v) != triangle.end(); };
  };
  std::vector<int32_t> v;
  std::copy_if(s.begin(), s.end(), std::back_inserter(v), in(t));
  std::copy_if(s.begin(), s.end(), std::back_inserter(v), std::not_fn(in(t)));
  std::copy_if(t.begin(), t.end(), std::back_inserter(v), std::not_fn(in(s)));
  v.resize(5, v.back());
  return {v[0], v[1], v[2], v[3], v[4]};
}

// Far above the rounding of the few operations behind a sign.
constexpr double kMargin = 1e-9;

bool IsAlong(const Vec3& n, const Vec3& direction) { return n.dot(direction) > kMargin * direction.norm(); }

}  // namespace

// Tried: the plane across the difference of the directions in which either lies.
bool SeparatedByPlane(const NeighbourPair& pair, const std::vector<Vec3>& x) {
  const Vec3& at = x[pair.v[0]];
  const Vec3 a = x[pair.v[1]] - at, b = x[pair.v[2]] - at, c = x[pair.v[3]] - at, d = x[pair.v[4]] - at;
  if (pair.v[3] != pair.v[4]) {
    const Vec3 n = (a.normalized() + b.normalized() - c.normalized() - d.normalized()).normalized();
    return IsAlong(n, a) && IsAlong(n, b) && IsAlong(n, -c) && IsAlong(n, -d);
  }
  // The edge a is common; b and c, seen along it.
  const Vec3 along = a.normalized();
  const Vec3 up_b = b - b.dot(along) * along, up_c = c - c.dot(along) * along;
  const Vec3 n = (up_b.normalized() - up_c.normalized()).normalized();
  return up_b.norm() > kMargin * b.norm() && up_c.norm() > kMargin * c.norm() && IsAlong(n, up_b) && IsAlong(n, -up_c);
}

std::vector<NeighbourPair> FindNeighbourPairs(const CollisionSurface& surface, int32_t body) {
  return FindNeighbourPairs(surface, body, nullptr);
}

std::vector<NeighbourPair> FindNeighbourPairs(const CollisionSurface& surface, int32_t body, Interrupt* interrupt) {
  std::vector<NeighbourPair> out;
  InterruptPoll poll(interrupt);
  for (const auto& [s, t] : PairsAroundVertices(surface, body)) {
    if (poll.Stop()) break;
    const Triangle &of_s = surface.triangles[s], &of_t = surface.triangles[t];
    NeighbourPair pair{{s, t}, VerticesOf(of_s, of_t), 0};
    if (SeparatedByPlane(pair, surface.rest_positions)) pair.rest_gap = LeastGap(of_s, of_t, surface.rest_positions);
    out.push_back(pair);
  }
  return out;
}

double LeastGap(const Triangle& a, const Triangle& b, const std::vector<Vec3>& x) {
  double least2 = std::numeric_limits<double>::infinity();
  ForFeaturePairs(a, b, [&](ContactKind kind, const std::array<int32_t, 4>& v) {
    least2 = std::min(least2, PairClosest(kind, v, x).distance2);
  });
  return std::sqrt(least2);
}

}  // namespace eipc
