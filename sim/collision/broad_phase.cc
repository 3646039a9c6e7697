#include "sim/collision/broad_phase.h"

#include <algorithm>

#include "sim/collision/region_bounds.h"
#include "sim/geometry/distance.h"

namespace eipc {
namespace {

// The growth of extents, in margins and in motions of the body.
constexpr double kExtentMargin = 20;
constexpr double kExtentMotions = 4;

Box Grown(const Vec3& a, const Vec3& b, double by) { return {a.cwiseMin(b).array() - by, a.cwiseMax(b).array() + by}; }

}  // namespace

BroadPhase::BroadPhase(const CollisionSurface* surface, const SurfaceSummaries* summaries, const std::vector<EmbeddingRow>* rows,
                       const std::vector<Vec3>* offsets, double dhat, const SearchThreads::Source& threads)
    : surface_(surface),
      summaries_(summaries),
      dhat_(dhat),
      poll_(threads.interrupt),
      along_world_(ViewAxes::kOfWorld, surface, summaries, rows, offsets, dhat + surface->sheets.largest_offset),
      along_body_(ViewAxes::kOfBody, surface, summaries, rows, offsets, dhat + surface->sheets.largest_offset),
      shapes_(summaries, dhat),
      shape_stamps_(surface->body_count, 0),
      threads_(threads, surface->vertex_count),
      search_(surface, summaries, dhat, &shapes_),
      parts_(&search_, &threads_),
      pairs_(surface->body_count) {
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

// Only proofs about contact within a body ask for its deformation.
bool BroadPhase::ShapeCovers(int32_t body, const DeformationBounds::Seen& from, const DeformationBounds::Seen& to) const {
  if (!along_body_.wanted(body) || !summaries_->proves[body]) return true;
  return shape_stamps_[body] > 0 && shapes_.Cover(body, from, to);
}

bool BroadPhase::ExtentCovers(int32_t body, const Vec3& centroid) {
  const BodyPairList::Extent& extent = pairs_.extent(body);
  if (!extent.present) return true;
  return Contains(extent.centroids, centroid) &&
         extent.surface.Contains(along_world_.boxes().Node(body, 0).Swept(WideBox(extent.centroids.lo, extent.centroids.hi)));
}

// Whether its bodies' regions are those that the pair was searched for.
bool BroadPhase::IsCurrent(const BodyPair& pair) const {
  const RegionBoxes& boxes = RegionsOf(pair).boxes();
  if (pair.width.TooWide() || pair.stamp_a != boxes.stamp(pair.a) || pair.stamp_b != boxes.stamp(pair.b)) return false;
  return !pair.of_one_body() || pair.shape_stamp == shape_stamps_[pair.a];
}

bool BroadPhase::Covers(const VecX& q) {
  if (!gathered_.complete) return false;
  const SeenState& world = along_world_.See(q);
  const SeenState& turned = along_body_.See(q, &world);
  for (int32_t body = 0; body < surface_->body_count; ++body) {
    if (!along_world_.wanted(body)) continue;
    if (!along_world_.Cover(body, world)) return false;
    if (along_body_.wanted(body) && !along_body_.Cover(body, turned)) return false;
    if (!ShapeCovers(body, {q, turned.frames[body]}, {q, turned.frames[body]})) return false;
    const BodyPairList::Extent& extent = pairs_.extent(body);
    if (extent.present && !Contains(extent.centroids, world.frames[body].centroid)) return false;
  }
  return std::all_of(pairs_.pairs().begin(), pairs_.pairs().end(), [&](const BodyPair& pair) {
    return IsCurrent(pair) &&
           (pair.of_one_body() || Contains(pair.shifts, world.frames[pair.b].centroid - world.frames[pair.a].centroid));
  });
}

Vec3 BroadPhase::ShiftHere(const BodyPair& pair) const {
  return along_world_.motion(pair.b).here.centroid - along_world_.motion(pair.a).here.centroid;
}

Vec3 BroadPhase::ShiftThere(const BodyPair& pair) const {
  return along_world_.motion(pair.b).there.centroid - along_world_.motion(pair.a).there.centroid;
}

double BroadPhase::CentroidMotion(int32_t body) const {
  const BodyRegions::Motion& motion = along_world_.motion(body);
  return (motion.there.centroid - motion.here.centroid).cwiseAbs().maxCoeff();
}

double BroadPhase::ShiftMotion(const BodyPair& pair) const { return (ShiftThere(pair) - ShiftHere(pair)).cwiseAbs().maxCoeff(); }

bool BroadPhase::MovesFar(const BodyPair& pair, double far) const {
  return along_world_.motion(pair.a).IsFar(far) || along_world_.motion(pair.b).IsFar(far) || ShiftMotion(pair) > far;
}

void BroadPhase::SetAsleep(const std::vector<uint8_t>& asleep) {
  pairs_stale_ = pairs_stale_ || asleep != asleep_;
  asleep_ = asleep;
}

// True when something had to be renewed.
bool BroadPhase::UpdateBody(int32_t body, const VecX& here, const VecX& there, double margin, double far, bool at_start) {
  bool renewed = false;
  for (BodyRegions* regions : {&along_world_, &along_body_}) {
    if (!regions->wanted(body) || regions->CoverMotion(body, far)) continue;
    regions->Renew(body, Narrowed(margin), far, at_start);
    renewed = true;
  }
  const BodyRegions::Motion& motion = along_body_.motion(body);
  const DeformationBounds::Seen from{here, motion.here};
  const DeformationBounds::Seen to = motion.IsFar(far) ? from : DeformationBounds::Seen{there, motion.there};
  if (ShapeCovers(body, from, to)) return renewed;
  RenewShape(body, from, to);
  return true;
}

bool BroadPhase::UpdateBounds(const VecX& here, const VecX& there, double margin, double far, bool at_start) {
  poll_.Begin();
  bool renewed = !gathered_.complete, pairs_stale = pairs_stale_;
  pairs_stale_ = false;
  along_world_.MeasureMotion(here, there);
  along_body_.MeasureMotion(here, there, &along_world_);
  for (int32_t body = 0; body < surface_->body_count; ++body) {
    if (!along_world_.wanted(body)) continue;
    renewed |= UpdateBody(body, here, there, margin, far, at_start);
    const BodyRegions::Motion& motion = along_world_.motion(body);
    pairs_stale = pairs_stale || !ExtentCovers(body, motion.here.centroid) ||
                  (CentroidMotion(body) <= far && !ExtentCovers(body, motion.there.centroid));
  }
  if (pairs_stale) {
    RenewExtents(margin, far);
    pairs_.Choose([this](int32_t a, int32_t b) { return surface_->Enabled(a, b) && !AtRest(a, b); });
    renewed = true;
  }
  renewed |= RenewPairs(margin, far, at_start);
  if (renewed) Gather();
  return renewed;
}

void BroadPhase::ShrinkBounds(const VecX& here, const VecX& there, double margin, double far) {
  share_.Follow();
  along_world_.MeasureMotion(here, there);
  along_body_.MeasureMotion(here, there, &along_world_);
  for (BodyRegions* regions : {&along_world_, &along_body_}) {
    for (int32_t body = 0; body < surface_->body_count; ++body) {
      if (regions->wanted(body)) regions->Watch(body, Narrowed(margin), far);
    }
  }
  for (BodyPair& pair : pairs_.pairs()) {
    const WideBox::Quad width = pair.shifts.hi - pair.shifts.lo;
    const double motion = pair.of_one_body() || ShiftMotion(pair) > far ? 0 : ShiftMotion(pair);
    pair.width.Count(std::max({width[0], width[1], width[2]}), motion, Narrowed(margin));
  }
}

// How far deformation gradients may be from the straight path between both positions. With less they soon leave it; with more,
// pairs that are near can no longer be proven out of contact: the finer the surface, the more of them there are.
void BroadPhase::RenewShape(int32_t body, const DeformationBounds::Seen& from, const DeformationBounds::Seen& to) {
  constexpr double kLeast = 0.005, kMost = 0.06;
  shapes_.Set(body, from, to, std::clamp(kLeast * summaries_->edge_length[body] / dhat_, kLeast, kMost));
  ++shape_stamps_[body];
}

void BroadPhase::RenewExtents(double margin, double far) {
  for (int32_t body = 0; body < surface_->body_count; ++body) {
    BodyPairList::Extent& extent = pairs_.extent(body);
    if (!extent.present) continue;
    const BodyRegions::Motion& motion = along_world_.motion(body);
    const Vec3 a = motion.here.centroid, b = CentroidMotion(body) > far ? a : motion.there.centroid;
    const double grown = std::max(kExtentMargin * margin, kExtentMotions * (b - a).cwiseAbs().maxCoeff());
    extent.centroids = Grown(a, b, Moves(body) ? grown : 0);
    Box shifts = extent.centroids;
    if (Moves(body)) shifts.lo -= grown, shifts.hi += grown;  // the body may deform, too
    extent.surface = along_world_.boxes().Node(body, 0).Swept(WideBox(shifts.lo, shifts.hi));
  }
}

bool BroadPhase::RenewPairs(double margin, double far, bool at_start) {
  due_.pairs.clear();
  for (size_t k = 0; k < pairs_.pairs().size(); ++k) {
    const BodyPair& pair = pairs_.pairs()[k];
    const bool inside = pair.of_one_body() || (Contains(pair.shifts, ShiftHere(pair)) &&
                                               (MovesFar(pair, far) || Contains(pair.shifts, ShiftThere(pair))));
    if (!inside || !IsCurrent(pair)) due_.pairs.push_back(static_cast<int32_t>(k));
  }
  if (due_.pairs.empty()) return false;
  gathered_.complete = false;  // so it stays where memory fails amid the search
  // The longest first, by what they took before: a thread that comes to one last would keep the others waiting.
  std::sort(due_.pairs.begin(), due_.pairs.end(), [this](int32_t k, int32_t l) {
    return std::pair(-pairs_.pairs()[k].node_pairs, k) < std::pair(-pairs_.pairs()[l].node_pairs, l);
  });
  int64_t node_pairs = 0;
  for (const int32_t k : due_.pairs) node_pairs += pairs_.pairs()[k].node_pairs;
  parts_.Begin(node_pairs);
  for (const int32_t k : due_.pairs) {
    BodyPair* const pair = &pairs_.pairs()[k];
    BeginPair(pair, margin, far, at_start);
    parts_.Add(&RegionsOf(*pair).boxes(), pair);
  }
  const bool complete =
      parts_.Run([this](SearchScratch* scratch, BodyPair* pair, bool found_all) { EndPair(scratch, pair, found_all); });
  if (!complete) poll_.Halt();
  for (const int32_t k : due_.pairs) {
    const BodyPair& pair = pairs_.pairs()[k];
    share_.AddSearch(pair.node_pairs, static_cast<int64_t>(pair.found.candidates.size()));
    node_pairs_ += pair.node_pairs;
  }
  return true;
}

void BroadPhase::BeginPair(BodyPair* pair, double margin, double far, bool at_start) const {
  pair->stamp_a = 0;  // no region has this one: until all of the search has been done
  pair->stamp_b = RegionsOf(*pair).boxes().stamp(pair->b);
  pair->shape_stamp = shape_stamps_[pair->a];
  pair->width.Reset();
  pair->shift.setZero();
  pair->shifts = WideBox(Eigen::Array3d::Zero(), Eigen::Array3d::Zero());
  if (!pair->of_one_body()) {
    const Vec3 a = ShiftHere(*pair), b = MovesFar(*pair, far) ? a : ShiftThere(*pair);
    const Box shifts = Grown(a, b, MarginFor(ShiftMotion(*pair), Narrowed(margin)));
    pair->shift = at_start ? a : b;
    pair->shifts = WideBox(shifts.lo, shifts.hi);
  }
  pair->Clear();
}

void BroadPhase::EndPair(SearchScratch* scratch, BodyPair* pair, bool complete) const {
  const BodyRegions& regions = RegionsOf(*pair);
  // Bounds are those of the points of the regions.
  const bool anchored = regions.anchored(pair->a) && regions.anchored(pair->b);
  pair->anchor_a = anchored ? regions.anchors().stamp(pair->a) : 0;
  pair->anchor_b = regions.anchors().stamp(pair->b);
  pair->anchor_shift = pair->shift;
  scratch->vertices.Clear();
  pair->least_dhat = std::numeric_limits<double>::infinity();
  for (const Candidate& c : pair->found.candidates) {
    scratch->vertices.AddAll(c.v);
    pair->least_dhat = std::min(pair->least_dhat, c.dhat);
  }
  pair->vertices.of_candidates = scratch->vertices.list();
  scratch->vertices.Clear();
  for (const auto& [a, b] : pair->found.triangle_pairs) {
    scratch->vertices.AddAll(surface_->triangles[a]);
    scratch->vertices.AddAll(surface_->triangles[b]);
  }
  pair->vertices.of_triangles = scratch->vertices.list();
  if (complete) pair->stamp_a = regions.boxes().stamp(pair->a);
}

// Candidates of pairs that have been renewed, or that have another place among all now, are copied to it.
void BroadPhase::Gather() {
  gathered_.complete = false;
  near_.stale = true;
  gathered_.neighbour_pairs.clear();
  gathered_.least_dhat = dhat_;
  gathered_.vertices.Clear();
  gathered_.triangle_vertices.Clear();
  if (poll_.Stop()) {
    gathered_.candidates.clear();  // they name pairs of bodies that there may be no more
    for (BodyPair& pair : pairs_.pairs()) pair.place.list = -1;
    return;
  }
  due_.pairs.clear();
  size_t count = 0, copied = 0;
  for (size_t k = 0; k < pairs_.pairs().size(); ++k) {
    BodyPair& pair = pairs_.pairs()[k];
    if (pair.place.list != static_cast<int32_t>(k) || pair.place.first != count) {
      due_.pairs.push_back(static_cast<int32_t>(k));
      copied += pair.found.candidates.size();
    }
    pair.place.list = -1;  // until it has been copied
    pair.place.first = count;
    count += pair.found.candidates.size();
    gathered_.least_dhat = std::min(gathered_.least_dhat, pair.least_dhat);
    gathered_.vertices.AddAll(pair.vertices.of_candidates);
    gathered_.triangle_vertices.AddAll(pair.vertices.of_triangles);
    gathered_.neighbour_pairs.insert(gathered_.neighbour_pairs.end(), pair.found.neighbour_pairs.begin(),
                                     pair.found.neighbour_pairs.end());
  }
  gathered_.candidates.resize(count);
  const BodyPair* first = pairs_.pairs().data();
  ForPairsDue([&](SearchScratch*, const BodyPair* pair) {
    Candidate* out = gathered_.candidates.data() + pair->place.first;
    for (const Candidate& c : pair->found.candidates) {
      *out = c;
      (out++)->list = static_cast<int32_t>(pair - first);
    }
    return int64_t{0};
  });
  for (size_t k = 0; k < pairs_.pairs().size(); ++k) pairs_.pairs()[k].place.list = static_cast<int32_t>(k);
  share_.AddExamined(static_cast<int64_t>(copied), 0);
  // Here, so that nothing is allocated when the first candidate comes near.
  near_.within.resize(pairs_.pairs().size());
  near_.candidates.reserve(gathered_.candidates.capacity());
  near_.vertices.Reserve(gathered_.vertices.list().capacity());
  gathered_.complete = true;
}

}  // namespace eipc
