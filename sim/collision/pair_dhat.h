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

inline ClosestPoints PairClosest(ContactKind kind, const std::array<int32_t, 4>& v, const std::vector<Vec3>& x) {
  return kind == ContactKind::kPointTriangle ? PointTriangleClosest(x[v[0]], x[v[1]], x[v[2]], x[v[3]])
                                             : EdgeEdgeClosest(x[v[0]], x[v[1]], x[v[2]], x[v[3]]);
}

// The dhat of a pair of one body, m.
inline double OwnDhat(const CollisionSurface& surface, ContactKind kind, const std::array<int32_t, 4>& v, double dhat) {
  return std::min(dhat, kSelfContactShare * std::sqrt(PairClosest(kind, v, surface.rest_positions).distance2));
}

}  // namespace eipc

#endif  // EIPC_SIM_COLLISION_PAIR_DHAT_H_
