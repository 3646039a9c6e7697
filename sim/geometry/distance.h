#ifndef EIPC_SIM_GEOMETRY_DISTANCE_H_
#define EIPC_SIM_GEOMETRY_DISTANCE_H_

// Distance of a point to a triangle and of two edges, with what is needed to differentiate it.
//
// The distance is d(x) = min over feasible parameters b of |e|, e = sum_i w_i(b) x_i over the four vertices of the stencil
// (point-triangle: p, t0, t1, t2; edge-edge: a0, a1, b0, b1). Let k <= 2 parameters be free at the minimum, with
// e_k = de/db_k = sum_i (dw_k)_i x_i, and n = e / d. The envelope theorem gives
//     grad d = n (x) w,
//     hess d = (w w^T) (x) (I - n n^T) / d - U A^{-1} U^T,   U_k = (e_k / d) (x) w + n (x) dw_k,   A = [e_j . e_k] / d,
// where (x) stacks vertex by vertex: (n (x) w)_i = w_i n. Both live in the span of {n, t1, t2} (x) w and n (x) dw_k: five
// dimensions.

#include <array>

#include "sim/base/types.h"

namespace eipc {

struct ClosestPoints {
  double distance2 = 0;
  Vec3 e = Vec3::Zero();                         // from the second side's point to the first's
  std::array<double, 4> w = {0, 0, 0, 0};        // sums to zero
  int free_count = 0;                            // k
  std::array<std::array<double, 4>, 2> dw = {};  // derivative of w by each free parameter
};

// grad d, by vertex.
inline std::array<Vec3, 4> DistanceGradient(const ClosestPoints& closest) {
  const Vec3 n = closest.e.normalized();
  return {closest.w[0] * n, closest.w[1] * n, closest.w[2] * n, closest.w[3] * n};
}

// The slots are {p, q0, q1, none}.
ClosestPoints PointEdgeClosest(const Vec3& p, const Vec3& q0, const Vec3& q1);
ClosestPoints PointTriangleClosest(const Vec3& p, const Vec3& t0, const Vec3& t1, const Vec3& t2);
// Near-parallel edges (sine^2 below 1e-14) use the nearest of the four end points.
ClosestPoints EdgeEdgeClosest(const Vec3& a0, const Vec3& a1, const Vec3& b0, const Vec3& b1);

// At other positions x of the stencil's vertices, the distance of the points, lines or planes that the free parameters of `closest`
// span: what the distance is while the closest features stay these. That of planes goes on through zero, negative where the two
// sides have passed each other; points, and a point and a line, go around each other instead.
double SpannedDistance(const ClosestPoints& closest, const std::array<Vec3, 4>& x);

// The unit direction n from the second side's closest point to the first's, zero where they meet, and a certified lower bound of
// the distance, m: both sides being convex hulls of their vertices, the distance is at least min_ij n . (x_i - x_j) over the
// vertices of either side, whatever n is; less than that by the rounding of these products. Equal to the distance up to rounding
// where it is well conditioned, negative at worst.
struct Separation {
  Vec3 direction;
  double distance;
};
Separation PointTriangleSeparation(const Vec3& p, const Vec3& t0, const Vec3& t1, const Vec3& t2);
Separation EdgeEdgeSeparation(const Vec3& a0, const Vec3& a1, const Vec3& b0, const Vec3& b1);

}  // namespace eipc

#endif  // EIPC_SIM_GEOMETRY_DISTANCE_H_
