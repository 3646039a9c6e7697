#include "sim/collision/candidate.h"

#include <algorithm>
#include <cmath>

#include "sim/collision/region_bounds.h"

namespace eipc {
namespace {

// Points of both sides are convex combinations of their vertices, and so is the displacement of one relative to the other.
double LargestSquared(const Candidate& c, const DisplacementBounds::Moves& moves) {
  const std::vector<Vec3>& of = c.of_one_body ? moves.turned : moves.own;
  Vec3 first = Vec3::Zero();  // of the first side, beyond those of its vertices
  if (!c.of_one_body) first = c.first_is_of_b ? moves.shift[c.list] : Vec3(-moves.shift[c.list]);
  const Vec3 m0 = of[c.v[0]] + first;
  const Vec3 &m2 = of[c.v[2]], &m3 = of[c.v[3]];
  const double from0 = std::max((m0 - m2).squaredNorm(), (m0 - m3).squaredNorm());
  if (c.kind == ContactKind::kPointTriangle) return std::max(from0, (m0 - of[c.v[1]]).squaredNorm());
  const Vec3 m1 = of[c.v[1]] + first;
  return std::max({from0, (m1 - m2).squaredNorm(), (m1 - m3).squaredNorm()});
}

}  // namespace

void DisplacementBounds::ResizeVertices(size_t count) {
  own.resize(count);
  turned.resize(count);
  for (Moves* moves : {&end, &start}) {
    moves->own.resize(count);
    moves->turned.resize(count);
  }
}

double DisplacementBounds::RelativeApproach(const Candidate& c) const {
  double largest2 = LargestSquared(c, end);
  if (of_path) largest2 = std::max(largest2, LargestSquared(c, start));
  return kRoundUp * std::sqrt(largest2) + slack[c.list] + (c.of_one_body ? shift[c.list] : 0);
}

// A distance from a point is convex along a straight path, so it is largest at one of the ends. Along the axes of a body paths are
// straight but for PathBend::Bulge, of both sides; nothing is displaced by more than both ends are from the anchors together.
void DisplacementBounds::IncludeBodies(const DisplacementBounds& other) {
  of_path = true;
  start.shift = other.end.shift;
  for (size_t b = 0; b < bodies.size(); ++b) {
    const Seen &from = other.bodies[b], &to = bodies[b];
    if (to.list < 0) continue;
    const double change = 0.5 * (sides[to.list] + other.sides[to.list]);
    shift[to.list] = kRoundUp * 2 * PathBend(from.along_body, to.along_body).Bulge(std::max(from.radius, to.radius), change);
  }
  for (size_t k = 0; k < shift.size(); ++k) {
    shift[k] = std::max(shift[k], other.shift[k]);
    sides[k] = std::max(sides[k], other.sides[k]);
    slack[k] = std::max(slack[k], other.slack[k]);
  }
}

void DisplacementBounds::IncludeVertices(const DisplacementBounds& other, std::span<const int32_t> vertices) {
  for (const int32_t v : vertices) {
    own[v] = std::max(own[v], other.own[v]);
    turned[v] = std::max(turned[v], other.turned[v]);
    start.own[v] = other.end.own[v];
    start.turned[v] = other.end.turned[v];
  }
}

}  // namespace eipc
