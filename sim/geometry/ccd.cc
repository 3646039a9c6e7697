#include "sim/geometry/ccd.h"

#include <algorithm>
#include <cmath>

#include "sim/geometry/ccd_directions.h"

// Must be compiled with -ffp-contract=off: the bounds below hold with fused operations too, but results must not depend on
// inlining.

namespace eipc {
namespace {

using ccd_internal::Direction;
using ccd_internal::Dot;
using ccd_internal::EdgeEdge;
using ccd_internal::PointTriangle;
using ccd_internal::V;

constexpr double kRoundoff = 0x1p-53;
constexpr double kLargestSum = 1e50;
constexpr double kFloorMetres = 2e-12;
constexpr double kFloorUlps = 64;
// For rounding in sums of thresholds and for directions a little too long.
constexpr double kEnlarged = 1 + 32 * kRoundoff;
// A pair this near to the threshold, relatively, has no room to approach.
constexpr double kMargin = 0.05;
// The loop ends when this part of the room between the start and the gap is left.
constexpr double kRoomLeft = 0.1;

V Load(const Vec3& v) { return {v.x(), v.y(), v.z()}; }

double LargestAbs(const V& v) { return std::max(std::fabs(v.x), std::max(std::fabs(v.y), std::fabs(v.z))); }

double SumAbs(const V& v) { return std::fabs(v.x) + std::fabs(v.y) + std::fabs(v.z); }

// Half the distance from x to the next larger double: what rounding to a number of at most that size costs. x >= 0.
double HalfUlp(double x) {
  int exponent = 0;
  std::frexp(x, &exponent);
  return x > 0 ? std::ldexp(kRoundoff, exponent - 1) : 0;
}

struct Magnitudes {
  double start = 0, end = 0, motion = 0;
  bool usable = false;
};

template <int kPairs>
struct Stencil {
  V start[kPairs], end[kPairs];
};

// Something given at t = 0 and at t = 1, linear in between.
struct Ends {
  double start = 0, end = 0;
  double At(double t) const { return (1 - t) * start + t * end; }
};

// Bounds half an ulp of every coordinate on the path, at any t in between too.
Ends RoundingOfPositions(const Magnitudes& m) {
  if (m.end > 2 * m.start) return {kRoundoff * m.start, kRoundoff * m.end};
  const double half_ulp = HalfUlp(std::max(m.start, m.end) * (1 + 8 * kRoundoff));
  return {half_ulp, half_ulp};
}

// What a direction must certify: the gap, and what the rounding of each of the two coordinates takes along that direction.
struct Threshold {
  Ends gap, error;
  // The pair starts near the floor: hold the gap on the exact line only, but stay apart after rounding.
  bool hold = false;

  Ends Along(const V& n) const {
    const double sum = 2 * SumAbs(n);
    if (hold) return {std::max(gap.start, 1.01 * sum * error.start), std::max(gap.end, 1.01 * sum * error.end)};
    return {(gap.start + sum * error.start) * kEnlarged, (gap.end + sum * error.end) * kEnlarged};
  }
};

// Times over which one direction certifies the threshold, and what is left above it at the time asked for.
struct Window {
  double first = 1, last = 0, room = -INFINITY;
  bool Covers(double t) const { return first <= t && last > t; }
};

Magnitudes Measure(const V (&start)[4], const V (&end)[4]) {
  Magnitudes m;
  double sum = 0;
  for (int i = 0; i < 4; ++i) {
    m.start = std::max(m.start, LargestAbs(start[i]));
    m.end = std::max(m.end, LargestAbs(end[i]));
    m.motion = std::max(m.motion, LargestAbs(end[i] - start[i]));
    sum += SumAbs(start[i]) + SumAbs(end[i]);
  }
  m.usable = sum <= kLargestSum;  // false for NaN and infinity, which std::max may have lost
  return m;
}

// v over its length, or 0 where v is 0, NaN or infinite: a zero direction certifies nothing.
V Normalized(const V& v) {
  const double squared = Dot(v, v);
  if (squared > 1e-200 && squared < 1e300) return (1 / std::sqrt(squared)) * v;
  const double scale = SumAbs(v);
  if (!(scale > 0 && scale <= 1e200)) return {0, 0, 0};
  const V w{v.x / scale, v.y / scale, v.z / scale};
  return (1 / std::sqrt(Dot(w, w))) * w;
}

double RoundingOfDot(const V& n, const V& r) {
  return 8 * kRoundoff * (std::fabs(n.x * r.x) + std::fabs(n.y * r.y) + std::fabs(n.z * r.z));
}

// A lower bound of n . (x_i - x_j), where r = fl(x_i - x_j).
double LowerDot(const V& n, const V& r) { return Dot(n, r) - RoundingOfDot(n, r); }

template <int kPairs>
double Separation(const V (&r)[kPairs], const V& n) {
  double least = LowerDot(n, r[0]);
  for (int k = 1; k < kPairs; ++k) least = std::min(least, LowerDot(n, r[k]));
  return least;
}

template <int kPairs>
Window Certify(const Stencil<kPairs>& s, const V& n, const Threshold& threshold, double t) {
  Window w{0, 1, INFINITY};
  const Ends needed = threshold.Along(n);
  for (int k = 0; k < kPairs; ++k) {
    const double p = LowerDot(n, s.start[k]) - needed.start, q = LowerDot(n, s.end[k]) - needed.end;
    w.room = std::min(w.room, (1 - t) * p + t * q);
    if (q < 0) {
      if (!(p >= 0)) return {};
      w.last = std::min(w.last, p / (p - q) * (1 - 4 * kRoundoff));
    } else if (p < 0) {
      w.first = std::max(w.first, p / (p - q) * (1 + 4 * kRoundoff));
    }
  }
  return w;
}

template <int kPairs>
void MoveTo(const Stencil<kPairs>& s, double t, V (*r)[kPairs]) {
  for (int k = 0; k < kPairs; ++k) {
    const V &a = s.start[k], &b = s.end[k];
    (*r)[k] = {(1 - t) * a.x + t * b.x, (1 - t) * a.y + t * b.y, (1 - t) * a.z + t * b.z};
  }
}

// Lower bound of m . (x_i - x_j) at time t for every pair, r = the differences as MoveTo forms them: RoundingOfDot, and what MoveTo
// and the differences at both ends are off by.
template <int kPairs>
double SeparationAt(const Stencil<kPairs>& s, const V (&r)[kPairs], int k, const V& m) {
  const V &a = s.start[k], &b = s.end[k];
  const double spread = std::fabs(m.x) * (std::fabs(a.x) + std::fabs(b.x)) + std::fabs(m.y) * (std::fabs(a.y) + std::fabs(b.y)) +
                        std::fabs(m.z) * (std::fabs(a.z) + std::fabs(b.z));
  return LowerDot(m, r[k]) - 8 * kRoundoff * spread;
}

// Whether the plane whose normal turns linearly from n0 at t0 to n1 at t1 keeps every pair apart, `needed` at least, all the time
// between (ccd.h, "A turning plane").
template <int kPairs>
bool TurningPlaneCovers(const Stencil<kPairs>& s, const V (&r0)[kPairs], const V& n0, const V (&r1)[kPairs], const V& n1,
                        double needed) {
  for (int k = 0; k < kPairs; ++k) {
    if (!(SeparationAt(s, r0, k, n0) >= needed && SeparationAt(s, r1, k, n1) >= needed)) return false;
    if (!(0.5 * (SeparationAt(s, r0, k, n1) + SeparationAt(s, r1, k, n0)) >= needed)) return false;
  }
  return true;
}

template <typename Kind>
class Advance {
 public:
  Advance(const V (&start)[4], const V (&end)[4], const Stencil<Kind::kPairs>& s, const CcdOptions& options)
      : m_(Measure(start, end)), s_(s), options_(options) {}

  CcdResult Run() {
    if (!m_.usable || options_.max_iterations < 1 || !Start()) return {};
    if (m_.motion == 0) return {1, false, 1};
    double t = 0, highest = 0;
    int iterations = 0;
    V n = first_;
    while (iterations < options_.max_iterations) {
      ++iterations;
      Window w = Certify(s_, n, threshold_, t);
      if (!w.Covers(t) || w.room <= RoomToLeave(t)) w = Best(t, w);
      highest = std::max(highest, w.room);
      if (!w.Covers(t) || w.room <= RoomToLeave(t)) break;
      if (w.last >= 1) return {1, false, iterations};
      const double from = t;
      t = w.last;
      if (Enough(t)) return {t, false, iterations};
      V r[kPairs];
      MoveTo(s_, t, &r);
      n = Normalized(Kind::Closest(r).n);
      if (!threshold_.hold && t < 0.5 * (1 + from)) Turn(&t, &n, r, &iterations);
      if (t >= 1) return {1, false, iterations};
      if (Enough(t)) return {t, false, iterations};
    }
    // Without room at the start, a pair that never got farther apart is one that approaches.
    if (threshold_.hold && highest <= 2 * slack_) t = 0;
    return {t, true, iterations};
  }

 private:
  static constexpr int kPairs = Kind::kPairs;

  // A pair without room may yet turn out to have none: its time is known at the end only.
  bool Enough(double t) const { return t >= options_.enough && !threshold_.hold; }

  // Finds the first direction and the thresholds. False: nothing can be proven.
  bool Start() {
    const Direction closest = Kind::Closest(s_.start);
    first_ = Normalized(closest.n);
    double separation = Separation(s_.start, first_);
    if (!(separation > 0.9 * std::sqrt(closest.squared_distance))) {
      Kind::ForEach(s_.start, [&](const V& direction) {
        const V n = Normalized(direction);
        const double other = Separation(s_.start, n);
        if (other > separation) separation = other, first_ = n;
      });
    }
    if (!(separation > 0)) return false;
    SetThreshold(separation);
    return true;
  }

  void SetThreshold(double separation) {
    const double extra = options_.position_error_m > 0 ? options_.position_error_m : 0;
    const Ends rounding = RoundingOfPositions(m_);
    threshold_.error = {rounding.start + extra, 2 * rounding.end + 3 * kRoundoff * m_.motion + extra};
    offset_ = options_.offset > 0 ? options_.offset : 0;
    const double gap = options_.target_gap > 0 ? std::min(options_.target_gap, 0.5 * (separation - offset_)) : 0;
    threshold_.gap = {offset_ + std::max({gap, kFloorMetres, 2 * kFloorUlps * rounding.start}),
                      offset_ + std::max({gap, kFloorMetres, 2 * kFloorUlps * rounding.end})};
    const double needed = threshold_.Along(first_).start;
    room_ = separation - needed;
    if (room_ < kMargin * (needed - offset_)) HoldFirstDistance(std::min(separation, needed), rounding.end);
  }

  // No room to approach. The slack is what the rounding of the positions at the end, as given, and of their evaluation may take
  // from a pair that is only carried along.
  void HoldFirstDistance(double distance, double rounding_of_end) {
    double of_dots = 0;
    for (int k = 0; k < kPairs; ++k) {
      of_dots = std::max({of_dots, RoundingOfDot(first_, s_.start[k]), RoundingOfDot(first_, s_.end[k])});
    }
    slack_ = 2 * SumAbs(first_) * rounding_of_end + 2 * of_dots;
    threshold_.gap = {distance - slack_, distance - slack_};
    threshold_.hold = true;
  }

  // Goes on from time t with turning planes, in steps that double while they are proven and are halved while they are not; `n` and
  // `r` are of t. Ends where they cannot go twice as far as fixed planes do.
  void Turn(double* t, V* n, V (&r)[kPairs], int* iterations) const {
    double step = 4 * std::max(Certify(s_, *n, threshold_, *t).last - *t, 0.0);
    const double least = 0.5 * step;
    while (*t < 1 && step >= least && step > 0 && *iterations < options_.max_iterations) {
      ++*iterations;
      const double next = std::min(1.0, *t + step);
      if (!(next > *t)) return;
      V moved[kPairs];
      MoveTo(s_, next, &moved);
      const V turned = Normalized(Kind::Closest(moved).n);
      if (!TurningPlaneCovers(s_, r, *n, moved, turned, Needed(*n, turned))) {
        step *= 0.5;
        continue;
      }
      *t = next, *n = turned;
      std::copy(std::begin(moved), std::end(moved), std::begin(r));
      step *= 2;
    }
  }

  // What a plane between these two normals must certify at any time: thresholds are linear in time, and largest at an end.
  double Needed(const V& n0, const V& n1) const {
    const Ends a = threshold_.Along(n0), b = threshold_.Along(n1);
    return std::max(std::max(a.start, a.end), std::max(b.start, b.end));
  }

  double RoomToLeave(double t) const {
    if (threshold_.hold) return t > 0 ? 0.5 * slack_ : 0;
    return kRoomLeft * std::min(threshold_.gap.At(t) - offset_, room_);
  }

  // The window that reaches farthest among all feature pairs at time t, or the given one.
  Window Best(double t, Window best) const {
    V r[kPairs];
    MoveTo(s_, t, &r);
    Kind::ForEach(r, [&](const V& direction) {
      const Window w = Certify(s_, Normalized(direction), threshold_, t);
      if (w.Covers(t) && (!best.Covers(t) || w.last > best.last)) best = w;
    });
    return best;
  }

  const Magnitudes m_;
  const Stencil<kPairs>& s_;
  const CcdOptions& options_;
  V first_{};
  Threshold threshold_;
  double room_ = 0, slack_ = 0, offset_ = 0;
};

}  // namespace

CcdResult PointTriangleCcd(const Vec3& p0, const Vec3& a0, const Vec3& b0, const Vec3& c0, const Vec3& p1, const Vec3& a1,
                           const Vec3& b1, const Vec3& c1, const CcdOptions& options) {
  const V start[4] = {Load(p0), Load(a0), Load(b0), Load(c0)}, end[4] = {Load(p1), Load(a1), Load(b1), Load(c1)};
  Stencil<3> s;
  for (int k = 0; k < 3; ++k) {
    s.start[k] = start[0] - start[k + 1];
    s.end[k] = end[0] - end[k + 1];
  }
  return Advance<PointTriangle>(start, end, s, options).Run();
}

CcdResult EdgeEdgeCcd(const Vec3& a0, const Vec3& b0, const Vec3& c0, const Vec3& d0, const Vec3& a1, const Vec3& b1,
                      const Vec3& c1, const Vec3& d1, const CcdOptions& options) {
  const V start[4] = {Load(a0), Load(b0), Load(c0), Load(d0)}, end[4] = {Load(a1), Load(b1), Load(c1), Load(d1)};
  Stencil<4> s;
  for (int k = 0; k < 4; ++k) {
    s.start[k] = start[k / 2] - start[2 + k % 2];
    s.end[k] = end[k / 2] - end[2 + k % 2];
  }
  return Advance<EdgeEdge>(start, end, s, options).Run();
}

}  // namespace eipc
