#include "sim/geometry/distance.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace eipc {
namespace {

// Point against segment (q0, q1), coordinates relative to the point: returns the parameter in [0, 1] of the closest point.
double SegmentParameter(const Vec3& q0, const Vec3& q1) {
  const Vec3 u = q1 - q0;
  const double length2 = u.squaredNorm();
  if (!(length2 > 0)) return 0;
  return std::clamp(-q0.dot(u) / length2, 0.0, 1.0);
}

// The closest point of a segment (stencil indices i, j) to a point (index p).
struct SegmentGap {
  int p, i, j;
  double s = 0;             // parameter of the segment
  Vec3 gap = Vec3::Zero();  // from the point to the segment
  double distance2 = 0;

  SegmentGap(const std::array<Vec3, 4>& x, int point, int first, int second) : p(point), i(first), j(second) {
    const Vec3 q0 = x[i] - x[p], q1 = x[j] - x[p];
    s = SegmentParameter(q0, q1);
    gap = (1 - s) * q0 + s * q1;
    distance2 = gap.squaredNorm();
  }

  // `sign`: of the point in the stencil's differences.
  ClosestPoints Points(double sign) const {
    ClosestPoints c;
    c.e = -sign * gap;
    c.w[p] = sign;
    c.w[i] = -sign * (1 - s);
    c.w[j] = -sign * s;
    if (s > 0 && s < 1) {
      c.free_count = 1;
      c.dw[0][i] = sign;
      c.dw[0][j] = -sign;
    }
    c.distance2 = distance2;
    return c;
  }
};

const SegmentGap& Nearer(const SegmentGap& a, const SegmentGap& b) { return b.distance2 < a.distance2 ? b : a; }

// Smallest n . r over the differences r of two vertices, less their rounding (n at most 1 + 4u long).
template <size_t kPairs>
double LeastAlong(const Vec3& n, const std::array<Vec3, kPairs>& differences) {
  double least = std::numeric_limits<double>::infinity();
  for (const Vec3& r : differences) least = std::min(least, n.dot(r) - 1e-15 * n.cwiseAbs().dot(r.cwiseAbs()));
  return least - 1e-15 * std::abs(least);
}

Vec3 UnitOrZero(const Vec3& e, double squared) {
  // Squares of lengths below 1e-140 m lose digits: no direction, no bound.
  return squared > 1e-280 ? Vec3(e / std::sqrt(squared)) : Vec3::Zero();
}

}  // namespace

ClosestPoints PointEdgeClosest(const Vec3& p, const Vec3& q0, const Vec3& q1) {
  return SegmentGap({p, q0, q1, p}, 0, 1, 2).Points(1);
}

Separation PointTriangleSeparation(const Vec3& p, const Vec3& t0, const Vec3& t1, const Vec3& t2) {
  const ClosestPoints c = PointTriangleClosest(p, t0, t1, t2);
  const Vec3 n = UnitOrZero(c.e, c.distance2);
  return {n, LeastAlong<3>(n, {p - t0, p - t1, p - t2})};
}

Separation EdgeEdgeSeparation(const Vec3& a0, const Vec3& a1, const Vec3& b0, const Vec3& b1) {
  const ClosestPoints c = EdgeEdgeClosest(a0, a1, b0, b1);
  const Vec3 n = UnitOrZero(c.e, c.distance2);
  return {n, LeastAlong<4>(n, {a0 - b0, a0 - b1, a1 - b0, a1 - b1})};
}

double SpannedDistance(const ClosestPoints& closest, const std::array<Vec3, 4>& x) {
  Vec3 e = Vec3::Zero();
  std::array<Vec3, 2> span = {Vec3::Zero(), Vec3::Zero()};
  for (int i = 0; i < 4; ++i) {
    e += closest.w[i] * x[i];
    for (int k = 0; k < closest.free_count; ++k) span[k] += closest.dw[k][i] * x[i];
  }
  if (closest.free_count == 2) {
    const Vec3 normal = UnitOrZero(span[0].cross(span[1]), span[0].cross(span[1]).squaredNorm());
    return normal.dot(closest.e) < 0 ? -normal.dot(e) : normal.dot(e);
  }
  if (closest.free_count == 1 && span[0].squaredNorm() > 0) e -= span[0] * (span[0].dot(e) / span[0].squaredNorm());
  return e.norm();
}

ClosestPoints PointTriangleClosest(const Vec3& p, const Vec3& t0, const Vec3& t1, const Vec3& t2) {
  // All relative to the point, so that small gaps keep their digits.
  const Vec3 a = t0 - p, b = t1 - p, c = t2 - p;
  const Vec3 ab = b - a, ac = c - a;
  const double g11 = ab.squaredNorm(), g12 = ab.dot(ac), g22 = ac.squaredNorm();
  const double r1 = -a.dot(ab), r2 = -a.dot(ac);
  const double det = g11 * g22 - g12 * g12;
  if (det > 1e-14 * g11 * g22) {
    // The second parameter from the first, not from det: on a sliver it then makes up for what rounding did to the first, and the
    // point found is off by rounding / sine of the sliver instead of its square.
    const double v = (g22 * r1 - g12 * r2) / det;
    const double w = (r2 - g12 * v) / g22;
    if (v > 0 && w > 0 && v + w < 1) {
      ClosestPoints out;
      const double u = 1 - v - w;
      out.e = -(a + v * ab + w * ac);
      out.w = {1, -u, -v, -w};
      out.free_count = 2;
      out.dw[0] = {0, 1, -1, 0};
      out.dw[1] = {0, 1, 0, -1};
      out.distance2 = out.e.squaredNorm();
      return out;
    }
  }
  const std::array<Vec3, 4> x = {p, t0, t1, t2};
  const SegmentGap ab_gap(x, 0, 1, 2), bc_gap(x, 0, 2, 3), ca_gap(x, 0, 3, 1);
  return Nearer(Nearer(ab_gap, bc_gap), ca_gap).Points(1);
}

namespace {

// Of a0 + s u and b0 + t v, r = a0 - b0.
ClosestPoints EdgeEdgePoints(const Vec3& r, const Vec3& u, const Vec3& v, double s, double t) {
  ClosestPoints out;
  out.e = r + s * u - t * v;
  out.w = {1 - s, s, -(1 - t), -t};
  if (s > 0 && s < 1) out.dw[out.free_count++] = {-1, 1, 0, 0};
  if (t > 0 && t < 1) out.dw[out.free_count++] = {0, 0, 1, -1};
  out.distance2 = out.e.squaredNorm();
  return out;
}

}  // namespace

ClosestPoints EdgeEdgeClosest(const Vec3& a0, const Vec3& a1, const Vec3& b0, const Vec3& b1) {
  const Vec3 u = a1 - a0, v = b1 - b0, r = a0 - b0;
  const double uu = u.squaredNorm(), uv = u.dot(v), vv = v.squaredNorm();
  const double ur = u.dot(r), vr = v.dot(r);
  const double det = uu * vv - uv * uv;
  if (det > 1e-14 * uu * vv) {
    double s = (uv * vr - vv * ur) / det;
    double t = (vr + uv * s) / vv;  // as above, for near-parallel edges
    if (s > 0 && s < 1 && t > 0 && t < 1) return EdgeEdgePoints(r, u, v, s, t);
    // The minimum over the square of parameters from that over the plane (Ericson 2005, 5.1.9); where edges are nearly parallel
    // rounding may choose the wrong side of the square.
    if (det > 1e-6 * uu * vv) {
      s = std::clamp(s, 0.0, 1.0);
      t = (vr + uv * s) / vv;
      if (!(t > 0 && t < 1)) {
        t = t > 0 ? 1 : 0;
        s = std::clamp((t * uv - ur) / uu, 0.0, 1.0);
      }
      return EdgeEdgePoints(r, u, v, s, t);
    }
  }
  const std::array<Vec3, 4> x = {a0, a1, b0, b1};
  const SegmentGap of_a0(x, 0, 2, 3), of_a1(x, 1, 2, 3), of_b0(x, 2, 0, 1), of_b1(x, 3, 0, 1);
  const SegmentGap& best = Nearer(Nearer(of_a0, of_a1), Nearer(of_b0, of_b1));
  return best.Points(best.p < 2 ? 1 : -1);
}

}  // namespace eipc
