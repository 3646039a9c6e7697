#include "tests/sim/geometry/ccd_exact_reference.h"

#include <algorithm>
#include <array>
#include <vector>

#include "tests/sim/geometry/ccd_exact_polynomial.h"

namespace eipc::ccd_test {
namespace {

template <typename T>
struct Triple {
  T x, y, z;
};
template <typename T>
Triple<T> operator-(const Triple<T>& a, const Triple<T>& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
template <typename T>
T Dot(const Triple<T>& a, const Triple<T>& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
template <typename T>
Triple<T> Cross(const Triple<T>& a, const Triple<T>& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

using Path = Triple<Polynomial>;
using Point = Triple<mpq_class>;

Polynomial Line(double start, double end, const mpq_class& end_time) {
  const mpq_class a(start), b(end);
  return Polynomial({a, (b - a) * end_time});
}

// A vertex and an edge (a, b), whose difference and length are w = p - a and e = b - a.
struct VertexEdge {
  Path w, e;
};

class Motion {
 public:
  Motion(const CcdQuery& q, const mpq_class& end_time) : edges_(q.kind == CcdKind::kEdgeEdge) {
    std::array<Path, 4> x;
    for (int i = 0; i < 4; ++i) {
      x[i] = {Line(q.start[i].x(), q.end[i].x(), end_time), Line(q.start[i].y(), q.end[i].y(), end_time),
              Line(q.start[i].z(), q.end[i].z(), end_time)};
    }
    if (edges_) {
      e_ = x[1] - x[0], f_ = x[3] - x[2], w_ = x[0] - x[2];
      for (int i = 0; i < 2; ++i) pairs_.push_back({x[i] - x[2], f_}), pairs_.push_back({x[2 + i] - x[0], e_});
    } else {
      e_ = x[2] - x[1], f_ = x[3] - x[1], w_ = x[0] - x[1];
      pairs_ = {{w_, e_}, {w_, f_}, {x[0] - x[2], x[3] - x[2]}};
    }
    normal_ = Cross(e_, f_);
    coplanarity_ = Dot(normal_, w_);
    const Path wf = Cross(w_, f_), we = Cross(w_, e_);
    first_ = Dot(wf, normal_), second_ = Dot(we, normal_);
    square_ = Dot(normal_, normal_);
  }

  bool Touches() {
    for (Root& root : CandidateTimes()) {
      if (TouchesAt(&root)) return true;
    }
    return false;
  }

 private:
  static void AddRootsOfOne(const Path& p, std::vector<Root>* times) {
    for (const Polynomial* c : {&p.x, &p.y, &p.z}) {
      if (c->IsZero()) continue;
      const std::vector<Root> roots = RootsInUnitInterval(*c);
      times->insert(times->end(), roots.begin(), roots.end());
      return;
    }
  }

  static bool IsZero(const Path& p) { return p.x.IsZero() && p.y.IsZero() && p.z.IsZero(); }

  // Contains the first time of contact, if there is one.
  std::vector<Root> CandidateTimes() const {
    if (!coplanarity_.IsZero()) return RootsInUnitInterval(coplanarity_);
    std::vector<Root> times = {Root(mpq_class(0))};
    for (const VertexEdge& pair : pairs_) {
      const Path collinearity = Cross(pair.w, pair.e);
      if (!IsZero(collinearity)) {
        AddRootsOfOne(collinearity, &times);
      } else {
        AddRootsOfOne(pair.w, &times);
        AddRootsOfOne(pair.w - pair.e, &times);
      }
    }
    return times;
  }

  static bool IsZeroAt(const Path& p, Root* t) { return t->SignOf(p.x) == 0 && t->SignOf(p.y) == 0 && t->SignOf(p.z) == 0; }

  static bool VertexOnEdgeAt(const VertexEdge& pair, Root* t) {
    if (!IsZeroAt(Cross(pair.w, pair.e), t)) return false;
    const Polynomial along = Dot(pair.w, pair.e), length = Dot(pair.e, pair.e);
    if (t->SignOf(length) == 0) return IsZeroAt(pair.w, t);
    return t->SignOf(along) >= 0 && t->SignOf(length - along) >= 0;
  }

  bool TouchesAt(Root* t) const {
    if (t->SignOf(coplanarity_) != 0) return false;
    if (IsZeroAt(normal_, t)) {
      return std::any_of(pairs_.begin(), pairs_.end(), [&](const VertexEdge& pair) { return VertexOnEdgeAt(pair, t); });
    }
    const Polynomial none;
    if (edges_) {  // both parameters, times |n|^2, in [0, |n|^2]
      const Polynomial s = none - first_, r = none - second_;
      return t->SignOf(s) >= 0 && t->SignOf(square_ - s) >= 0 && t->SignOf(r) >= 0 && t->SignOf(square_ - r) >= 0;
    }
    const Polynomial b = first_, c = none - second_;
    return t->SignOf(b) >= 0 && t->SignOf(c) >= 0 && t->SignOf(square_ - b - c) >= 0;
  }

  bool edges_;
  Path e_, f_, w_, normal_;
  Polynomial coplanarity_, first_, second_, square_;
  std::vector<VertexEdge> pairs_;
};

mpq_class SquaredDistanceToSegment(const Point& w, const Point& e) {
  const mpq_class along = Dot(w, e), length = Dot(e, e);
  if (length == 0 || along <= 0) return Dot(w, w);
  if (along >= length) {
    const Point c = w - e;
    return Dot(c, c);
  }
  return Dot(w, w) - along * along / length;
}

}  // namespace

bool ExactlyTouches(const CcdQuery& query, double end_time) { return Motion(query, mpq_class(end_time)).Touches(); }

mpq_class ExactSquaredDistance(CcdKind kind, const std::array<Vec3, 4>& positions) {
  std::array<Point, 4> x;
  for (int i = 0; i < 4; ++i) x[i] = {mpq_class(positions[i].x()), mpq_class(positions[i].y()), mpq_class(positions[i].z())};
  const bool edges = kind == CcdKind::kEdgeEdge;
  const Point e = edges ? x[1] - x[0] : x[2] - x[1], f = edges ? x[3] - x[2] : x[3] - x[1], w = edges ? x[0] - x[2] : x[0] - x[1];
  const Point n = Cross(e, f);
  const mpq_class nn = Dot(n, n);
  if (nn != 0) {
    const mpq_class first = Dot(Cross(w, f), n), second = -Dot(Cross(w, e), n), height = Dot(w, n);
    const bool inside =
        edges ? first <= 0 && -first <= nn && second >= 0 && second <= nn : first >= 0 && second >= 0 && first + second <= nn;
    if (inside) return height * height / nn;
  }
  if (!edges) {
    return std::min(
        {SquaredDistanceToSegment(w, e), SquaredDistanceToSegment(w, f), SquaredDistanceToSegment(x[0] - x[2], x[3] - x[2])});
  }
  return std::min({SquaredDistanceToSegment(w, f), SquaredDistanceToSegment(x[1] - x[2], f),
                   SquaredDistanceToSegment(x[2] - x[0], e), SquaredDistanceToSegment(x[3] - x[0], e)});
}

}  // namespace eipc::ccd_test
