#include "sim/contact/broad_phase.h"

#include <algorithm>
#include <cmath>

#include "sim/geometry/distance.h"
#include "sim/geometry/tree_pairs.h"

namespace eipc {
namespace {

// Covers the rounding of a norm and of sums of a few.
constexpr double kRoundUp = 1 + 1e-14;
// Covers the rounding of x = J q, of middles of bodies and of what is derived from them, of the largest coordinate.
constexpr double kSlack = 1e-14;
// What regions are grown by, in units of the margin that is asked for.
constexpr double kOwnMargin = 1;
constexpr double kMostOfEdge = 0.25;
constexpr double kShiftMargin = 1;
constexpr double kReachMargin = 20;
constexpr double kReachWays = 4;
// What hardly moves needs less: so many times the way that it is on, but at least this part of the margin.
constexpr double kWays = 16;
constexpr double kLeastMargin = 0.2;
// Regions are too large when they are so many times as wide as they would be made now; so many steps later they are let go.
constexpr double kLoose = 4;
constexpr int kPatience = 4;

bool ShareVertex(const Triangle& s, const Triangle& t) {
  return std::any_of(s.begin(), s.end(), [&t](int32_t v) { return v == t[0] || v == t[1] || v == t[2]; });
}

Box Grown(const Vec3& a, const Vec3& b, double by) { return {a.cwiseMin(b).array() - by, a.cwiseMax(b).array() + by}; }

// Of what moves by `way`.
double MarginFor(double way, double margin) { return std::clamp(kWays * way, kLeastMargin * margin, margin); }

bool Contains(const Box& box, const Vec3& p) { return (p.array() >= box.lo).all() && (p.array() <= box.hi).all(); }

bool Contains(const WideBox& box, const Vec3& p) { return box.Contains(WideBox(p.array(), p.array())); }

}  // namespace

BroadPhase::BroadPhase(const CollisionSurface* surface, const SurfacePatches* patches, const std::vector<EmbeddingRow>* rows,
                       const std::vector<Vec3>* offsets, double dhat, Interrupt* interrupt)
    : surface_(surface),
      patches_(patches),
      rows_(rows),
      offsets_(offsets),
      dhat_(dhat),
      interrupt_(interrupt),
      bodies_(surface->body_count),
      shapes_(patches, dhat) {
  const size_t vertices = surface->vertex_count;
  const size_t nodes = patches->nodes.empty() ? 0 : patches->nodes.back() + 1;
  points_q_.setZero(3 * static_cast<Eigen::Index>(nodes));
  anchor_q_ = points_q_;
  regions_.resize(nodes);
  vertex_stamp_.assign(vertices, 0);
  edge_stamp_.assign(surface->edges.size(), 0);
  triangle_stamp_.assign(surface->triangles.size(), 0);
  anchors_.resize(vertices);
  anchored_.assign(vertices, 0);
  points_.resize(vertices);
  reach_.resize(vertices);
  vertex_boxes_.resize(vertices);
  edge_boxes_.resize(surface->edges.size());
  triangle_boxes_.resize(surface->triangles.size());
  for (const BoundingVolumeTree& tree : surface->trees) {
    tree_stamp_.emplace_back(tree.nodes().size(), 0);
    tree_boxes_.emplace_back(tree.nodes().size());
  }
  used_.assign(vertices, 0);
}

// Of a body that nothing moves: the origin, for ever.
Vec3 BroadPhase::Middle(int32_t body, const VecX& q) const {
  const std::vector<int32_t>& nodes = patches_->body_nodes[body];
  Vec3 sum = Vec3::Zero();
  for (int32_t n : nodes) sum += q.segment<3>(3 * n);
  return nodes.empty() ? sum : Vec3(sum / static_cast<double>(nodes.size()));
}

bool BroadPhase::BodyCovers(int32_t body, const VecX& q, const Vec3& middle) const {
  if (bodies_[body].stamp == 0 || bodies_[body].loose > kPatience) return false;
  for (int32_t n : patches_->body_nodes[body]) {
    if (!Contains(regions_[n], q.segment<3>(3 * n) - middle)) return false;
  }
  return true;
}

bool BroadPhase::ShapeCovers(int32_t body, const VecX& q) const {
  return !patches_->proves[body] || (bodies_[body].shape_stamp > 0 && shapes_.Cover(body, q));
}

bool BroadPhase::ReachCovers(int32_t body, const Vec3& middle) {
  if (surface_->trees[body].empty()) return true;
  const BodyRegion& region = bodies_[body];
  return Contains(region.middles, middle) &&
         region.reach.Contains(TreeBox(body, 0).Swept(WideBox(region.middles.lo, region.middles.hi)));
}

// Whether its bodies' regions are those that the list was made for.
bool BroadPhase::ListIsOf(const PairList& list) const {
  if (list.loose > kPatience || list.stamp_a != bodies_[list.a].stamp || list.stamp_b != bodies_[list.b].stamp) return false;
  return !list.of_one_body() || list.shape_stamp == bodies_[list.a].shape_stamp;
}

bool BroadPhase::Covers(const VecX& q) const {
  if (!gathered_) return false;
  for (int32_t body = 0; body < surface_->body_count; ++body) {
    const Vec3 middle = Middle(body, q);
    if (!BodyCovers(body, q, middle) || !ShapeCovers(body, q)) return false;
    if (!surface_->trees[body].empty() && !Contains(bodies_[body].middles, middle)) return false;
  }
  return std::all_of(lists_.begin(), lists_.end(), [&](const PairList& list) {
    return ListIsOf(list) && (list.of_one_body() || Contains(list.shifts, Middle(list.b, q) - Middle(list.a, q)));
  });
}

void BroadPhase::MeasureWay(const VecX& here, const VecX& there) {
  way_.here.resize(surface_->body_count);
  way_.there.resize(surface_->body_count);
  way_.turn.assign(surface_->body_count, 0);
  for (int32_t body = 0; body < surface_->body_count; ++body) {
    way_.here[body] = Middle(body, here);
    way_.there[body] = Middle(body, there);
    const Vec3 way = way_.there[body] - way_.here[body];
    for (int32_t n : patches_->body_nodes[body]) {
      const Vec3 turned = there.segment<3>(3 * n) - here.segment<3>(3 * n) - way;
      way_.turn[body] = std::max(way_.turn[body], turned.cwiseAbs().maxCoeff());
    }
  }
}

double BroadPhase::ShiftWay(const PairList& list) const {
  const Vec3 a = way_.there[list.a] - way_.here[list.a], b = way_.there[list.b] - way_.here[list.b];
  return (b - a).cwiseAbs().maxCoeff();
}

bool BroadPhase::GoesFar(const PairList& list, double far) const {
  return way_.turn[list.a] > far || way_.turn[list.b] > far || ShiftWay(list) > far;
}

bool BroadPhase::Cover(const VecX& here, const VecX& there, double margin, double far) {
  stop_ = false;
  bool renewed = !gathered_, lists_stale = false;
  MeasureWay(here, there);
  for (int32_t body = 0; body < surface_->body_count; ++body) {
    const bool turns_far = way_.turn[body] > far;
    if (!BodyCovers(body, here, way_.here[body]) || (!turns_far && !BodyCovers(body, there, way_.there[body]))) {
      RenewBody(body, here, there, margin, far);
      renewed = true;
    }
    if (!ShapeCovers(body, here) || (!turns_far && !ShapeCovers(body, there))) {
      RenewShape(body, here, turns_far ? here : there);
      renewed = true;
    }
    lists_stale =
        lists_stale || !ReachCovers(body, way_.here[body]) || (MiddleWay(body) <= far && !ReachCovers(body, way_.there[body]));
  }
  if (lists_stale) {
    RenewReaches(margin, far);
    ChooseLists();
    renewed = true;
  }
  for (PairList& list : lists_) {
    const Vec3 shift = way_.here[list.b] - way_.here[list.a], shift_there = way_.there[list.b] - way_.there[list.a];
    const bool inside =
        list.of_one_body() || (Contains(list.shifts, shift) && (GoesFar(list, far) || Contains(list.shifts, shift_there)));
    if (inside && ListIsOf(list)) continue;
    RenewList(&list, margin, far);
    renewed = true;
  }
  if (renewed) Gather();
  return renewed;
}

void BroadPhase::LetGo(const VecX& here, const VecX& there, double margin, double far) {
  MeasureWay(here, there);
  const auto too_large = [&](double width, double way) {
    const double short_way = way > far ? 0 : way;
    return width > kLoose * (short_way + 2 * MarginFor(short_way, margin));
  };
  for (int32_t body = 0; body < surface_->body_count; ++body) {
    if (bodies_[body].stamp == 0) continue;
    double width = 0;
    for (int32_t n : patches_->body_nodes[body]) width = std::max(width, (regions_[n].hi - regions_[n].lo).maxCoeff());
    bodies_[body].loose = too_large(width, way_.turn[body]) ? bodies_[body].loose + 1 : 0;
  }
  for (PairList& list : lists_) {
    const WideBox::Quad width = list.shifts.hi - list.shifts.lo;
    list.loose = too_large(std::max({width[0], width[1], width[2]}), ShiftWay(list)) ? list.loose + 1 : 0;
  }
}

void BroadPhase::RenewBody(int32_t body, const VecX& here, const VecX& there, double margin, double far) {
  BodyRegion& region = bodies_[body];
  region.stamp = std::max<uint64_t>(1, region.stamp + 1);
  region.loose = 0;
  const bool turns_far = way_.turn[body] > far;
  const Vec3 a = way_.here[body], b = turns_far ? a : way_.there[body];
  const VecX& end = turns_far ? here : there;
  // What a fine surface has within a wide region is much.
  const double grown = std::min(kOwnMargin * MarginFor(way_.turn[body], margin), kMostOfEdge * patches_->edge_length[body]);
  for (int32_t n : patches_->body_nodes[body]) {
    points_q_.segment<3>(3 * n) = here.segment<3>(3 * n) - a;
    regions_[n] = Grown(here.segment<3>(3 * n) - a, end.segment<3>(3 * n) - b, grown);
  }
  SetAnchor(body, here, a);
  region.anchor_in_region = true;
}

// How far deformation gradients may leave the way from one position to the other. Less, and they soon do; more, and pairs that are
// near can no longer be told to be out of contact: the finer the surface, the more of them there are.
void BroadPhase::RenewShape(int32_t body, const VecX& from, const VecX& to) {
  constexpr double kLeast = 0.01, kMost = 0.06;
  shapes_.Set(body, from, to, std::clamp(kLeast * patches_->edge_length[body] / dhat_, kLeast, kMost));
  ++bodies_[body].shape_stamp;
}

void BroadPhase::RenewReaches(double margin, double far) {
  for (int32_t body = 0; body < surface_->body_count; ++body) {
    if (surface_->trees[body].empty()) continue;
    const Vec3 a = way_.here[body], b = MiddleWay(body) > far ? a : way_.there[body];
    const double grown = std::max(kReachMargin * margin, kReachWays * (b - a).cwiseAbs().maxCoeff());
    bodies_[body].middles = Grown(a, b, Moves(body) ? grown : 0);
    Box ways = bodies_[body].middles;
    if (Moves(body)) ways.lo -= grown, ways.hi += grown;  // the body may change its shape, too
    bodies_[body].reach = TreeBox(body, 0).Swept(WideBox(ways.lo, ways.hi));
  }
}

// Pairs of bodies that may meet, in order; lists that were there already are kept.
void BroadPhase::ChooseLists() {
  near_bodies_.clear();
  by_x_.clear();
  for (int32_t body = 0; body < surface_->body_count; ++body) {
    if (surface_->trees[body].empty()) continue;
    by_x_.push_back(body);
    if (surface_->Enabled(body, body)) near_bodies_.emplace_back(body, body);
  }
  std::sort(by_x_.begin(), by_x_.end(), [this](int32_t i, int32_t j) { return bodies_[i].reach.lo[0] < bodies_[j].reach.lo[0]; });
  for (size_t i = 0; i < by_x_.size(); ++i) {
    const WideBox& reach = bodies_[by_x_[i]].reach;
    for (size_t j = i + 1; j < by_x_.size() && bodies_[by_x_[j]].reach.lo[0] <= reach.hi[0]; ++j) {
      if (!reach.Overlaps(bodies_[by_x_[j]].reach)) continue;
      const auto [a, b] = std::minmax(by_x_[i], by_x_[j]);
      if (surface_->Enabled(a, b)) near_bodies_.emplace_back(a, b);
    }
  }
  std::sort(near_bodies_.begin(), near_bodies_.end());
  old_lists_.swap(lists_);
  lists_.clear();
  auto old = old_lists_.begin();
  for (const auto& [a, b] : near_bodies_) {
    while (old != old_lists_.end() && std::pair(old->a, old->b) < std::pair(a, b)) ++old;
    if (old != old_lists_.end() && old->a == a && old->b == b) {
      lists_.push_back(std::move(*old));
    } else {
      lists_.emplace_back();
      lists_.back().a = a;
      lists_.back().b = b;
    }
  }
}

void BroadPhase::RenewList(PairList* list, double margin, double far) {
  list->stamp_a = bodies_[list->a].stamp;
  list->stamp_b = bodies_[list->b].stamp;
  list->shape_stamp = bodies_[list->a].shape_stamp;
  list->loose = 0;
  list->shift.setZero();
  list->shifts = WideBox(Eigen::Array3d::Zero(), Eigen::Array3d::Zero());
  list->shift_reach = 0;
  if (!list->of_one_body()) {
    const Vec3 a = way_.here[list->b] - way_.here[list->a];
    const Vec3 b = GoesFar(*list, far) ? a : Vec3(way_.there[list->b] - way_.there[list->a]);
    const Box shifts = Grown(a, b, kShiftMargin * MarginFor(ShiftWay(*list), margin));
    list->shift = a;
    list->shifts = WideBox(shifts.lo, shifts.hi);
    list->shift_reach = kRoundUp * (shifts.hi - a.array()).max(a.array() - shifts.lo).matrix().norm();
  }
  list->candidates.clear();
  list->triangle_pairs.clear();
  list->triangle_gaps.clear();
  list->neighbour_pairs.clear();
  Traverse(list);
  // Bounds are those of the points of the regions.
  const bool anchored = bodies_[list->a].anchor_in_region && bodies_[list->b].anchor_in_region;
  list->anchor_a = anchored ? bodies_[list->a].anchor_stamp : 0;
  list->anchor_b = bodies_[list->b].anchor_stamp;
  list->anchor_shift = list->shift;
}

void BroadPhase::Gather() {
  gathered_ = false;
  candidates_.clear();
  neighbour_pairs_.clear();
  for (int32_t v : vertices_) used_[v] = 0;
  vertices_.clear();
  size_t count = 0;
  for (const PairList& list : lists_) count += list.candidates.size();
  candidates_.reserve(count);  // grown piece by piece, the copying of a long list takes longer than all else
  for (size_t k = 0; k < lists_.size(); ++k) {
    PairList& list = lists_[k];
    list.first = candidates_.size();
    for (const Candidate& c : list.candidates) {
      if (Stop()) return;
      candidates_.push_back(c);
      candidates_.back().list = static_cast<int32_t>(k);
      for (int32_t v : c.v) Use(v);
    }
    neighbour_pairs_.insert(neighbour_pairs_.end(), list.neighbour_pairs.begin(), list.neighbour_pairs.end());
    for (const auto* pairs : {&list.neighbour_pairs, &list.triangle_pairs}) {
      for (const auto& [a, b] : *pairs) {
        if (Stop()) return;
        for (int32_t v : surface_->triangles[a]) Use(v);
        for (int32_t v : surface_->triangles[b]) Use(v);
      }
    }
  }
  gathered_ = true;
}

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

void BroadPhase::Use(int32_t v) {
  if (used_[v]) return;
  used_[v] = 1;
  vertices_.push_back(v);
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

const WideBox& BroadPhase::VertexBox(int32_t v) {
  const int32_t body = surface_->vertex_body[v];
  if (vertex_stamp_[v] == bodies_[body].stamp) return vertex_boxes_[v];
  vertex_stamp_[v] = bodies_[body].stamp;
  const EmbeddingRow& row = (*rows_)[v];
  Eigen::Array3d lo = (*offsets_)[v].array(), hi = lo;
  Vec3 point = (*offsets_)[v];
  if (row.count > 0) {
    lo.setZero(), hi.setZero(), point.setZero();
    for (int k = 0; k < row.count; ++k) {
      const double w = row.weights[k];
      const Box& region = regions_[row.nodes[k]];
      lo += w >= 0 ? w * region.lo : w * region.hi;
      hi += w >= 0 ? w * region.hi : w * region.lo;
      point += w * points_q_.segment<3>(3 * row.nodes[k]);
    }
  }
  points_[v] = point;
  const double slack = kSlack * (point.cwiseAbs().maxCoeff() + dhat_ + (hi - lo).maxCoeff());
  reach_[v] = kRoundUp * (hi - point.array()).max(point.array() - lo).matrix().norm() + slack;
  const double grown = 0.5 * dhat_ + slack;
  return vertex_boxes_[v] = WideBox(lo - grown, hi + grown);
}

const WideBox& BroadPhase::EdgeBox(int32_t e) {
  const uint64_t stamp = bodies_[surface_->edge_body[e]].stamp;
  if (edge_stamp_[e] == stamp) return edge_boxes_[e];
  edge_stamp_[e] = stamp;
  edge_boxes_[e] = VertexBox(surface_->edges[e][0]);
  edge_boxes_[e].Include(VertexBox(surface_->edges[e][1]));
  return edge_boxes_[e];
}

const WideBox& BroadPhase::TriangleBox(int32_t t) {
  const uint64_t stamp = bodies_[surface_->triangle_body[t]].stamp;
  if (triangle_stamp_[t] == stamp) return triangle_boxes_[t];
  triangle_stamp_[t] = stamp;
  WideBox box;
  for (int32_t v : surface_->triangles[t]) box.Include(VertexBox(v));
  return triangle_boxes_[t] = box;
}

const WideBox& BroadPhase::TreeBox(int32_t body, int32_t node) {
  uint64_t* stamp = &tree_stamp_[body][node];
  WideBox* box = &tree_boxes_[body][node];
  if (*stamp == bodies_[body].stamp) return *box;
  *stamp = bodies_[body].stamp;
  const BoundingVolumeTree& tree = surface_->trees[body];
  const BoundingVolumeTree::Node& n = tree.nodes()[node];
  const std::vector<SurfacePatch>& patches = patches_->patches[body];
  if (!patches.empty() && patches[node].first_box >= 0) return *box = PatchBox(patches[node]);
  *box = {};
  if (n.leaf()) {
    for (int32_t k = n.begin; k < n.end; ++k) box->Include(TriangleBox(tree.primitives()[k]));
  } else {
    box->Include(TreeBox(body, n.left));
    box->Include(TreeBox(body, n.right));
  }
  return *box;
}

// Images of the rest boxes under the middles of the regions, and what the regions add to them.
WideBox BroadPhase::PatchBox(const SurfacePatch& patch) const {
  WideBox box;
  for (int k = 0; k < patch.count; ++k) {
    const SurfacePiece& piece = patches_->pieces[patch.pieces[k]];
    const SurfacePatches::RestBox& rest = patches_->boxes[patch.first_box + k];
    std::array<Vec3, 4> middle;
    Eigen::Array3d half = Eigen::Array3d::Zero();
    for (int i = 0; i < 4; ++i) {
      const Box& region = regions_[piece.nodes[i]];
      middle[i] = 0.5 * (region.lo + region.hi).matrix();
      half = half.max(0.5 * (region.hi - region.lo));
    }
    Mat3 edges;
    for (int i = 0; i < 3; ++i) edges.col(i) = middle[i + 1] - middle[0];
    const Mat3 f = edges * piece.inverse_rest;
    const Vec3 center = middle[0] + f * (rest.center - piece.origin);
    const Eigen::Array3d reach = (f.cwiseAbs() * rest.half).array() + patches_->largest_weight_sum * half;
    const double size = center.cwiseAbs().maxCoeff() + middle[0].cwiseAbs().maxCoeff() + reach.maxCoeff() + dhat_;
    const Eigen::Array3d grown = reach + (0.5 * dhat_ + 10 * kSlack * size);
    box.Include(WideBox(center.array() - grown, center.array() + grown));
  }
  return box;
}

void BroadPhase::Traverse(PairList* list) {
  const bool self = list->of_one_body();
  const auto apart = [&](int32_t i, int32_t j) {
    ++node_pairs_;
    if (Stop()) return true;
    if (!(self && i == j) && !TreeBox(list->a, i).Overlaps(TreeBox(list->b, j).Swept(list->shifts))) return true;
    return self && patches_->proves[list->a] && shapes_.ProveApart(list->a, i, j);
  };
  ForTreePairs(surface_->trees[list->a], surface_->trees[list->b], self, &stack_, apart, [&](int32_t a, int32_t b) {
    if (!Stop()) AddTrianglePair(list, a, b);
  });
  if (stop_) list->stamp_a = 0;  // no region has this one
}

// Everything of b as seen from the middle of a.
void BroadPhase::AddTrianglePair(PairList* list, int32_t a, int32_t b) {
  const WideBox& box_a = TriangleBox(a);
  const WideBox box_b = TriangleBox(b).Swept(list->shifts);
  if (!box_a.Overlaps(box_b)) return;
  const bool self = list->of_one_body();
  if (self && ShareVertex(surface_->triangles[a], surface_->triangles[b])) {
    list->neighbour_pairs.emplace_back(a, b);
  } else if (box_a.OverlapsBy(box_b, dhat_)) {  // regions without dhat overlap
    list->triangle_pairs.emplace_back(a, b);
    Box s, t;
    for (int32_t v : surface_->triangles[a]) s.Include(points_[v]);
    for (int32_t v : surface_->triangles[b]) t.Include(self ? points_[v] : Vec3(points_[v] + list->shift));
    list->triangle_gaps.push_back((s.lo - t.hi).max(t.lo - s.hi).maxCoeff());
  }
  for (int32_t p : surface_->owned_vertices[a]) {
    if (p >= 0 && vertex_boxes_[p].Overlaps(box_b)) AddPointTriangle(list, p, b);
  }
  for (int32_t p : surface_->owned_vertices[b]) {
    if (p >= 0 && vertex_boxes_[p].Swept(list->shifts).Overlaps(box_a)) AddPointTriangle(list, p, a);
  }
  std::array<int32_t, 3> near;
  int count = 0;
  for (int32_t f : surface_->owned_edges[b]) {
    if (f >= 0 && EdgeBox(f).Swept(list->shifts).Overlaps(box_a)) near[count++] = f;
  }
  if (count == 0) return;
  for (int32_t e : surface_->owned_edges[a]) {
    if (e < 0 || !EdgeBox(e).Overlaps(box_b)) continue;
    for (int k = 0; k < count; ++k) AddEdgeEdge(list, e, near[k]);
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

void BroadPhase::AddPointTriangle(PairList* list, int32_t p, int32_t t) {
  const Triangle& tri = surface_->triangles[t];
  if (list->of_one_body() && (tri[0] == p || tri[1] == p || tri[2] == p)) return;
  AddIfNear(list, {p, tri[0], tri[1], tri[2]}, p, t, ContactKind::kPointTriangle);
}

void BroadPhase::AddEdgeEdge(PairList* list, int32_t e, int32_t f) {
  const Edge& a = surface_->edges[e];
  const Edge& b = surface_->edges[f];
  if (list->of_one_body() && (a[0] == b[0] || a[0] == b[1] || a[1] == b[0] || a[1] == b[1])) return;
  if (!edge_boxes_[e].Overlaps(edge_boxes_[f].Swept(list->shifts))) return;
  AddIfNear(list, {a[0], a[1], b[0], b[1]}, e, f, ContactKind::kEdgeEdge);
}

void BroadPhase::AddIfNear(PairList* list, const std::array<int32_t, 4>& v, int32_t first, int32_t second, ContactKind kind) {
  std::array<Vec3, 4> x;
  for (int k = 0; k < 4; ++k) {
    x[k] = points_[v[k]];
    if (surface_->vertex_body[v[k]] != list->a) x[k] += list->shift;
  }
  const double bound = kind == ContactKind::kPointTriangle ? PointTriangleSeparation(x[0], x[1], x[2], x[3])
                                                           : EdgeEdgeSeparation(x[0], x[1], x[2], x[3]);
  const double r0 = reach_[v[0]], r1 = reach_[v[1]], r2 = reach_[v[2]], r3 = reach_[v[3]];
  const double reach = kind == ContactKind::kPointTriangle ? r0 + std::max({r1, r2, r3}) : std::max(r0, r1) + std::max(r2, r3);
  if (bound - reach - list->shift_reach < dhat_)
    list->candidates.push_back({v, first, second, kind, list->of_one_body(), 0, bound});
}

}  // namespace eipc
