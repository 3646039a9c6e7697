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
constexpr double kNear = 0.2;
// Of dhat: a pair of primitives that is certain to be farther apart than this beyond its reach needs no better bound.
constexpr double kFarApart = 1;
// Where they are farther, of that distance: a pair that moves on does not have its list made anew at every point.
constexpr double kWider = 1.5;
constexpr int64_t kVertices = 512;  // of a chunk

}  // namespace

bool BroadPhase::CoversPath(const VecX& here, const VecX& there) {
  constexpr double kEverywhere = std::numeric_limits<double>::infinity();
  bool all = true;
  const std::vector<BodyPair>& pairs = pairs_.pairs();
  on_path_.world.assign(surface_->body_count, 1);
  on_path_.itself.assign(surface_->body_count, 1);
  on_path_.extent.assign(surface_->body_count, 1);
  on_path_.pair.resize(pairs.size());
  for (int32_t body = 0; body < surface_->body_count; ++body) {
    if (!along_world_.wanted(body)) continue;
    on_path_.world[body] = along_world_.CoverMotion(body, kEverywhere);
    on_path_.extent[body] = Contains(pairs_.extent(body).centroids, along_world_.motion(body).there.centroid);
    if (along_body_.wanted(body)) {
      const BodyRegions::Motion& motion = along_body_.motion(body);
      on_path_.itself[body] =
          along_body_.CoverMotion(body, kEverywhere) && ShapeCovers(body, {here, motion.here}, {there, motion.there});
    }
    all = all && on_path_.world[body] && on_path_.itself[body] && on_path_.extent[body];
  }
  for (size_t k = 0; k < pairs.size(); ++k) {
    const BodyPair& pair = pairs[k];
    const bool inside = pair.of_one_body()
                            ? on_path_.itself[pair.a] != 0
                            : on_path_.world[pair.a] && on_path_.world[pair.b] && Contains(pair.shifts, ShiftThere(pair));
    on_path_.pair[k] = inside && IsCurrent(pair);
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
  return on_path_.world[a] && on_path_.world[b] && on_path_.extent[a] && on_path_.extent[b];
}

void BroadPhase::ExcludeUncovered(DisplacementBounds* bounds) const {
  for (size_t k = 0; k < pairs_.pairs().size(); ++k) {
    if (!on_path_.pair[k]) bounds->shift[k] = -std::numeric_limits<double>::infinity();
  }
}

void BroadPhase::MoveAnchors(const VecX& q, double slack) {
  poll_.Begin();
  if (!gathered_.complete) return;  // by the next UpdateBounds
  const SeenState& world = along_world_.See(q);
  const SeenState& turned = along_body_.See(q, &world);
  for (BodyRegions* regions : {&along_world_, &along_body_}) {
    regions->MoveAnchors(regions == &along_world_ ? world : turned, slack);
    for (const VertexList* vertices : {&gathered_.vertices, &gathered_.triangle_vertices}) {
      const std::vector<int32_t>& list = vertices->list();
      threads_.pool()->ParallelFor(static_cast<int64_t>(list.size()), kVertices, [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
          if (regions->wanted(surface_->vertex_body[list[i]])) regions->anchors().UpdateVertex(list[i]);
        }
      });
    }
  }
  due_.pairs.clear();
  for (size_t k = 0; k < pairs_.pairs().size(); ++k) {
    const BodyPair& pair = pairs_.pairs()[k];
    const Anchors& anchors = RegionsOf(pair).anchors();
    const Vec3 &a = world.frames[pair.a].centroid, &b = world.frames[pair.b].centroid;
    const Vec3 shift = pair.of_one_body() ? Vec3(Vec3::Zero()) : Vec3(b - a);
    const bool same = pair.anchor_a == anchors.stamp(pair.a) && pair.anchor_b == anchors.stamp(pair.b);
    if (!same || (shift - pair.anchor_shift).cwiseAbs().maxCoeff() > slack) due_.pairs.push_back(static_cast<int32_t>(k));
  }
  near_.stale = near_.stale || !due_.pairs.empty();
  ForPairsDue([&](SearchScratch* scratch, BodyPair* pair) { return BoundPair(world, &scratch->poll, pair); });
  for (const int64_t bounded_anew : due_.efforts) share_.AddExamined(0, bounded_anew);
}

// Bounds the distances of its pairs of primitives at the anchors, everything of b relative to the centroid of a. Those that were
// far apart at the anchors before, and have not come much nearer since, are at least as far apart less what both sides have moved.
int64_t BroadPhase::BoundPair(const SeenState& world, InterruptPoll* poll, BodyPair* pair) {
  const BodyRegions& regions = RegionsOf(*pair);
  const Anchors& anchors = regions.anchors();
  const Vec3 &a = world.frames[pair->a].centroid, &b = world.frames[pair->b].centroid;
  const Vec3 shift = pair->of_one_body() ? Vec3(Vec3::Zero()) : Vec3(b - a);
  const auto bounded = [&](int32_t body, uint64_t anchor) {
    return anchor > 0 && anchor + (regions.anchors_moved(body) > 0 ? 1 : 0) == anchors.stamp(body);
  };
  double moved = std::numeric_limits<double>::infinity();
  if (bounded(pair->a, pair->anchor_a) && bounded(pair->b, pair->anchor_b)) {
    const double extent = anchors.extent(pair->a) + anchors.extent(pair->b);
    const double slack = kSlack * (a.cwiseAbs().maxCoeff() + b.cwiseAbs().maxCoeff() + extent);
    const double sides = regions.anchors_moved(pair->a) + regions.anchors_moved(pair->b);
    moved = kRoundUp * ((shift - pair->anchor_shift).norm() + sides) + slack;
  }
  pair->near.within = -1;
  pair->anchor_shift = shift;
  pair->anchor_a = anchors.stamp(pair->a);
  pair->anchor_b = anchors.stamp(pair->b);
  const auto at = [&](int32_t v) -> Vec3 {
    return surface_->vertex_body[v] == pair->a ? anchors[v] : Vec3(anchors[v] + pair->anchor_shift);
  };
  int64_t bounded_anew = 0;
  for (size_t i = 0; i < pair->found.candidates.size(); ++i) {
    if (poll->Stop()) {
      pair->anchor_a = 0;
      return bounded_anew;
    }
    Candidate& c = pair->found.candidates[i];
    if (c.bound - moved >= c.reach() + kFarApart * dhat_) {
      gathered_.candidates[pair->place.first + i].bound = c.bound -= moved;
      continue;
    }
    ++bounded_anew;
    const Vec3 x0 = at(c.v[0]), x1 = at(c.v[1]), x2 = at(c.v[2]), x3 = at(c.v[3]);
    c.bound = (c.kind == ContactKind::kPointTriangle ? PointTriangleSeparation(x0, x1, x2, x3) : EdgeEdgeSeparation(x0, x1, x2, x3))
                  .distance;
    gathered_.candidates[pair->place.first + i].bound = c.bound;
  }
  pair->found.triangle_gaps.clear();
  for (const auto& [a, b] : pair->found.triangle_pairs) {
    Box s, t;
    for (int32_t v : surface_->triangles[a]) s.Include(at(v));
    for (int32_t v : surface_->triangles[b]) t.Include(at(v));
    pair->found.triangle_gaps.push_back((s.lo - t.hi).max(t.lo - s.hi).maxCoeff());
  }
  return bounded_anew;
}

void BroadPhase::Displacements(const VecX& q, const std::vector<Vec3>& x, DisplacementBounds* bounds) {
  DisplacementsOfBodies(q, bounds);
  DisplacementsOfVertices(gathered_.vertices, x, bounds);
}

void BroadPhase::DisplacementsOfBodies(const VecX& q, DisplacementBounds* bounds) {
  const std::vector<BodyPair>& pairs = pairs_.pairs();
  for (std::vector<double>* of_pairs : {&bounds->shift, &bounds->sides, &bounds->slack}) of_pairs->resize(pairs.size());
  bounds->end.shift.resize(pairs.size());
  bounds->of_path = false;
  bounds->bodies.resize(surface_->body_count);
  const SeenState& world = along_world_.See(q);
  const SeenState& turned = along_body_.See(q, &world);
  for (int32_t body = 0; body < surface_->body_count; ++body) {
    if (!along_world_.wanted(body)) continue;
    DisplacementBounds::Seen& seen = bounds->bodies[body];
    const Anchors& anchors = along_world_.anchors();
    seen.along_world = seen.along_body = world.frames[body];
    seen.list = -1;
    const Anchors::Displacement displaced = anchors.OfBody(body, world);
    seen.most = displaced.most;
    seen.radius = displaced.radius;  // the same along all axes
    seen.slack = anchors.Slack(body, seen.along_world, seen.radius);
    seen.from_world = QuadFrame(seen.along_world);
  }
  for (size_t k = 0; k < pairs.size(); ++k) {
    const BodyPair& pair = pairs[k];
    const Anchors& anchors = RegionsOf(pair).anchors();
    DisplacementBounds::Seen &of_a = bounds->bodies[pair.a], &of_b = bounds->bodies[pair.b];
    const Vec3 &a = of_a.along_world.centroid, &b = of_b.along_world.centroid;
    bounds->slack[k] = anchors.Slack(pair.a, of_a.along_world, of_a.radius) + anchors.Slack(pair.b, of_b.along_world, of_b.radius);
    bounds->end.shift[k] = pair.of_one_body() ? Vec3(Vec3::Zero()) : Vec3(b - a - pair.anchor_shift);
    if (pair.of_one_body()) {
      of_a.list = static_cast<int32_t>(k);
      of_a.along_body = turned.frames[pair.a];
      of_a.from_body = QuadFrame(of_a.along_body);
      of_a.slack = std::max(of_a.slack, anchors.Slack(pair.a, of_a.along_body, of_a.radius));
      bounds->shift[k] = 0;
      bounds->sides[k] = 2 * anchors.OfBody(pair.a, turned).most;
      continue;
    }
    const double slack =
        kSlack * (a.cwiseAbs().maxCoeff() + b.cwiseAbs().maxCoeff() + anchors.extent(pair.a) + anchors.extent(pair.b));
    bounds->shift[k] = kRoundUp * bounds->end.shift[k].norm() + slack;
    bounds->slack[k] += slack;
    bounds->sides[k] = kRoundUp * (of_a.most + of_b.most);
  }
}

void BroadPhase::DisplacementsOfVertices(const VertexList& vertices, const std::vector<Vec3>& x, DisplacementBounds* bounds) const {
  if (bounds->own.size() != x.size()) bounds->ResizeVertices(x.size());
  const std::vector<int32_t>& list = vertices.list();
  threads_.pool()->ParallelFor(static_cast<int64_t>(list.size()), kVertices, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const int32_t v = list[i];
      const DisplacementBounds::Seen& seen = bounds->bodies[surface_->vertex_body[v]];
      const Quad at = LoadThree(x[v].data());
      bounds->own[v] = along_world_.anchors().OfVertex(v, seen.from_world.See(at), seen.slack, &bounds->end.own[v]);
      if (seen.list < 0) continue;
      bounds->turned[v] = along_body_.anchors().OfVertex(v, seen.from_body.See(at), seen.slack, &bounds->end.turned[v]);
    }
  });
}

// Whether a pair of bodies that has candidates is displaced by more than near_ allows for; then it allows for more.
bool BroadPhase::WidenNear(const DisplacementBounds& bodies) {
  bool wider = false;
  for (size_t k = 0; k < pairs_.pairs().size(); ++k) {
    const BodyPair& pair = pairs_.pairs()[k];
    if (pair.found.candidates.empty()) continue;  // nothing of it is selected, however far it moves
    const double displaced = kRoundUp * (bodies.shift[k] + bodies.sides[k]);
    if (displaced <= near_.within[k]) continue;
    near_.within[k] = kWider * displaced;
    wider = true;
  }
  return wider;
}

// Of a pair whose sides and the vector between them are displaced by `within` m in all: what was farther apart than that beyond its
// reach is not active. Returns how many were looked at.
int64_t BroadPhase::FindNear(double within, VertexList* vertices, BodyPair* pair) const {
  pair->near.candidates.clear();
  pair->near.candidates.reserve(pair->found.candidates.capacity());  // so that nothing is allocated when the first one comes near
  pair->near.vertices.reserve(pair->vertices.of_candidates.capacity());
  vertices->Clear();
  for (size_t i = 0; i < pair->found.candidates.size(); ++i) {
    const Candidate& c = pair->found.candidates[i];
    if (c.bound >= c.reach() + kLeastExamined + within) continue;
    pair->near.candidates.push_back(static_cast<int32_t>(i));
    vertices->AddAll(c.v);
  }
  pair->near.vertices = vertices->list();
  pair->near.within = within;
  return static_cast<int64_t>(pair->found.candidates.size());
}

void BroadPhase::FindNear() {
  due_.pairs.clear();
  for (size_t k = 0; k < pairs_.pairs().size(); ++k) {
    if (pairs_.pairs()[k].near.within != near_.within[k]) due_.pairs.push_back(static_cast<int32_t>(k));
  }
  ForPairsDue([this](SearchScratch* scratch, BodyPair* pair) {
    return FindNear(near_.within[pair->place.list], &scratch->vertices, pair);
  });
  for (const int64_t looked_at : due_.efforts) share_.AddExamined(looked_at, 0);
  near_.candidates.clear();
  near_.vertices.Clear();
  for (const BodyPair& pair : pairs_.pairs()) {
    for (const int32_t i : pair.near.candidates) near_.candidates.push_back(static_cast<int32_t>(pair.place.first + i));
    near_.vertices.AddAll(pair.near.vertices);
  }
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

// Moved by what it is beyond its reach, a pair is within it, at a point that regions with some room for the shift hold.
bool BroadPhase::FindAhead(int32_t a, int32_t b, const VecX& q, double ahead, const Taker& take) {
  constexpr double kBeyondRounding = 1.01;
  constexpr size_t kPart = 256;
  const double room = kBeyondRounding * ahead;
  const std::vector<ViewFrame>& frames = along_world_.See(q).frames;
  bool all = false;
  threads_.ForEach(1, false, [&](SearchScratch* scratch, int64_t) {
    BodyPair& pair = scratch->pair;
    pair.StartAnew(a, b);
    pair.shift = frames[b].centroid - frames[a].centroid;
    pair.shifts = WideBox(pair.shift.array() - room, pair.shift.array() + room);
    const auto enough = [&] {
      if (pair.found.candidates.size() < kPart) return false;
      const bool wants_more = take(pair.found.candidates);
      pair.found.candidates.clear();
      return !wants_more;
    };
    all = search_.Search(&along_world_.boxes(), &pair, scratch, enough) && take(pair.found.candidates);
  });
  return all;
}

void BroadPhase::NearTriangles(const DisplacementBounds& bodies, std::vector<std::pair<int32_t, int32_t>>* out,
                               VertexList* vertices) const {
  constexpr size_t kVisits = 4;  // of vertices, for each pair: in a row they mostly have their first triangle in common
  out->clear();
  for (size_t k = 0; k < pairs_.pairs().size(); ++k) {
    const BodyPair& pair = pairs_.pairs()[k];
    const double most = kRoundUp * (bodies.shift[k] + bodies.sides[k]);
    const size_t begin = out->size();
    for (size_t i = 0; i < pair.found.triangle_pairs.size(); ++i) {
      if (!(pair.found.triangle_gaps[i] > most)) out->push_back(pair.found.triangle_pairs[i]);
    }
    if (kVisits * (out->size() - begin) > pair.vertices.of_triangles.size()) {
      vertices->AddAll(pair.vertices.of_triangles);
      continue;
    }
    for (size_t i = begin; i < out->size(); ++i) {
      vertices->AddAll(surface_->triangles[(*out)[i].first]);
      vertices->AddAll(surface_->triangles[(*out)[i].second]);
    }
  }
}

}  // namespace eipc
