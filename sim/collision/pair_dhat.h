#ifndef EIPC_SIM_COLLISION_PAIR_DHAT_H_
#define EIPC_SIM_COLLISION_PAIR_DHAT_H_

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/collision/collision_surface.h"
#include "sim/collision/contact_kind.h"
#include "sim/geometry/distance.h"

namespace eipc {

// Features of one body push each other below this part of the distance that they have at rest, where that is less than dhat: so
// that a surface with triangles smaller than dhat is not at rest in contact with itself, nor resists being compressed.
inline constexpr double kSelfContactShare = 0.5;

// How two features keep apart: they push each other from `reach` on, and never come as near as `offset`. Their gap is the distance
// less the offset, which comes from the thickness of sheets.
struct PairRange {
  double dhat = 0;    // m
  double offset = 0;  // m
  double reach() const { return dhat + offset; }
};

inline ClosestPoints PairClosest(ContactKind kind, const std::array<int32_t, 4>& v, const std::vector<Vec3>& x) {
  return kind == ContactKind::kPointTriangle ? PointTriangleClosest(x[v[0]], x[v[1]], x[v[2]], x[v[3]])
                                             : EdgeEdgeClosest(x[v[0]], x[v[1]], x[v[2]], x[v[3]]);
}

// Whether two features of one sheet are near each other along it, so that their distance at rest says how they may move.
inline bool NearAlongSheet(const CollisionSurface& surface, ContactKind kind, const std::array<int32_t, 4>& v) {
  const int split = kind == ContactKind::kPointTriangle ? 1 : 2;
  for (int i = 0; i < split; ++i) {
    for (int j = split; j < 4; ++j) {
      if (surface.AreNear(v[i], v[j])) return true;
    }
  }
  return false;
}

// Of a pair of one body. Where it is less than the scene's, dhat and offset are cut alike. Layers of a sheet that are only placed
// near each other get all of both.
inline PairRange OwnRange(const CollisionSurface& surface, ContactKind kind, const std::array<int32_t, 4>& v, double dhat) {
  const int32_t body = surface.vertex_body[v[0]];
  const double offset = surface.Offset(body, body);
  if (surface.IsThin(body) && !NearAlongSheet(surface, kind, v)) return {dhat, offset};
  const double most = kSelfContactShare * std::sqrt(PairClosest(kind, v, surface.StressFree()).distance2);
  if (offset == 0) return {std::min(dhat, most), 0};
  const double scale = std::min(1.0, most / (dhat + offset));
  return {scale * dhat, scale * offset};
}

// Of a pair of two bodies.
inline PairRange RangeBetween(const CollisionSurface& surface, int32_t body_a, int32_t body_b, double dhat) {
  return {dhat, surface.Offset(body_a, body_b)};
}

}  // namespace eipc

#endif  // EIPC_SIM_COLLISION_PAIR_DHAT_H_
