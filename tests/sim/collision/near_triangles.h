#ifndef EIPC_TESTS_SIM_COLLISION_NEAR_TRIANGLES_H_
#define EIPC_TESTS_SIM_COLLISION_NEAR_TRIANGLES_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "sim/audit/pair_check.h"
#include "sim/collision/broad_phase.h"

namespace eipc::testing {

// Triangles without a common vertex that meet at x, displaced by `travel`, are named, each pair once; those of two bodies already
// where their boxes overlap. Adds to *count those that there are.
inline void ExpectNearTrianglesNamed(const CollisionSurface& s, const BroadPhase& broad_phase, const DisplacementBounds& travel,
                                     const std::vector<Vec3>& x, int* count) {
  std::vector<std::pair<int32_t, int32_t>> near;
  VertexList vertices(s.vertex_count);
  broad_phase.NearTriangles(travel, &near, &vertices);
  for (const auto& [a, b] : near) {
    for (const int32_t t : {a, b}) {
      for (const int32_t v : s.triangles[t]) ASSERT_TRUE(vertices.Has(v));
    }
  }
  std::set<std::pair<int32_t, int32_t>> named;
  for (const auto& [a, b] : near) ASSERT_TRUE(named.insert(std::minmax({a, b})).second) << "named twice";
  const auto box = [&](const Triangle& t) {
    Box out;
    for (int32_t v : t) out.Include(x[v]);
    return out;
  };
  const int32_t n = static_cast<int32_t>(s.triangles.size());
  for (int32_t a = 0; a < n; ++a) {
    for (int32_t b = a + 1; b < n; ++b) {
      const Triangle &t = s.triangles[a], &u = s.triangles[b];
      const bool neighbours = std::any_of(t.begin(), t.end(), [&](int32_t v) { return v == u[0] || v == u[1] || v == u[2]; });
      if (neighbours || !s.Enabled(s.triangle_body[a], s.triangle_body[b]) || !box(t).Overlaps(box(u))) continue;
      if (s.triangle_body[a] == s.triangle_body[b] && !AnyPairMeets(x, s.triangles, {{a, b}})) continue;
      ++*count;
      ASSERT_TRUE(named.count({a, b})) << "triangles " << a << " and " << b << " may meet";
    }
  }
}

}  // namespace eipc::testing

#endif  // EIPC_TESTS_SIM_COLLISION_NEAR_TRIANGLES_H_
