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
                             const DeformationBounds* shapes)
    : surface_(surface), summaries_(summaries), dhat_(dhat), shapes_(shapes), neighbour_proofs_(surface, summaries, dhat) {}

[[gnu::always_inline]] inline bool RestingSearch::Apart(const Job& of, int32_t i, int32_t j) const {
  const auto& [boxes, pair, found] = of;
  const bool self = pair->of_one_body();
  if (!(self && i == j) && !boxes->Node(pair->a, i).Meets(boxes->Node(pair->b, j).Swept(pair->shifts))) return true;
  return self && summaries_->proves[pair->a] && shapes_->ProveApart(pair->a, i, j);
}

void RestingSearch::Split(RegionBoxes* boxes, const BodyPair& pair, size_t wanted, std::vector<NodePair>* from,
                          std::vector<NodePair>* next, int64_t* node_pairs) const {
  *node_pairs = 0;
  const Job of{boxes, &pair, nullptr};
  SplitLeafPairs({surface_->trees[pair.a], surface_->trees[pair.b], pair.of_one_body()}, wanted, from, next,
                 [&](int32_t i, int32_t j) {
                   ++*node_pairs;
                   return Apart(of, i, j);
                 });
}

bool RestingSearch::SearchBelow(const Job& of, const NodePair& from, SearchScratch* scratch, int64_t* node_pairs,
                                const Enough& enough) const {
  const BodyPair& pair = *of.pair;
  InterruptPoll& poll = scratch->poll;
  int64_t examined = 0;
  bool ended = false;
  const auto apart = [&](int32_t i, int32_t j) {
    ++examined;
    return ended || poll.Stop() || Apart(of, i, j);
  };
  ForLeafPairsBelow({surface_->trees[pair.a], surface_->trees[pair.b], pair.of_one_body()}, from, &scratch->stack, apart,
                    [&](int32_t i, int32_t j) {
                      if (ended || poll.stopped()) return;
                      AddLeafPair(of, i, j);
                      ended = enough && enough();
                    });
  *node_pairs = examined;
  return !ended && !poll.stopped();
}

bool RestingSearch::Search(RegionBoxes* boxes, BodyPair* pair, SearchScratch* scratch, const Enough& enough) {
  const Job of{boxes, pair, &pair->found};
  if (!SearchBelow(of, {0, 0}, scratch, &pair->node_pairs, enough)) return false;
  if (HasNeighbours(*pair)) AddNeighbours(of, scratch);
  return true;
}

void RestingSearch::AddLeafPair(const Job& of, int32_t i, int32_t j) const {
  RegionBoxes* boxes = of.boxes;
  const BodyPair* pair = of.pair;
  ForMeetingTriangles(
      {surface_->trees[pair->a], i, surface_->trees[pair->b], j, pair->of_one_body() && i == j},
      [boxes](int32_t t) { return boxes->Triangle(t); }, [&](int32_t t) { return boxes->Triangle(t).Swept(pair->shifts); },
      [&](int32_t a, int32_t b, const WideBox& box_a, const WideBox& box_b) { AddTrianglePair(of, a, b, box_a, box_b); });
}

void RestingSearch::AddTrianglePair(const Job& of, int32_t a, int32_t b, const WideBox& box_a, const WideBox& box_b) const {
  const auto& [boxes, pair, found] = of;
  const bool self = pair->of_one_body();
  const std::vector<Vec3>& points = boxes->points();
  if (self && ShareVertex(surface_->triangles[a], surface_->triangles[b])) {
    if (!summaries_->proves[pair->a]) return;  // one of AddNeighbours
    found->neighbour_pairs.emplace_back(a, b);
  } else if (box_a.MeetsWithin(box_b, dhat_ + surface_->sheets.largest_offset)) {  // the regions themselves, without dhat, meet
    found->triangle_pairs.emplace_back(a, b);
    Box s, t;
    for (int32_t v : surface_->triangles[a]) s.Include(points[v]);
    for (int32_t v : surface_->triangles[b]) t.Include(self ? points[v] : Vec3(points[v] + pair->shift));
    found->triangle_gaps.push_back((s.lo - t.hi).max(t.lo - s.hi).maxCoeff());
  }
  AddFeatures(of, a, b, box_a, box_b);
}

void RestingSearch::AddNeighbours(const Job& of, SearchScratch* scratch) {
  const auto& [boxes, pair, found] = of;
  for (const int32_t v : neighbour_proofs_.vertices(pair->a)) boxes->Vertex(v);
  neighbour_proofs_.FindUnproven(pair->a, boxes->points(), boxes->radii(), &scratch->unproven);
  for (const int32_t k : scratch->unproven) {
    const auto& [a, b] = summaries_->neighbours[pair->a][k].triangles;
    found->neighbour_pairs.emplace_back(a, b);
    AddFeatures(of, a, b, boxes->Triangle(a), boxes->Triangle(b).Swept(pair->shifts));
  }
}

void RestingSearch::AddFeatures(const Job& of, int32_t a, int32_t b, const WideBox& box_a, const WideBox& box_b) const {
  RegionBoxes* boxes = of.boxes;
  const BodyPair* pair = of.pair;
  ForMeetingFeatures(*surface_, pair->of_one_body(), FirstSide{boxes, a, box_a}, SecondSide{boxes, b, box_b, pair->shifts},
                     [&](const std::array<int32_t, 4>& v, int32_t first, int32_t second, ContactKind kind) {
                       AddIfNear(of, v, first, second, kind);
                     });
}

// How far apart both sides stay along a unit direction, from the second to the first, while everything is in its region, m: between
// the corners of the boxes of their vertices that are nearest to the other side, and at the end of the shift that brings them
// nearest.
double RestingSearch::LeastApart(const Job& of, const std::array<int32_t, 4>& v, ContactKind kind, const Vec3& direction) const {
  const auto& [boxes, pair, found] = of;
  const Quad n = LoadThree(direction.data());
  const auto sum = [](const Quad& q) { return q[0] + q[1] + q[2]; };
  const auto low = [&](const WideBox& box) { return sum(Smaller(n * box.lo, n * box.hi)); };
  const auto high = [&](const WideBox& box) { return sum(Larger(n * box.lo, n * box.hi)); };
  const auto first = [&, boxes = boxes](int k) { return low(boxes->Vertex(v[k])); };
  const auto second = [&, boxes = boxes](int k) { return high(boxes->Vertex(v[k])); };
  double apart = kind == ContactKind::kPointTriangle ? first(0) - std::max({second(1), second(2), second(3)})
                                                     : std::min(first(0), first(1)) - std::max(second(2), second(3));
  if (!pair->of_one_body()) apart += surface_->vertex_body[v[0]] != pair->a ? low(pair->shifts) : -high(pair->shifts);
  const double grown = dhat_ + surface_->sheets.largest_offset;  // both boxes together
  return apart + grown * sum(Size(n));
}

// Everything of b relative to the centroid of a.
void RestingSearch::AddIfNear(const Job& of, const std::array<int32_t, 4>& v, int32_t first, int32_t second,
                              ContactKind kind) const {
  const auto& [boxes, pair, found] = of;
  std::array<Vec3, 4> x;
  for (int k = 0; k < 4; ++k) {
    x[k] = boxes->points()[v[k]];
    if (surface_->vertex_body[v[k]] != pair->a) x[k] += pair->shift;
  }
  const Separation at_points = kind == ContactKind::kPointTriangle ? PointTriangleSeparation(x[0], x[1], x[2], x[3])
                                                                   : EdgeEdgeSeparation(x[0], x[1], x[2], x[3]);
  const double apart = LeastApart(of, v, kind, at_points.direction);
  const PairRange most = RangeBetween(*surface_, pair->a, pair->b, dhat_);
  if (apart >= most.reach() + kLeastExamined) return;
  const PairRange own = pair->of_one_body() ? OwnRange(*surface_, kind, v, dhat_) : most;
  if (apart >= own.reach() + kLeastExamined) return;
  found->candidates.push_back({v, first, second, kind, pair->of_one_body(), 0, own.dhat, at_points.distance, own.offset});
  found->candidates.back().first_is_of_b = surface_->vertex_body[v[0]] != pair->a;
}

}  // namespace eipc
