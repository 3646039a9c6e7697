#include "sim/collision/broad_phase.h"

#include <algorithm>

#include "sim/collision/region_bounds.h"
#include "sim/geometry/distance.h"

namespace eipc {
namespace {

// The growth of regions, in units of the margin that a step requests. All were tuned on the grasps and bins of ./dev bench; none
// can change a result.
constexpr double kMostOfEdge = 0.25;  // of the mean edge length: a wide region of a fine surface holds many pairs
constexpr double kExtentMargin = 20;
constexpr double kExtentMotions = 4;
// Bodies that hardly move get less: this many times their motion, but at least this part of the margin.
constexpr double kMotions = 16;
constexpr double kLeastMargin = 0.2;
// Regions are too large when they are this many times as wide as they would be made now, and are discarded after this many steps.
constexpr double kLoose = 4;
constexpr int kPatience = 4;

Box Grown(const Vec3& a, const Vec3& b, double by) { return {a.cwiseMin(b).array() - by, a.cwiseMax(b).array() + by}; }

// How far the region of a body reaches that moves by `motion`, m.
double MarginFor(double motion, double margin) { return std::clamp(kMotions * motion, kLeastMargin * margin, margin); }

}  // namespace

BroadPhase::BroadPhase(const CollisionSurface* surface, const SurfaceSummaries* summaries, const std::vector<EmbeddingRow>* rows,
                       const std::vector<Vec3>* offsets, double dhat, Interrupt* interrupt)
    : surface_(surface),
      summaries_(summaries),
      dhat_(dhat),
      poll_(interrupt),
      bodies_(surface->body_count),
      boxes_(surface, summaries, rows, offsets, dhat + surface->sheets.largest_offset),
      shapes_(summaries, dhat),
      search_(surface, summaries, dhat, &boxes_, &shapes_, &poll_),
      pairs_(surface->body_count),
      anchors_(surface, summaries, rows, offsets) {
  for (int32_t body = 0; body < surface->body_count; ++body) pairs_.extent(body).present = !surface->trees[body].empty();
  for (VertexList* list : {&gathered_.vertices, &gathered_.triangle_vertices, &near_.vertices}) {
    *list = VertexList(surface->vertex_count);
  }
}

// The share of a margin that pays; never less than a quarter of dhat, below which every iteration leaves the regions.
double BroadPhase::Narrowed(double margin) const {
  constexpr double kLeastOfDhat = 0.25;
  return std::min(margin, std::max(share_.value() * margin, kLeastOfDhat * dhat_));
}

bool BroadPhase::RegionsCover(int32_t body, const VecX& q, const Vec3& centroid) const {
  return bodies_[body].loose <= kPatience && boxes_.Contain(body, q, centroid);
}

bool BroadPhase::ShapeCovers(int32_t body, const VecX& q) const {
  return !summaries_->proves[body] || (bodies_[body].shape_stamp > 0 && shapes_.Cover(body, q));
}

bool BroadPhase::ExtentCovers(int32_t body, const Vec3& centroid) {
  const BodyPairList::Extent& extent = pairs_.extent(body);
  if (!extent.present) return true;
  return Contains(extent.centroids, centroid) &&
         extent.surface.Contains(boxes_.Node(body, 0).Swept(WideBox(extent.centroids.lo, extent.centroids.hi)));
}

// Whether its bodies' regions are those that the pair was searched for.
bool BroadPhase::IsCurrent(const BodyPair& pair) const {
  if (pair.loose > kPatience || pair.stamp_a != boxes_.stamp(pair.a) || pair.stamp_b != boxes_.stamp(pair.b)) return false;
  return !pair.of_one_body() || pair.shape_stamp == bodies_[pair.a].shape_stamp;
}

bool BroadPhase::Covers(const VecX& q) const {
  if (!gathered_.complete) return false;
  for (int32_t body = 0; body < surface_->body_count; ++body) {
    const Vec3 centroid = NodeCentroid(*summaries_, body, q);
    if (!RegionsCover(body, q, centroid) || !ShapeCovers(body, q)) return false;
    const BodyPairList::Extent& extent = pairs_.extent(body);
    if (extent.present && !Contains(extent.centroids, centroid)) return false;
  }
  return std::all_of(pairs_.pairs().begin(), pairs_.pairs().end(), [&](const BodyPair& pair) {
    return IsCurrent(pair) && (pair.of_one_body() ||
                               Contains(pair.shifts, NodeCentroid(*summaries_, pair.b, q) - NodeCentroid(*summaries_, pair.a, q)));
  });
}

void BroadPhase::MeasureMotion(const VecX& here, const VecX& there) {
  motion_.here.resize(surface_->body_count);
  motion_.there.resize(surface_->body_count);
  motion_.turn.assign(surface_->body_count, 0);
  for (int32_t body = 0; body < surface_->body_count; ++body) {
    motion_.here[body] = NodeCentroid(*summaries_, body, here);
    motion_.there[body] = NodeCentroid(*summaries_, body, there);
    const Vec3 shift = motion_.OfCentroid(body);
    for (int32_t n : summaries_->body_nodes[body]) {
      const Vec3 turned = there.segment<3>(3 * n) - here.segment<3>(3 * n) - shift;
      motion_.turn[body] = std::max(motion_.turn[body], turned.cwiseAbs().maxCoeff());
    }
  }
}

double BroadPhase::ShiftMotion(const BodyPair& pair) const {
  return (motion_.OfCentroid(pair.b) - motion_.OfCentroid(pair.a)).cwiseAbs().maxCoeff();
}

bool BroadPhase::MovesFar(const BodyPair& pair, double far) const {
  return motion_.turn[pair.a] > far || motion_.turn[pair.b] > far || ShiftMotion(pair) > far;
}

void BroadPhase::SetAsleep(const std::vector<uint8_t>& asleep) {
  pairs_stale_ = pairs_stale_ || asleep != asleep_;
  asleep_ = asleep;
}

bool BroadPhase::UpdateBounds(const VecX& here, const VecX& there, double margin, double far) {
  poll_.Begin();
  bool renewed = !gathered_.complete, pairs_stale = pairs_stale_;
  pairs_stale_ = false;
  MeasureMotion(here, there);
  for (int32_t body = 0; body < surface_->body_count; ++body) {
    const bool turns_far = motion_.turn[body] > far;
    if (!RegionsCover(body, here, motion_.here[body]) || (!turns_far && !RegionsCover(body, there, motion_.there[body]))) {
      RenewBody(body, here, there, margin, far);
      renewed = true;
    }
    if (!ShapeCovers(body, here) || (!turns_far && !ShapeCovers(body, there))) {
      RenewShape(body, here, turns_far ? here : there);
      renewed = true;
    }
    const bool moves_far = motion_.OfCentroid(body).cwiseAbs().maxCoeff() > far;
    pairs_stale =
        pairs_stale || !ExtentCovers(body, motion_.here[body]) || (!moves_far && !ExtentCovers(body, motion_.there[body]));
  }
  if (pairs_stale) {
    RenewExtents(margin, far);
    pairs_.Choose([this](int32_t a, int32_t b) { return surface_->Enabled(a, b) && !AtRest(a, b); });
    renewed = true;
  }
  for (BodyPair& pair : pairs_.pairs()) {
    const Vec3 shift = motion_.here[pair.b] - motion_.here[pair.a], shift_there = motion_.there[pair.b] - motion_.there[pair.a];
    const bool inside =
        pair.of_one_body() || (Contains(pair.shifts, shift) && (MovesFar(pair, far) || Contains(pair.shifts, shift_there)));
    if (inside && IsCurrent(pair)) continue;
    RenewPair(&pair, margin, far);
    renewed = true;
  }
  if (renewed) Gather();
  return renewed;
}

void BroadPhase::ShrinkBounds(const VecX& here, const VecX& there, double margin, double far) {
  share_.Follow();
  MeasureMotion(here, there);
  const auto too_large = [&](double width, double motion) {
    const double near_motion = motion > far ? 0 : motion;
    return width > kLoose * (near_motion + 2 * MarginFor(near_motion, Narrowed(margin)));
  };
  for (int32_t body = 0; body < surface_->body_count; ++body) {
    if (boxes_.stamp(body) == 0) continue;
    bodies_[body].loose = too_large(boxes_.Width(body), motion_.turn[body]) ? bodies_[body].loose + 1 : 0;
  }
  for (BodyPair& pair : pairs_.pairs()) {
    const WideBox::Quad width = pair.shifts.hi - pair.shifts.lo;
    pair.loose = too_large(std::max({width[0], width[1], width[2]}), ShiftMotion(pair)) ? pair.loose + 1 : 0;
  }
}

void BroadPhase::RenewBody(int32_t body, const VecX& here, const VecX& there, double margin, double far) {
  bodies_[body].loose = 0;
  const bool turns_far = motion_.turn[body] > far;
  const Vec3 a = motion_.here[body], b = turns_far ? a : motion_.there[body];
  const VecX& end = turns_far ? here : there;
  const double grown = std::min(MarginFor(motion_.turn[body], Narrowed(margin)), kMostOfEdge * summaries_->edge_length[body]);
  for (int32_t n : summaries_->body_nodes[body]) {
    boxes_.SetRegion(n, end.segment<3>(3 * n) - b, Grown(here.segment<3>(3 * n) - a, end.segment<3>(3 * n) - b, grown));
  }
  boxes_.Renew(body);
  anchors_.Set(body, end, b);
  bodies_[body].anchor_in_region = true;
}

// How far deformation gradients may be from the straight path between both positions. With less they soon leave it; with more,
// pairs that are near can no longer be proven out of contact: the finer the surface, the more of them there are.
void BroadPhase::RenewShape(int32_t body, const VecX& from, const VecX& to) {
  constexpr double kLeast = 0.005, kMost = 0.06;
  shapes_.Set(body, from, to, std::clamp(kLeast * summaries_->edge_length[body] / dhat_, kLeast, kMost));
  ++bodies_[body].shape_stamp;
}

void BroadPhase::RenewExtents(double margin, double far) {
  for (int32_t body = 0; body < surface_->body_count; ++body) {
    BodyPairList::Extent& extent = pairs_.extent(body);
    if (!extent.present) continue;
    const bool moves_far = motion_.OfCentroid(body).cwiseAbs().maxCoeff() > far;
    const Vec3 a = motion_.here[body], b = moves_far ? a : motion_.there[body];
    const double grown = std::max(kExtentMargin * margin, kExtentMotions * (b - a).cwiseAbs().maxCoeff());
    extent.centroids = Grown(a, b, Moves(body) ? grown : 0);
    Box shifts = extent.centroids;
    if (Moves(body)) shifts.lo -= grown, shifts.hi += grown;  // the body may deform, too
    extent.surface = boxes_.Node(body, 0).Swept(WideBox(shifts.lo, shifts.hi));
  }
}

void BroadPhase::RenewPair(BodyPair* pair, double margin, double far) {
  pair->stamp_a = boxes_.stamp(pair->a);
  pair->stamp_b = boxes_.stamp(pair->b);
  pair->shape_stamp = bodies_[pair->a].shape_stamp;
  pair->loose = 0;
  pair->shift.setZero();
  pair->shifts = WideBox(Eigen::Array3d::Zero(), Eigen::Array3d::Zero());
  pair->shift_radius = 0;
  if (!pair->of_one_body()) {
    const Vec3 a = motion_.here[pair->b] - motion_.here[pair->a];
    const Vec3 b = MovesFar(*pair, far) ? a : Vec3(motion_.there[pair->b] - motion_.there[pair->a]);
    const Box shifts = Grown(a, b, MarginFor(ShiftMotion(*pair), Narrowed(margin)));
    pair->shift = b;
    pair->shifts = WideBox(shifts.lo, shifts.hi);
    pair->shift_radius = kRoundUp * (shifts.hi - b.array()).max(b.array() - shifts.lo).matrix().norm();
  }
  pair->Clear();
  const int64_t node_pairs = search_.node_pairs();
  if (!search_.Search(pair)) pair->stamp_a = 0;  // no region has this one
  share_.AddSearch(search_.node_pairs() - node_pairs, static_cast<int64_t>(pair->candidates.size()));
  // Bounds are those of the points of the regions.
  const bool anchored = bodies_[pair->a].anchor_in_region && bodies_[pair->b].anchor_in_region;
  pair->anchor_a = anchored ? anchors_.stamp(pair->a) : 0;
  pair->anchor_b = anchors_.stamp(pair->b);
  pair->anchor_shift = pair->shift;
}

void BroadPhase::Gather() {
  gathered_.complete = false;
  near_.stale = true;
  gathered_.candidates.clear();
  gathered_.neighbour_pairs.clear();
  gathered_.vertices.Clear();
  gathered_.triangle_vertices.Clear();
  size_t count = 0;
  for (const BodyPair& pair : pairs_.pairs()) count += pair.candidates.size();
  gathered_.candidates.reserve(count);  // growing a long list element by element would copy it several times
  for (size_t k = 0; k < pairs_.pairs().size(); ++k) {
    BodyPair& pair = pairs_.pairs()[k];
    pair.first = gathered_.candidates.size();
    for (const Candidate& c : pair.candidates) {
      if (poll_.Stop()) return;
      gathered_.candidates.push_back(c);
      gathered_.candidates.back().list = static_cast<int32_t>(k);
      gathered_.vertices.AddAll(c.v);
    }
    gathered_.neighbour_pairs.insert(gathered_.neighbour_pairs.end(), pair.neighbour_pairs.begin(), pair.neighbour_pairs.end());
    for (const auto& [a, b] : pair.triangle_pairs) {
      if (poll_.Stop()) return;
      gathered_.triangle_vertices.AddAll(surface_->triangles[a]);
      gathered_.triangle_vertices.AddAll(surface_->triangles[b]);
    }
  }
  share_.AddExamined(static_cast<int64_t>(gathered_.candidates.size()), 0);
  // Here, so that nothing is allocated when the first candidate comes near.
  near_.within.resize(pairs_.pairs().size());
  near_.candidates.reserve(gathered_.candidates.capacity());
  near_.vertices.Reserve(gathered_.vertices.list().capacity());
  gathered_.complete = true;
}

}  // namespace eipc
