#ifndef EIPC_SIM_GEOMETRY_CCD_DIRECTIONS_H_
#define EIPC_SIM_GEOMETRY_CCD_DIRECTIONS_H_

#include <cmath>

// Directions along which a point and a triangle, or two edges, are far apart. Nothing here has to be exact: ccd.h explains that a
// direction is only proposed here and certified elsewhere. But a good one saves passes, so directions that should be orthogonal to
// an edge are made so to rounding, which a difference of nearly equal closest points is not: at a gap d it would tilt by u L / d
// over a length L.
//
// Plain arithmetic instead of Eigen, so that no function shared with sources that contract to fused multiply-adds ends up here.

namespace eipc::ccd_internal {

struct V {
  double x, y, z;
};

inline V operator-(const V& a, const V& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline V operator*(double s, const V& a) { return {s * a.x, s * a.y, s * a.z}; }
inline double Dot(const V& a, const V& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline V Cross(const V& a, const V& b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }

// A direction from the second primitive to the first, not normalized, and the squared distance that it stands for.
struct Direction {
  V n{0, 0, 0};
  double squared_distance = INFINITY;
};

// Sine of the angle, squared, below which two edges are treated as parallel: their cross product is then mostly rounding.
inline constexpr double kParallel = 1e-20;

// Takes out of n what is left of it along e; no-op for a zero-length e.
inline V Orthogonalized(const V& n, const V& e) {
  const double ee = Dot(e, e);
  return ee > 0 ? n - (Dot(n, e) / ee) * e : n;
}

// w = point - a, e = b - a: from segment (a, b) to the point.
inline Direction FromSegment(const V& w, const V& e) {
  const double ee = Dot(e, e), we = Dot(w, e);
  if (!(we > 0)) return {w, Dot(w, w)};
  if (we >= ee) {
    const V c = w - e;
    return {c, Dot(c, c)};
  }
  const V c = Orthogonalized(w - (we / ee) * e, e);
  return {c, Dot(c, c)};
}

inline void KeepCloser(const Direction& other, Direction* best) {
  if (other.squared_distance < best->squared_distance) *best = other;
}

// The common normal of e and f, on the side of w; orthogonal to the longer one to rounding even where they are nearly parallel.
inline V CommonNormal(const V& normal, const V& e, double ee, const V& f, double ff, const V& w) {
  const V n = Dot(normal, normal) < 1e-4 * ee * ff ? Orthogonalized(normal, ee > ff ? e : f) : normal;
  return Dot(w, n) < 0 ? -1.0 * n : n;
}

inline Direction AlongNormal(const V& normal, const V& e, double ee, const V& f, double ff, const V& w) {
  const V n = CommonNormal(normal, e, ee, f, ff, w);
  const double wn = Dot(w, n), nn = Dot(n, n);
  return {n, nn > 0 ? wn * wn / nn : INFINITY};
}

// A point and a triangle (a, b, c); r = {p - a, p - b, p - c}.
struct PointTriangle {
  static constexpr int kPairs = 3;

  static Direction Closest(const V* r) {
    const V e = r[0] - r[1], f = r[0] - r[2];
    const V normal = Cross(e, f);
    const double nn = Dot(normal, normal), ee = Dot(e, e), ff = Dot(f, f);
    if (nn > kParallel * ee * ff) {
      const double b = Dot(Cross(r[0], f), normal), c = Dot(Cross(e, r[0]), normal);
      if (b >= 0 && c >= 0 && b + c <= nn) return AlongNormal(normal, e, ee, f, ff, r[0]);
    }
    Direction best = FromSegment(r[0], e);
    KeepCloser(FromSegment(r[0], f), &best);
    KeepCloser(FromSegment(r[1], r[1] - r[2]), &best);
    return best;
  }

  // Calls visit(direction) for every feature pair: what may serve when the closest one, misjudged by rounding, does not.
  template <typename Visit>
  static void ForEach(const V* r, const Visit& visit) {
    const V e = r[0] - r[1], f = r[0] - r[2], g = r[1] - r[2];
    visit(CommonNormal(Cross(e, f), e, Dot(e, e), f, Dot(f, f), r[0]));
    visit(CommonNormal(Cross(e, g), e, Dot(e, e), g, Dot(g, g), r[0]));
    visit(FromSegment(r[0], e).n);
    visit(FromSegment(r[0], f).n);
    visit(FromSegment(r[1], g).n);
    for (int k = 0; k < kPairs; ++k) visit(r[k]);
  }
};

// Edges (a, b) and (c, d); r = {a - c, a - d, b - c, b - d}.
struct EdgeEdge {
  static constexpr int kPairs = 4;

  static Direction Closest(const V* r) {
    const V e = r[2] - r[0], f = r[0] - r[1];
    const V normal = Cross(e, f);
    const double nn = Dot(normal, normal), ee = Dot(e, e), ff = Dot(f, f);
    if (nn > kParallel * ee * ff) {
      const double s = -Dot(Cross(r[0], f), normal), t = -Dot(Cross(r[0], e), normal);
      if (s >= 0 && s <= nn && t >= 0 && t <= nn) return AlongNormal(normal, e, ee, f, ff, r[0]);
    }
    Direction best = FromSegment(r[0], f);
    KeepCloser(FromSegment(r[2], f), &best);
    KeepCloser(FromSegment(r[0], -1.0 * e), &best);
    KeepCloser(FromSegment(r[1], -1.0 * e), &best);
    return best;
  }

  template <typename Visit>
  static void ForEach(const V* r, const Visit& visit) {
    const V e = r[2] - r[0], f = r[0] - r[1];
    visit(CommonNormal(Cross(e, f), e, Dot(e, e), f, Dot(f, f), r[0]));
    visit(FromSegment(r[0], f).n);
    visit(FromSegment(r[2], f).n);
    visit(FromSegment(r[0], -1.0 * e).n);
    visit(FromSegment(r[1], -1.0 * e).n);
    for (int k = 0; k < kPairs; ++k) visit(r[k]);
  }
};

}  // namespace eipc::ccd_internal

#endif  // EIPC_SIM_GEOMETRY_CCD_DIRECTIONS_H_
