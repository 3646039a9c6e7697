#include "sim/collision/resting_search.h"

#include <algorithm>

#include "sim/collision/feature_pairs.h"
#include "sim/collision/pair_dhat.h"
#include "sim/geometry/distance.h"
#include "sim/geometry/tree_pairs.h"

namespace eipc {
namespace {

// Boxes of the first body, and of the second, moved by every vector from the centroid of the first to its own.
struct FirstSide {
  RegionBoxes* boxes;
  int32_t triangle;
  const WideBox& box;
  const WideBox& Vertex(int32_t v) const { return boxes->Vertex(v); }
  const WideBox& Edge(int32_t e) const { return boxes->Edge(e); }
};
struct SecondSide {
  RegionBoxes* boxes;
  int32_t triangle;
  const WideBox& box;
  const WideBox& shifts;
  WideBox Vertex(int32_t v) const { return boxes->Vertex(v).Swept(shifts); }
  WideBox Edge(int32_t e) const { return boxes->Edge(e).Swept(shifts); }
};

}  // namespace

RestingSearch::RestingSearch(const CollisionSurface* surface, const SurfaceSummaries* summaries, double dhat,
                             const DeformationBounds* shapes, InterruptPoll* poll)
    : surface_(surface),
      summaries_(summaries),
      dhat_(dhat),
      shapes_(shapes),
      poll_(poll),
      neighbour_proofs_(surface, summaries, dhat) {}

bool RestingSearch::Search(RegionBoxes* boxes, BodyPair* pair) {
  boxes_ = boxes;
  const bool self = pair->of_one_body();
  const auto apart = [&](int32_t i, int32_t j) {
    if (poll_->Stop(++node_pairs_)) return true;
    if (!(self && i == j) && !boxes_->Node(pair->a, i).Meets(boxes_->Node(pair->b, j).Swept(pair->shifts))) return true;
    return self && summaries_->proves[pair->a] && shapes_->ProveApart(pair->a, i, j);
  };
  ForLeafPairs(surface_->trees[pair->a], surface_->trees[pair->b], self, &stack_, apart, [&](int32_t i, int32_t j) {
    if (!poll_->stopped()) AddLeafPair(pair, i, j);
  });
  if (poll_->stopped()) return false;
  if (self && !summaries_->proves[pair->a]) AddNeighbours(pair);
  return true;
}

// Most pairs of triangles end here: boxes of b are moved once for all triangles of a.
void RestingSearch::AddLeafPair(BodyPair* pair, int32_t i, int32_t j) {
  const BoundingVolumeTree &tree_a = surface_->trees[pair->a], &tree_b = surface_->trees[pair->b];
  const BoundingVolumeTree::Node &a = tree_a.nodes()[i], &b = tree_b.nodes()[j];
  const bool same = pair->of_one_body() && i == j;
  std::array<WideBox, BoundingVolumeTree::kLeafSize> boxes_b;
  for (int32_t l = b.begin; l < b.end; ++l) boxes_b[l - b.begin] = boxes_->Triangle(tree_b.primitives()[l]).Swept(pair->shifts);
  for (int32_t k = a.begin; k < a.end; ++k) {
    const WideBox box_a = boxes_->Triangle(tree_a.primitives()[k]);
    for (int32_t l = same ? k + 1 : b.begin; l < b.end; ++l) {
      const WideBox& box_b = boxes_b[l - b.begin];
      if (box_a.Meets(box_b)) AddTrianglePair(pair, tree_a.primitives()[k], tree_b.primitives()[l], box_a, box_b);
    }
  }
}

void RestingSearch::AddTrianglePair(BodyPair* pair, int32_t a, int32_t b, const WideBox& box_a, const WideBox& box_b) {
  const bool self = pair->of_one_body();
  const std::vector<Vec3>& points = boxes_->points();
  if (self && ShareVertex(surface_->triangles[a], surface_->triangles[b])) {
    if (!summaries_->proves[pair->a]) return;  // one of AddNeighbours
    pair->neighbour_pairs.emplace_back(a, b);
  } else if (box_a.MeetsWithin(box_b, dhat_ + surface_->sheets.largest_offset)) {  // the regions themselves, without dhat, meet
    pair->triangle_pairs.emplace_back(a, b);
    Box s, t;
    for (int32_t v : surface_->triangles[a]) s.Include(points[v]);
    for (int32_t v : surface_->triangles[b]) t.Include(self ? points[v] : Vec3(points[v] + pair->shift));
    pair->triangle_gaps.push_back((s.lo - t.hi).max(t.lo - s.hi).maxCoeff());
  }
  AddFeatures(pair, a, b, box_a, box_b);
}

void RestingSearch::AddNeighbours(BodyPair* pair) {
  for (const int32_t v : neighbour_proofs_.vertices(pair->a)) boxes_->Vertex(v);
  neighbour_proofs_.FindUnproven(pair->a, boxes_->points(), boxes_->radii(), &unproven_);
  for (const int32_t k : unproven_) {
    const auto& [a, b] = summaries_->neighbours[pair->a][k].triangles;
    pair->neighbour_pairs.emplace_back(a, b);
    AddFeatures(pair, a, b, boxes_->Triangle(a), boxes_->Triangle(b).Swept(pair->shifts));
  }
}

void RestingSearch::AddFeatures(BodyPair* pair, int32_t a, int32_t b, const WideBox& box_a, const WideBox& box_b) {
  ForMeetingFeatures(*surface_, pair->of_one_body(), FirstSide{boxes_, a, box_a}, SecondSide{boxes_, b, box_b, pair->shifts},
                     [&](const std::array<int32_t, 4>& v, int32_t first, int32_t second, ContactKind kind) {
                       AddIfNear(pair, v, first, second, kind);
                     });
}

// Everything of b relative to the centroid of a.
void RestingSearch::AddIfNear(BodyPair* pair, const std::array<int32_t, 4>& v, int32_t first, int32_t second, ContactKind kind) {
  std::array<Vec3, 4> x;
  for (int k = 0; k < 4; ++k) {
    x[k] = boxes_->points()[v[k]];
    if (surface_->vertex_body[v[k]] != pair->a) x[k] += pair->shift;
  }
  const double bound = kind == ContactKind::kPointTriangle ? PointTriangleSeparation(x[0], x[1], x[2], x[3])
                                                           : EdgeEdgeSeparation(x[0], x[1], x[2], x[3]);
  const std::vector<double>& radii = boxes_->radii();
  const double r0 = radii[v[0]], r1 = radii[v[1]], r2 = radii[v[2]], r3 = radii[v[3]];
  const double radius = kind == ContactKind::kPointTriangle ? r0 + std::max({r1, r2, r3}) : std::max(r0, r1) + std::max(r2, r3);
  const double apart = bound - radius - pair->shift_radius;
  const PairRange most = RangeBetween(*surface_, pair->a, pair->b, dhat_);
  if (apart >= most.reach() + kLeastExamined) return;
  const PairRange own = pair->of_one_body() ? OwnRange(*surface_, kind, v, dhat_) : most;
  if (apart >= own.reach() + kLeastExamined) return;
  pair->candidates.push_back({v, first, second, kind, pair->of_one_body(), 0, own.dhat, bound, own.offset});
  pair->candidates.back().first_is_of_b = surface_->vertex_body[v[0]] != pair->a;
}

}  // namespace eipc
