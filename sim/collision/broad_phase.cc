#include "sim/collision/broad_phase.h"

#include <algorithm>

#include "sim/collision/region_bounds.h"

namespace eipc {
namespace {

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

Box Grown(const Vec3& a, const Vec3& b, double by) { return {a.cwiseMin(b).array() - by, a.cwiseMax(b).array() + by}; }

// Of what moves by `way`.
double MarginFor(double way, double margin) { return std::clamp(kWays * way, kLeastMargin * margin, margin); }

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
      shapes_(patches, dhat),
      neighbour_proofs_(surface, patches, dhat),
      vertices_(surface->vertex_count),
      triangle_vertices_(surface->vertex_count),
      near_vertices_(surface->vertex_count) {
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

void BroadPhase::SetAsleep(const std::vector<uint8_t>& asleep) {
  lists_stale_ = lists_stale_ || asleep != asleep_;
  asleep_ = asleep;
}

bool BroadPhase::Cover(const VecX& here, const VecX& there, double margin, double far) {
  stop_ = false;
  bool renewed = !gathered_, lists_stale = lists_stale_;
  lists_stale_ = false;
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
  constexpr double kLeast = 0.005, kMost = 0.06;
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

void BroadPhase::PairList::StartAnew(int32_t body_a, int32_t body_b) {
  PairList list;
  list.a = body_a;
  list.b = body_b;
  list.candidates.swap(candidates);
  list.triangle_pairs.swap(triangle_pairs);
  list.triangle_gaps.swap(triangle_gaps);
  list.neighbour_pairs.swap(neighbour_pairs);
  *this = std::move(list);
  Clear();
}

void BroadPhase::PairList::Clear() {
  candidates.clear();
  triangle_pairs.clear();
  triangle_gaps.clear();
  neighbour_pairs.clear();
}

// Pairs of bodies that may meet, in order; lists that were there already are kept.
void BroadPhase::ChooseLists() {
  near_bodies_.clear();
  by_x_.clear();
  for (int32_t body = 0; body < surface_->body_count; ++body) {
    if (surface_->trees[body].empty()) continue;
    by_x_.push_back(body);
    if (Wanted(body, body)) near_bodies_.emplace_back(body, body);
  }
  std::sort(by_x_.begin(), by_x_.end(), [this](int32_t i, int32_t j) { return bodies_[i].reach.lo[0] < bodies_[j].reach.lo[0]; });
  for (size_t i = 0; i < by_x_.size(); ++i) {
    const WideBox& reach = bodies_[by_x_[i]].reach;
    for (size_t j = i + 1; j < by_x_.size() && bodies_[by_x_[j]].reach.lo[0] <= reach.hi[0]; ++j) {
      if (!reach.Overlaps(bodies_[by_x_[j]].reach)) continue;
      const auto [a, b] = std::minmax(by_x_[i], by_x_[j]);
      if (Wanted(a, b)) near_bodies_.emplace_back(a, b);
    }
  }
  std::sort(near_bodies_.begin(), near_bodies_.end());
  old_lists_.swap(lists_);
  lists_.clear();
  auto wanted = near_bodies_.begin();
  for (PairList& list : old_lists_) {
    while (wanted != near_bodies_.end() && *wanted < std::pair(list.a, list.b)) ++wanted;
    if (wanted == near_bodies_.end() || *wanted != std::pair(list.a, list.b)) spare_lists_.push_back(std::move(list));
  }
  auto old = old_lists_.begin();
  for (const auto& [a, b] : near_bodies_) {
    while (old != old_lists_.end() && std::pair(old->a, old->b) < std::pair(a, b)) ++old;
    if (old != old_lists_.end() && old->a == a && old->b == b) {
      lists_.push_back(std::move(*old));
      continue;
    }
    if (spare_lists_.empty()) spare_lists_.emplace_back();
    spare_lists_.back().StartAnew(a, b);
    lists_.push_back(std::move(spare_lists_.back()));
    spare_lists_.pop_back();
  }
  if (spare_lists_.size() > lists_.size()) spare_lists_.resize(lists_.size());
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
  list->Clear();
  Traverse(list);
  if (!stop_ && list->of_one_body() && !patches_->proves[list->a]) AddNeighbours(list);
  // Bounds are those of the points of the regions.
  const bool anchored = bodies_[list->a].anchor_in_region && bodies_[list->b].anchor_in_region;
  list->anchor_a = anchored ? bodies_[list->a].anchor_stamp : 0;
  list->anchor_b = bodies_[list->b].anchor_stamp;
  list->anchor_shift = list->shift;
}

void BroadPhase::Gather() {
  gathered_ = false;
  near_stale_ = true;
  candidates_.clear();
  neighbour_pairs_.clear();
  vertices_.Clear();
  triangle_vertices_.Clear();
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
      vertices_.AddAll(c.v);
    }
    neighbour_pairs_.insert(neighbour_pairs_.end(), list.neighbour_pairs.begin(), list.neighbour_pairs.end());
    for (const auto& [a, b] : list.triangle_pairs) {
      if (Stop()) return;
      triangle_vertices_.AddAll(surface_->triangles[a]);
      triangle_vertices_.AddAll(surface_->triangles[b]);
    }
  }
  near_candidates_.reserve(candidates_.capacity());  // now, and not when little is near for the first time
  near_vertices_.Reserve(vertices_.list().capacity());
  gathered_ = true;
}

}  // namespace eipc
