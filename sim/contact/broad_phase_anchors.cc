// Anchors of BroadPhase: how far things are from where their pairs were last measured, and which pairs that leaves to be looked at.

#include <algorithm>

#include "sim/contact/broad_phase.h"
#include "sim/contact/region_bounds.h"
#include "sim/geometry/distance.h"

namespace eipc {

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
  for (int32_t v : vertices_) {
    const uint64_t stamp = bodies_[surface_->vertex_body[v]].anchor_stamp;
    if (anchored_[v] == stamp) continue;
    anchored_[v] = stamp;
    const EmbeddingRow& row = (*rows_)[v];
    anchors_[v] = row.count == 0 ? (*offsets_)[v] : Vec3::Zero();
    for (int k = 0; k < row.count; ++k) anchors_[v] += row.weights[k] * anchor_q_.segment<3>(3 * row.nodes[k]);
  }
  for (PairList& list : lists_) {
    const Vec3 shift = list.of_one_body() ? Vec3(Vec3::Zero()) : Vec3(middles_[list.b] - middles_[list.a]);
    const bool same = list.anchor_a == bodies_[list.a].anchor_stamp && list.anchor_b == bodies_[list.b].anchor_stamp;
    if (same && (shift - list.anchor_shift).cwiseAbs().maxCoeff() <= slack) continue;
    list.anchor_shift = shift;
    AnchorList(&list);
  }
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
}

void BroadPhase::Travel(const VecX& q, const std::vector<Vec3>& x, VertexTravel* travel) const {
  travel->own.resize(x.size());
  travel->shift.resize(lists_.size());
  travel->middles.resize(surface_->body_count);
  for (int32_t body = 0; body < surface_->body_count; ++body) travel->middles[body] = Middle(body, q);
  for (int32_t v : vertices_) {
    const Vec3& middle = travel->middles[surface_->vertex_body[v]];
    const double extent = bodies_[surface_->vertex_body[v]].anchor_extent;
    const double slack = kSlack * (x[v].cwiseAbs().maxCoeff() + middle.cwiseAbs().maxCoeff() + extent);
    travel->own[v] = kRoundUp * (x[v] - middle - anchors_[v]).norm() + slack;
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

void BroadPhase::NearTriangles(const VertexTravel& travel, std::vector<std::pair<int32_t, int32_t>>* out) const {
  const auto farthest = [&](int32_t t) {
    const Triangle& tri = surface_->triangles[t];
    return std::max({travel.own[tri[0]], travel.own[tri[1]], travel.own[tri[2]]});
  };
  out->clear();
  for (size_t k = 0; k < lists_.size(); ++k) {
    for (size_t i = 0; i < lists_[k].triangle_pairs.size(); ++i) {
      const auto [a, b] = lists_[k].triangle_pairs[i];
      if (lists_[k].triangle_gaps[i] <= kRoundUp * (travel.shift[k] + farthest(a) + farthest(b))) out->emplace_back(a, b);
    }
  }
}

}  // namespace eipc
