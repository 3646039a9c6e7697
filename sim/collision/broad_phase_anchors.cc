// Anchors of BroadPhase: how far things are from where their pairs were last measured, and which pairs that leaves to be looked at.

#include <algorithm>
#include <cmath>

#include "sim/collision/broad_phase.h"
#include "sim/collision/region_bounds.h"
#include "sim/geometry/distance.h"

namespace eipc {
namespace {

// Of dhat: how far from their anchors the two sides of a pair may be in all while only what is near is looked at.
constexpr double kNear = 0.5;

}  // namespace

bool BroadPhase::CoversWay(const VecX& there) {
  bool all = true;
  body_on_way_.resize(surface_->body_count);
  reach_on_way_.resize(surface_->body_count);
  list_on_way_.resize(lists_.size());
  middles_.resize(surface_->body_count);
  for (int32_t body = 0; body < surface_->body_count; ++body) {
    middles_[body] = Middle(body, there);
    body_on_way_[body] = BodyCovers(body, there, middles_[body]) && ShapeCovers(body, there);
    reach_on_way_[body] = surface_->trees[body].empty() || Contains(bodies_[body].middles, middles_[body]);
    all = all && body_on_way_[body] && reach_on_way_[body];
  }
  for (size_t k = 0; k < lists_.size(); ++k) {
    const PairList& list = lists_[k];
    list_on_way_[k] = body_on_way_[list.a] && body_on_way_[list.b] && ListIsOf(list) &&
                      (list.of_one_body() || Contains(list.shifts, middles_[list.b] - middles_[list.a]));
    all = all && list_on_way_[k];
  }
  return all;
}

bool BroadPhase::InRegions(int32_t a, int32_t b) const {
  if (AtRest(a, b)) return true;
  const auto it = std::lower_bound(lists_.begin(), lists_.end(), std::pair(a, b),
                                   [](const PairList& list, const auto& pair) { return std::pair(list.a, list.b) < pair; });
  if (it != lists_.end() && it->a == a && it->b == b) return list_on_way_[it - lists_.begin()] != 0;
  return body_on_way_[a] && body_on_way_[b] && reach_on_way_[a] && reach_on_way_[b];
}

void BroadPhase::LeaveOut(VertexTravel* travel) const {
  for (size_t k = 0; k < lists_.size(); ++k) {
    if (!list_on_way_[k]) travel->shift[k] = -std::numeric_limits<double>::infinity();
  }
}

void BroadPhase::SetAnchor(int32_t body, const VecX& q, const Vec3& middle) {
  BodyRegion& region = bodies_[body];
  ++region.anchor_stamp;
  region.anchor_extent = 0;
  for (int32_t n : patches_->body_nodes[body]) {
    anchor_q_.segment<3>(3 * n) = q.segment<3>(3 * n) - middle;
    region.anchor_extent = std::max(region.anchor_extent, anchor_q_.segment<3>(3 * n).cwiseAbs().maxCoeff());
  }
}

void BroadPhase::Anchor(const VecX& q, double slack) {
  stop_ = false;
  if (!gathered_) return;  // by the next Cover
  middles_.resize(surface_->body_count);
  for (int32_t body = 0; body < surface_->body_count; ++body) {
    middles_[body] = Middle(body, q);
    double travel = 0;
    for (int32_t n : patches_->body_nodes[body]) {
      const Vec3 p = q.segment<3>(3 * n) - middles_[body];
      travel = std::max(travel, (p - anchor_q_.segment<3>(3 * n)).cwiseAbs().maxCoeff());
    }
    if (bodies_[body].anchor_stamp > 0 && travel <= slack) continue;
    SetAnchor(body, q, middles_[body]);
    bodies_[body].anchor_in_region = false;
  }
  for (const int32_t v : vertices_.list()) AnchorVertex(v);
  for (const int32_t v : triangle_vertices_.list()) AnchorVertex(v);
  for (PairList& list : lists_) {
    const Vec3 shift = list.of_one_body() ? Vec3(Vec3::Zero()) : Vec3(middles_[list.b] - middles_[list.a]);
    const bool same = list.anchor_a == bodies_[list.a].anchor_stamp && list.anchor_b == bodies_[list.b].anchor_stamp;
    if (same && (shift - list.anchor_shift).cwiseAbs().maxCoeff() <= slack) continue;
    list.anchor_shift = shift;
    AnchorList(&list);
  }
}

void BroadPhase::AnchorVertex(int32_t v) {
  const uint64_t stamp = bodies_[surface_->vertex_body[v]].anchor_stamp;
  if (anchored_[v] == stamp) return;
  anchored_[v] = stamp;
  const EmbeddingRow& row = (*rows_)[v];
  anchors_[v] = row.count == 0 ? (*offsets_)[v] : Vec3::Zero();
  for (int k = 0; k < row.count; ++k) anchors_[v] += row.weights[k] * anchor_q_.segment<3>(3 * row.nodes[k]);
}

// Everything of b as seen from the middle of a.
void BroadPhase::AnchorList(PairList* list) {
  list->anchor_a = bodies_[list->a].anchor_stamp;
  list->anchor_b = bodies_[list->b].anchor_stamp;
  const auto at = [&](int32_t v) -> Vec3 {
    return surface_->vertex_body[v] == list->a ? anchors_[v] : Vec3(anchors_[v] + list->anchor_shift);
  };
  for (size_t i = 0; i < list->candidates.size(); ++i) {
    if (Stop()) {
      list->anchor_a = 0;
      return;
    }
    Candidate& c = list->candidates[i];
    const Vec3 x0 = at(c.v[0]), x1 = at(c.v[1]), x2 = at(c.v[2]), x3 = at(c.v[3]);
    c.bound = c.kind == ContactKind::kPointTriangle ? PointTriangleSeparation(x0, x1, x2, x3) : EdgeEdgeSeparation(x0, x1, x2, x3);
    candidates_[list->first + i].bound = c.bound;
  }
  list->triangle_gaps.clear();
  for (const auto& [a, b] : list->triangle_pairs) {
    Box s, t;
    for (int32_t v : surface_->triangles[a]) s.Include(at(v));
    for (int32_t v : surface_->triangles[b]) t.Include(at(v));
    list->triangle_gaps.push_back((s.lo - t.hi).max(t.lo - s.hi).maxCoeff());
  }
  near_stale_ = true;
}

void BroadPhase::Travel(const VecX& q, const std::vector<Vec3>& x, VertexTravel* travel) const {
  TravelOfBodies(q, travel);
  TravelOfVertices(vertices_, x, travel);
}

// A vertex is an affine combination of nodes, so it is no farther from its anchor than the farthest of them times the sum of its
// weights' sizes.
void BroadPhase::TravelOfBodies(const VecX& q, VertexTravel* travel) const {
  travel->shift.resize(lists_.size());
  travel->body.resize(surface_->body_count);
  travel->middles.resize(surface_->body_count);
  for (int32_t body = 0; body < surface_->body_count; ++body) {
    const Vec3 middle = travel->middles[body] = Middle(body, q);
    double farthest2 = 0, extent = bodies_[body].anchor_extent;
    for (const int32_t n : patches_->body_nodes[body]) {
      const Vec3 p = q.segment<3>(3 * n) - middle;
      farthest2 = std::max(farthest2, (p - anchor_q_.segment<3>(3 * n)).squaredNorm());
      extent = std::max(extent, p.cwiseAbs().maxCoeff());
    }
    const double slack = 10 * kSlack * (extent + middle.cwiseAbs().maxCoeff());
    travel->body[body] = patches_->largest_weight_sum * (kRoundUp * std::sqrt(farthest2) + slack);
  }
  for (size_t k = 0; k < lists_.size(); ++k) {
    const PairList& list = lists_[k];
    travel->shift[k] = 0;
    if (list.of_one_body()) continue;
    const Vec3 &a = travel->middles[list.a], &b = travel->middles[list.b];
    const double extent = bodies_[list.a].anchor_extent + bodies_[list.b].anchor_extent;
    const double slack = kSlack * (a.cwiseAbs().maxCoeff() + b.cwiseAbs().maxCoeff() + extent);
    travel->shift[k] = kRoundUp * (b - a - list.anchor_shift).norm() + slack;
  }
}

void BroadPhase::TravelOfVertices(const VertexList& vertices, const std::vector<Vec3>& x, VertexTravel* travel) const {
  travel->own.resize(x.size());
  for (const int32_t v : vertices.list()) {
    const Vec3& middle = travel->middles[surface_->vertex_body[v]];
    const double extent = bodies_[surface_->vertex_body[v]].anchor_extent;
    const double slack = kSlack * (x[v].cwiseAbs().maxCoeff() + middle.cwiseAbs().maxCoeff() + extent);
    travel->own[v] = kRoundUp * (x[v] - middle - anchors_[v]).norm() + slack;
  }
}

bool BroadPhase::AllNear(const VertexTravel& bodies) const {
  for (size_t k = 0; k < lists_.size(); ++k) {
    if (kRoundUp * (bodies.shift[k] + bodies.body[lists_[k].a] + bodies.body[lists_[k].b]) > kNear * dhat_) return false;
  }
  return gathered_;
}

// Pairs whose sides and the way between them have travelled kNear dhat in all: who was farther apart is not within its dhat.
void BroadPhase::FindNear() {
  near_candidates_.clear();
  near_vertices_.Clear();
  for (size_t i = 0; i < candidates_.size(); ++i) {
    if (candidates_[i].bound >= candidates_[i].dhat + kLeastExamined + kNear * dhat_) continue;
    near_candidates_.push_back(static_cast<int32_t>(i));
    near_vertices_.AddAll(candidates_[i].v);
  }
  near_stale_ = false;
}

BroadPhase::Selection BroadPhase::Select(const VertexTravel& bodies) {
  if (!AllNear(bodies)) return {nullptr, &vertices_};
  if (near_stale_) FindNear();
  return {&near_candidates_, &near_vertices_};
}

void BroadPhase::NearTriangles(const VertexTravel& bodies, std::vector<TrianglePair>* out) const {
  out->clear();
  for (size_t k = 0; k < lists_.size(); ++k) {
    const PairList& list = lists_[k];
    const double most = kRoundUp * (bodies.shift[k] + bodies.body[list.a] + bodies.body[list.b]);
    for (size_t i = 0; i < list.triangle_pairs.size(); ++i) {
      if (list.triangle_gaps[i] > most) continue;
      out->push_back({list.triangle_pairs[i], list.triangle_gaps[i] - kRoundUp * bodies.shift[k]});
    }
  }
}

void BroadPhase::NearTriangles(const VertexTravel& vertices, const std::vector<TrianglePair>& pairs,
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
