#ifndef EIPC_SIM_GEOMETRY_CCD_H_
#define EIPC_SIM_GEOMETRY_CCD_H_

#include "sim/base/types.h"

// Continuous collision detection of one point-triangle or edge-edge pair whose vertices move on straight lines, conservative in
// floating point: it may stop a pair too early, it never lets one through.
//
// Method. Additive CCD (Li et al. 2021, "Codimensional Incremental Potential Contact", Algorithm 1) advances a time t by a step
// that provably cannot close the gap, moves the stencil, and repeats. Its step divides the distance by a bound on the *length* of
// the relative motion. Here the step is the one that a separating plane proves. For any direction n, |n| <= 1, and vertices i of
// one primitive and j of the other,
//     f_ij(t) = n . (x_i(t) - x_j(t)) = (1 - t) n . (x0_i - x0_j) + t n . (x1_i - x1_j)
// is linear in t, and the distance is at least min_ij f_ij(t), because both primitives are convex hulls of their vertices. So a
// direction is a certificate for a whole window of times, known in closed form from its values at t = 0 and t = 1. With n the
// direction between the closest points, the window reaches at least as far as the step of additive CCD (|n . (v_i - v_j)| <= |v_i|
// + |v_j|), and for the common pair that does not approach it covers the whole step at once. The result is the end of an unbroken
// chain of windows that starts at t = 0.
//
// A turning plane. A pair that rotates close by outruns every fixed plane after a time of the order of gap / speed: 1e4 windows and
// more at gaps near 0. A plane that turns along with it lasts for the square root of that. With unit directions n0 at t0 and n1 at
// t1 and n(s) = (1 - s) n0 + s n1 between, no longer than 1,
//     n(s) . r_ij(s) = (1 - s)^2 n0 . r0 + 2 s (1 - s) (n0 . r1 + n1 . r0) / 2 + s^2 n1 . r1
// is a quadratic in Bernstein form, and nowhere below the least of its three coefficients. All pairs' coefficients above the
// threshold certify the whole window. Steps double while they are proven and are halved while not.
//
// Why rounding cannot break it (u = 2^-53; M0, M1 = largest |coordinate| of the stencil at t = 0, 1; D = largest |x1 - x0| of a
// coordinate):
//  - No centroid is subtracted and no displacement is accumulated. Only the differences x_i - x_j at t = 0 and at t = 1 enter,
//    each rounded once. So a common translation, however far or fast, costs nothing, and a motion below an ulp of the coordinates
//    is not lost.
//  - The direction needs no error bound. However badly a degenerate primitive spoils it, f_ij is evaluated for the direction that
//    was found; a bad one proves less, never something false. Its computed length is at most 1 + 5u.
//  - fl(n . r), r = fl(x_i - x_j), is off by at most 4u sum|n_k r_k| (+ O(u^2)). 8u sum|n_k r_k| is taken off: the rest covers the
//    rounding of that sum, of its subtraction and of the threshold's. Thresholds are enlarged by 32u for the length of n and their
//    own rounding.
//  - A turning plane is evaluated at differences interpolated to t0 and t1, fl((1 - t) r(0) + t r(1)), which are off by at most 5u
//    (|r(0)| + |r(1)|): 8u sum|n_k| (|r_k(0)| + |r_k(1)|) is taken off as well.
//  - No error of time builds up: the end of a fixed plane's window is one quotient p / (p - q) of lower bounds p >= 0 > q, at most
//    3u off, scaled by 1 - 4u; that of a turning plane's is a double at which the pair was evaluated.
//  - The caller forms fl(x0 + fl(t d)), with d = fl(x1 - x0), or with the d of x1 = fl(x0 + d). A coordinate then differs from the
//    exact line by at most r(t) + 3u t D + t r(1), where r is at least half an ulp of every coordinate on the path: half an ulp of
//    max(M0, M1), or, where that would be a poor bound, (1 - t) u M0 + t u M1. That is linear in t, and 2 |n|_1 times it, which is
//    what two such errors take from f_ij, is added to the threshold. `position_error_m` adds to it where positions are formed in
//    another manner (x = J q).
// So, at every t <= time, the positions that the caller forms in doubles are at least `gap` apart, where
//     gap(t) = offset + max(floor(t), min(target_gap, (d0 - offset) / 2)),   floor = max(2e-12 m, 64 ulp), ulp = 2 r(t).
//
// A pair that starts at or within 5 % of that floor, both less the offset, has no room: it gets time 0 when it approaches, and
// moves on as long as its distance on the exact line is certified not to fall below the first one (less what rounding takes from
// pairs that are only carried along), and its distance after rounding to stay above 0. So a separating pair goes free from a gap of
// a few ulp on. The factor of 2 over the 1e-12 m and 32 ulp that callers may rely on pays for those rounding errors. A pair whose
// distance cannot be distinguished from 0 gets time 0.
//
// Coordinates that are not finite, or whose sizes sum to more than 1e50 m, get time 0. The loop always ends: each pass proves a
// later time or ends it, and passes are capped.

namespace eipc {

struct CcdOptions {
  // Distance in m below which the pair must not come; what is not a positive number means 0. How it is clamped: see `gap` above.
  double target_gap = 0;
  // Least separation in m that the pair keeps beside that, not negative: half the thicknesses of sheets. Gaps count from there.
  double offset = 0;
  // Bound, in m, on how far each coordinate that the caller forms may lie from the exact line, beyond what rounding x0 + t d costs.
  double position_error_m = 0;
  // What lies after this fraction of the step is of no interest: the time returned may be any that is proven and not before it.
  double enough = 1;
  // Passes after which the last proven time is returned as a hit.
  int max_iterations = 100000;
};

struct CcdResult {
  // Fraction of the step, in [0, 1], over which the gap is proven.
  double time = 0;
  // The whole step, or what is enough of it, could not be proven: time < CcdOptions::enough.
  bool hit = true;
  // Passes, each one direction tried; the work done.
  int iterations = 0;
};

// Point p against triangle (a, b, c), positions in m at the start (0) and the end (1) of the step.
CcdResult PointTriangleCcd(const Vec3& p0, const Vec3& a0, const Vec3& b0, const Vec3& c0, const Vec3& p1, const Vec3& a1,
                           const Vec3& b1, const Vec3& c1, const CcdOptions& options = {});

// Edge (a, b) against edge (c, d), positions in m at the start (0) and the end (1) of the step.
CcdResult EdgeEdgeCcd(const Vec3& a0, const Vec3& b0, const Vec3& c0, const Vec3& d0, const Vec3& a1, const Vec3& b1,
                      const Vec3& c1, const Vec3& d1, const CcdOptions& options = {});

}  // namespace eipc

#endif  // EIPC_SIM_GEOMETRY_CCD_H_
