#include "sim/collision/swept_broad_phase.h"

#include <algorithm>

#include "sim/collision/feature_pairs.h"
#include "sim/collision/pair_dhat.h"
#include "sim/geometry/tree_pairs.h"

namespace eipc {
namespace {

// Candidates of one part: some megabytes, and enough for all threads.
constexpr size_t kPart = size_t{1} << 16;

struct Side {
  SweptBoxes* boxes;
  int32_t triangle;
  SweptBox box;
  const SweptBox& Vertex(int32_t v) const { return boxes->Vertex(v); }
  SweptBox Edge(int32_t e) const { return boxes->Edge(e); }
};

}  // namespace

SweptBroadPhase::SweptBroadPhase(const CollisionSurface* surface, const SurfaceSummaries* summaries,
                                 const std::vector<EmbeddingRow>* rows, const std::vector<Vec3>* offsets, double dhat,
                                 Interrupt* interrupt)
    : surface_(surface),
      summaries_(summaries),
      dhat_(dhat),
      shapes_(summaries, dhat),
      poll_(interrupt),
      boxes_(surface, summaries, rows, offsets) {}

void SweptBroadPhase::Find(const VecX& from, const VecX& to, double distance, const BroadPhase* searched, const Sink& sink) {
  sink_ = sink ? &sink : nullptr;
  poll_.Begin();
  boxes_.Begin(from, to, distance);
  candidates_.clear();
  by_x_.clear();
  body_boxes_.resize(surface_->body_count);
  const auto wanted = [&](int32_t a, int32_t b) {
    return surface_->Enabled(a, b) && (searched == nullptr || !searched->InRegions(a, b));
  };
  for (int32_t body = 0; body < surface_->body_count; ++body) {
    if (surface_->trees[body].empty()) continue;
    const SweptBox& box = body_boxes_[body] = boxes_.Body(body);
    by_x_.emplace_back(std::min(box.from.lo[0], box.to.lo[0]), body);
    if (!wanted(body, body)) continue;
    if (summaries_->proves[body]) shapes_.Set(body, {from, ViewFrame()}, {to, ViewFrame()}, 0);
    Traverse(body, body);
  }
  std::sort(by_x_.begin(), by_x_.end());
  for (size_t i = 0; i < by_x_.size(); ++i) {
    const SweptBox& box = body_boxes_[by_x_[i].second];
    const double end = std::max(box.from.hi[0], box.to.hi[0]);
    for (size_t j = i + 1; j < by_x_.size() && by_x_[j].first <= end; ++j) {
      const auto [a, b] = std::minmax(by_x_[i].second, by_x_[j].second);
      if (body_boxes_[a].Meets(body_boxes_[b]) && wanted(a, b)) Traverse(a, b);
    }
  }
  GivePart();
  sink_ = nullptr;
}

void SweptBroadPhase::GivePart() {
  if (sink_ == nullptr || candidates_.empty()) return;
  (*sink_)(candidates_);
  candidates_.clear();
}

void SweptBroadPhase::Traverse(int32_t body_a, int32_t body_b) {
  const bool self = body_a == body_b;
  const auto apart = [&](int32_t i, int32_t j) {
    if (poll_.Stop()) return true;
    if (!(self && i == j) && !boxes_.Node(body_a, i).Meets(boxes_.Node(body_b, j))) return true;
    return self && summaries_->proves[body_a] && shapes_.ProveApart(body_a, i, j);
  };
  ForTreePairs(surface_->trees[body_a], surface_->trees[body_b], self, &stack_, apart, [&](int32_t a, int32_t b) {
    if (!poll_.Stop()) AddTrianglePair(a, b, self);
  });
}

void SweptBroadPhase::AddTrianglePair(int32_t a, int32_t b, bool self) {
  const Side side_a{&boxes_, a, boxes_.Triangle(a)}, side_b{&boxes_, b, boxes_.Triangle(b)};
  if (!side_a.box.Meets(side_b.box)) return;
  ForMeetingFeatures(
      *surface_, self, side_a, side_b, [&](const std::array<int32_t, 4>& v, int32_t first, int32_t second, ContactKind kind) {
        const PairRange own = self ? OwnRange(*surface_, kind, v, dhat_)
                                   : RangeBetween(*surface_, surface_->triangle_body[a], surface_->triangle_body[b], dhat_);
        candidates_.push_back({v, first, second, kind, self, 0, own.dhat});
        candidates_.back().offset = own.offset;
      });
  if (candidates_.size() >= kPart) GivePart();
}

}  // namespace eipc
