// BroadPhase, continued from broad_phase.cc: displacements from the anchors, and the candidates that they leave to be examined.

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/collision/broad_phase.h"
#include "sim/collision/region_bounds.h"
#include "sim/geometry/distance.h"

namespace eipc {
namespace {

// Of dhat: how far from their anchors the two sides of a pair may be in all before more than what is near is examined.
constexpr double kNear = 0.5;
// Of dhat: a pair of primitives that is certain to be farther apart than this beyond its reach needs no better bound.
constexpr double kFarApart = 1;
// Where they are farther, of that distance: a pair that moves on does not have its list made anew at every point.
constexpr double kWider = 1.5;

}  // namespace

bool BroadPhase::CoversPath(const VecX& there) {
  bool all = true;
  const std::vector<BodyPair>& pairs = pairs_.pairs();
  on_path_.body.resize(surface_->body_count);
  on_path_.extent.resize(surface_->body_count);
  on_path_.pair.resize(pairs.size());
  centroids_.resize(surface_->body_count);
  for (int32_t body = 0; body < surface_->body_count; ++body) {
    centroids_[body] = NodeCentroid(*summaries_, body, there);
    const BodyPairList::Extent& extent = pairs_.extent(body);
    on_path_.body[body] = RegionsCover(body, there, centroids_[body]) && ShapeCovers(body, there);
    on_path_.extent[body] = !extent.present || Contains(extent.centroids, centroids_[body]);
    all = all && on_path_.body[body] && on_path_.extent[body];
  }
  for (size_t k = 0; k < pairs.size(); ++k) {
    const BodyPair& pair = pairs[k];
    on_path_.pair[k] = on_path_.body[pair.a] && on_path_.body[pair.b] && IsCurrent(pair) &&
                       (pair.of_one_body() || Contains(pair.shifts, centroids_[pair.b] - centroids_[pair.a]));
    all = all && on_path_.pair[k];
  }
  return all;
}

bool BroadPhase::InRegions(int32_t a, int32_t b) const {
  if (AtRest(a, b)) return true;
  const std::vector<BodyPair>& pairs = pairs_.pairs();
  const auto it = std::lower_bound(pairs.begin(), pairs.end(), std::pair(a, b),
                                   [](const BodyPair& pair, const auto& wanted) { return std::pair(pair.a, pair.b) < wanted; });
  if (it != pairs.end() && it->a == a && it->b == b) return on_path_.pair[it - pairs.begin()] != 0;
  return on_path_.body[a] && on_path_.body[b] && on_path_.extent[a] && on_path_.extent[b];
}

void BroadPhase::ExcludeUncovered(DisplacementBounds* bounds) const {
  for (size_t k = 0; k < pairs_.pairs().size(); ++k) {
    if (!on_path_.pair[k]) bounds->shift[k] = -std::numeric_limits<double>::infinity();
  }
}

void BroadPhase::MoveAnchors(const VecX& q, double slack) {
  poll_.Begin();
  if (!gathered_.complete) return;  // by the next UpdateBounds
  centroids_.resize(surface_->body_count);
  motion_.turn.assign(surface_->body_count, 0);
  for (int32_t body = 0; body < surface_->body_count; ++body) {
    centroids_[body] = NodeCentroid(*summaries_, body, q);
    if (anchors_.stamp(body) > 0 && anchors_.LargestComponent(body, q, centroids_[body]) <= slack) continue;
    motion_.turn[body] = anchors_.OfBody(body, q, centroids_[body]);
    anchors_.Set(body, q, centroids_[body]);
    bodies_[body].anchor_in_region = false;
  }
  for (const int32_t v : gathered_.vertices.list()) anchors_.UpdateVertex(v);
  for (const int32_t v : gathered_.triangle_vertices.list()) anchors_.UpdateVertex(v);
  for (BodyPair& pair : pairs_.pairs()) {
    const Vec3 shift = pair.of_one_body() ? Vec3(Vec3::Zero()) : Vec3(centroids_[pair.b] - centroids_[pair.a]);
    const bool same = pair.anchor_a == anchors_.stamp(pair.a) && pair.anchor_b == anchors_.stamp(pair.b);
    if (same && (shift - pair.anchor_shift).cwiseAbs().maxCoeff() <= slack) continue;
    BoundPair(&pair);
  }
}

// Bounds the distances of its pairs of primitives at the anchors, everything of b relative to the centroid of a. Those that were
// far apart at the anchors before, and have not come much nearer since, are at least as far apart less what both sides have moved.
void BroadPhase::BoundPair(BodyPair* pair) {
  const Vec3 &a = centroids_[pair->a], &b = centroids_[pair->b];
  const Vec3 shift = pair->of_one_body() ? Vec3(Vec3::Zero()) : Vec3(b - a);
  const auto bounded = [this](int32_t body, uint64_t anchor) {
    return anchor > 0 && anchor + (motion_.turn[body] > 0 ? 1 : 0) == anchors_.stamp(body);
  };
  double moved = std::numeric_limits<double>::infinity();
  if (bounded(pair->a, pair->anchor_a) && bounded(pair->b, pair->anchor_b)) {
    const double extent = anchors_.extent(pair->a) + anchors_.extent(pair->b);
    const double slack = kSlack * (a.cwiseAbs().maxCoeff() + b.cwiseAbs().maxCoeff() + extent);
    moved = kRoundUp * ((shift - pair->anchor_shift).norm() + motion_.turn[pair->a] + motion_.turn[pair->b]) + slack;
  }
  pair->anchor_shift = shift;
  pair->anchor_a = anchors_.stamp(pair->a);
  pair->anchor_b = anchors_.stamp(pair->b);
  const auto at = [&](int32_t v) -> Vec3 {
    return surface_->vertex_body[v] == pair->a ? anchors_[v] : Vec3(anchors_[v] + pair->anchor_shift);
  };
  int64_t bounded_anew = 0;
  for (size_t i = 0; i < pair->candidates.size(); ++i) {
    if (poll_.Stop()) {
      pair->anchor_a = 0;
      return;
    }
    Candidate& c = pair->candidates[i];
    if (c.bound - moved >= c.reach() + kFarApart * dhat_) {
      gathered_.candidates[pair->first + i].bound = c.bound -= moved;
      continue;
    }
    ++bounded_anew;
    const Vec3 x0 = at(c.v[0]), x1 = at(c.v[1]), x2 = at(c.v[2]), x3 = at(c.v[3]);
    c.bound = c.kind == ContactKind::kPointTriangle ? PointTriangleSeparation(x0, x1, x2, x3) : EdgeEdgeSeparation(x0, x1, x2, x3);
    gathered_.candidates[pair->first + i].bound = c.bound;
  }
  share_.AddExamined(0, bounded_anew);
  pair->triangle_gaps.clear();
  for (const auto& [a, b] : pair->triangle_pairs) {
    Box s, t;
    for (int32_t v : surface_->triangles[a]) s.Include(at(v));
    for (int32_t v : surface_->triangles[b]) t.Include(at(v));
    pair->triangle_gaps.push_back((s.lo - t.hi).max(t.lo - s.hi).maxCoeff());
  }
  near_.stale = true;
}

void BroadPhase::Displacements(const VecX& q, const std::vector<Vec3>& x, DisplacementBounds* bounds) const {
  DisplacementsOfBodies(q, bounds);
  DisplacementsOfVertices(gathered_.vertices, x, bounds);
}

void BroadPhase::DisplacementsOfBodies(const VecX& q, DisplacementBounds* bounds) const {
  bounds->shift.resize(pairs_.pairs().size());
  bounds->body.resize(surface_->body_count);
  bounds->centroids.resize(surface_->body_count);
  for (int32_t body = 0; body < surface_->body_count; ++body) {
    bounds->centroids[body] = NodeCentroid(*summaries_, body, q);
    bounds->body[body] = anchors_.OfBody(body, q, bounds->centroids[body]);
  }
  for (size_t k = 0; k < pairs_.pairs().size(); ++k) {
    const BodyPair& pair = pairs_.pairs()[k];
    bounds->shift[k] = 0;
    if (pair.of_one_body()) continue;
    const Vec3 &a = bounds->centroids[pair.a], &b = bounds->centroids[pair.b];
    const double extent = anchors_.extent(pair.a) + anchors_.extent(pair.b);
    const double slack = kSlack * (a.cwiseAbs().maxCoeff() + b.cwiseAbs().maxCoeff() + extent);
    bounds->shift[k] = kRoundUp * (b - a - pair.anchor_shift).norm() + slack;
  }
}

void BroadPhase::DisplacementsOfVertices(const VertexList& vertices, const std::vector<Vec3>& x, DisplacementBounds* bounds) const {
  bounds->own.resize(x.size());
  for (const int32_t v : vertices.list()) bounds->own[v] = anchors_.OfVertex(v, x[v], bounds->centroids[surface_->vertex_body[v]]);
}

// Whether a pair of bodies that has candidates is displaced by more than near_ allows for; then it allows for more.
bool BroadPhase::WidenNear(const DisplacementBounds& bodies) {
  bool wider = false;
  for (size_t k = 0; k < pairs_.pairs().size(); ++k) {
    const BodyPair& pair = pairs_.pairs()[k];
    if (pair.candidates.empty()) continue;  // nothing of it is selected, however far it moves
    const double displaced = kRoundUp * (bodies.shift[k] + bodies.body[pair.a] + bodies.body[pair.b]);
    if (displaced <= near_.within[k]) continue;
    near_.within[k] = kWider * displaced;
    wider = true;
  }
  return wider;
}

// Of pairs whose sides and the vector between them are displaced by some distance in all: one that was farther apart than that
// beyond its reach is not active.
void BroadPhase::FindNear() {
  near_.candidates.clear();
  near_.vertices.Clear();
  for (size_t k = 0; k < pairs_.pairs().size(); ++k) {
    const BodyPair& pair = pairs_.pairs()[k];
    for (size_t i = pair.first; i < pair.first + pair.candidates.size(); ++i) {
      const Candidate& c = gathered_.candidates[i];
      if (c.bound >= c.reach() + kLeastExamined + near_.within[k]) continue;
      near_.candidates.push_back(static_cast<int32_t>(i));
      near_.vertices.AddAll(c.v);
    }
  }
  share_.AddExamined(static_cast<int64_t>(gathered_.candidates.size()), 0);
  near_.stale = false;
  ++near_.stamp;
}

BroadPhase::Selection BroadPhase::Select(const DisplacementBounds& bodies) {
  if (!gathered_.complete) return {nullptr, &gathered_.vertices, 0};
  if (near_.stale) std::fill(near_.within.begin(), near_.within.end(), kNear * dhat_);
  if (WidenNear(bodies) || near_.stale) FindNear();
  share_.AddExamined(static_cast<int64_t>(near_.candidates.size()), 0);
  return {&near_.candidates, &near_.vertices, near_.stamp};
}

void BroadPhase::NearTriangles(const DisplacementBounds& bodies, std::vector<TrianglePair>* out) const {
  out->clear();
  for (size_t k = 0; k < pairs_.pairs().size(); ++k) {
    const BodyPair& pair = pairs_.pairs()[k];
    const double most = kRoundUp * (bodies.shift[k] + bodies.body[pair.a] + bodies.body[pair.b]);
    for (size_t i = 0; i < pair.triangle_pairs.size(); ++i) {
      if (pair.triangle_gaps[i] > most) continue;
      out->push_back({pair.triangle_pairs[i], pair.triangle_gaps[i] - kRoundUp * bodies.shift[k]});
    }
  }
}

void BroadPhase::NearTriangles(const DisplacementBounds& vertices, const std::vector<TrianglePair>& pairs,
                               std::vector<std::pair<int32_t, int32_t>>* out) const {
  const auto farthest = [&](int32_t t) {
    const Triangle& tri = surface_->triangles[t];
    return std::max({vertices.own[tri[0]], vertices.own[tri[1]], vertices.own[tri[2]]});
  };
  out->clear();
  for (const TrianglePair& pair : pairs) {
    const auto& [a, b] = pair.triangles;
    if (pair.apart <= kRoundUp * (farthest(a) + farthest(b))) out->emplace_back(a, b);
  }
}

}  // namespace eipc
