#include "sim/audit/exact_triangles.h"

#include <CGAL/Exact_predicates_inexact_constructions_kernel.h>

namespace eipc {
namespace {

using Kernel = CGAL::Exact_predicates_inexact_constructions_kernel;
using Point = Kernel::Point_3;

Point P(const Vec3& v) { return {v.x(), v.y(), v.z()}; }

// Triangles abc and abd: the planes differ unless d is coplanar; then they overlap exactly when folded onto one side of ab.
bool EdgeNeighboursMeet(const Point& a, const Point& b, const Point& c, const Point& d) {
  if (CGAL::orientation(a, b, c, d) != CGAL::COPLANAR) return false;
  return CGAL::coplanar_orientation(a, b, c, d) == CGAL::POSITIVE;
}

// Triangles vab and vcd. If they share a point besides v, they share a segment from v, whose far end lies on ab or on cd: so one of
// these two segments meets the other triangle.
bool VertexNeighboursMeet(const Point& v, const Point& a, const Point& b, const Point& c, const Point& d) {
  const auto oa = CGAL::orientation(v, c, d, a), ob = CGAL::orientation(v, c, d, b);
  if (oa == ob && oa != CGAL::COPLANAR) return false;
  const auto oc = CGAL::orientation(v, a, b, c), od = CGAL::orientation(v, a, b, d);
  if (oc == od && oc != CGAL::COPLANAR) return false;
  return CGAL::do_intersect(Kernel::Segment_3(a, b), Kernel::Triangle_3(v, c, d)) ||
         CGAL::do_intersect(Kernel::Segment_3(c, d), Kernel::Triangle_3(v, a, b));
}

// All of t strictly on one side of the plane of s.
bool StrictlyOneSide(const std::array<Point, 3>& s, const std::array<Point, 3>& t) {
  const auto first = CGAL::orientation(s[0], s[1], s[2], t[0]);
  return first != CGAL::COPLANAR && first == CGAL::orientation(s[0], s[1], s[2], t[1]) &&
         first == CGAL::orientation(s[0], s[1], s[2], t[2]);
}

}  // namespace

int ExactOrientation(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
  return static_cast<int>(CGAL::orientation(P(a), P(b), P(c), P(d)));
}

bool ExactlyCollinear(const Vec3& a, const Vec3& b, const Vec3& c) { return CGAL::collinear(P(a), P(b), P(c)); }

bool TrianglesMeet(const std::vector<Vec3>& x, const Triangle& s, const Triangle& t) {
  // Rotate the shared vertices to the front of copies of both; `shared` of them, in the same order.
  Triangle u = s, v = t;
  int shared = 0;
  for (int i = 0; i < 3; ++i) {
    for (int j = shared; j < 3; ++j) {
      if (s[i] != v[j]) continue;
      std::swap(v[j], v[shared]);
      for (int k = shared; k < 3; ++k) {
        if (u[k] == s[i]) std::swap(u[k], u[shared]);
      }
      ++shared;
      break;
    }
  }
  const std::array<Point, 3> a = {P(x[u[0]]), P(x[u[1]]), P(x[u[2]])}, b = {P(x[v[0]]), P(x[v[1]]), P(x[v[2]])};
  if (shared == 3) return true;
  if (shared == 2) return EdgeNeighboursMeet(a[0], a[1], a[2], b[2]);
  if (shared == 1) return VertexNeighboursMeet(a[0], a[1], a[2], b[1], b[2]);
  if (StrictlyOneSide(a, b) || StrictlyOneSide(b, a)) return false;
  return CGAL::do_intersect(Kernel::Triangle_3(a[0], a[1], a[2]), Kernel::Triangle_3(b[0], b[1], b[2]));
}

Crossing SegmentCrossing(const Vec3& p, const Vec3& q, const Vec3& a, const Vec3& b, const Vec3& c) {
  const int above = ExactOrientation(a, b, c, p), below = ExactOrientation(a, b, c, q);
  if (below == 0) return Crossing::kDegenerate;
  if (above == below) return Crossing::kNone;
  const int ab = ExactOrientation(p, q, a, b), bc = ExactOrientation(p, q, b, c), ca = ExactOrientation(p, q, c, a);
  if ((ab > 0 || bc > 0 || ca > 0) && (ab < 0 || bc < 0 || ca < 0)) return Crossing::kNone;
  if (above == 0 || ab == 0 || bc == 0 || ca == 0) return Crossing::kDegenerate;
  return Crossing::kThrough;
}

}  // namespace eipc
