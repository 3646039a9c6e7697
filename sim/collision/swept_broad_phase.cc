#include "sim/collision/swept_broad_phase.h"

#include <algorithm>
#include <array>

#include "sim/collision/feature_pairs.h"
#include "sim/collision/pair_dhat.h"
#include "sim/geometry/tree_pairs.h"

namespace eipc {
namespace {

// Candidates of one part: some megabytes, and enough for all threads.
constexpr size_t kPart = size_t{1} << 16;

}  // namespace

struct SweptBroadPhase::Side {
  SweptBoxes* boxes;
  int32_t triangle;
  SweptBox box;
  const SweptBox& Vertex(int32_t v) const { return boxes->Vertex(v); }
  SweptBox Edge(int32_t e) const { return boxes->Edge(e); }
};

SweptBroadPhase::SweptBroadPhase(const CollisionSurface* surface, const SurfaceSummaries* summaries,
                                 const std::vector<EmbeddingRow>* rows, const std::vector<Vec3>* offsets, double dhat,
                                 const SearchThreads::Source& threads)
    : surface_(surface),
      summaries_(summaries),
      dhat_(dhat),
      shapes_(summaries, dhat),
      threads_(threads, 0),
      boxes_(surface, summaries, rows, offsets) {}

// Each body with itself, then those whose boxes meet, by a sweep along x.
void SweptBroadPhase::ChoosePairs(const VecX& from, const VecX& to, const BroadPhase* searched) {
  pairs_.clear();
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
    pairs_.emplace_back(body, body);
  }
  std::sort(by_x_.begin(), by_x_.end());
  for (size_t i = 0; i < by_x_.size(); ++i) {
    const SweptBox& box = body_boxes_[by_x_[i].second];
    const double end = std::max(box.from.hi[0], box.to.hi[0]);
    for (size_t j = i + 1; j < by_x_.size() && by_x_[j].first <= end; ++j) {
      const auto [a, b] = std::minmax(by_x_[i].second, by_x_[j].second);
      if (body_boxes_[a].Meets(body_boxes_[b]) && wanted(a, b)) pairs_.emplace_back(a, b);
    }
  }
}

void SweptBroadPhase::Find(const VecX& from, const VecX& to, double distance, const BroadPhase* searched, const Sink& sink) {
  boxes_.Begin(from, to, distance);
  candidates_.clear();
  ChoosePairs(from, to, searched);
  const Sink keep = [this](const std::vector<Candidate>& part, ThreadPool*) {
    candidates_.insert(candidates_.end(), part.begin(), part.end());
  };
  const Sink& to_sink = sink ? sink : keep;
  const bool shared = sink != nullptr;  // those that are kept are kept in order
  const int64_t count = static_cast<int64_t>(pairs_.size());
  ThreadPool* within = shared && threads_.Shares(count) ? threads_.one_thread() : threads_.pool();
  for (const auto& scratch : threads_.scratches()) scratch->candidates.clear();
  threads_.ForEach(count, shared, [&](SearchScratch* scratch, int64_t i) { Traverse(pairs_[i], to_sink, within, scratch); });
  for (const auto& scratch : threads_.scratches()) {
    if (!scratch->candidates.empty()) to_sink(scratch->candidates, threads_.pool());
  }
}

void SweptBroadPhase::Traverse(const std::pair<int32_t, int32_t>& bodies, const Sink& sink, ThreadPool* pool,
                               SearchScratch* scratch) {
  const int32_t body_a = bodies.first, body_b = bodies.second;
  const bool self = body_a == body_b;
  InterruptPoll& poll = scratch->poll;
  const auto apart = [&](int32_t i, int32_t j) {
    if (poll.Stop()) return true;
    if (!(self && i == j) && !boxes_.Node(body_a, i).Meets(boxes_.Node(body_b, j))) return true;
    return self && summaries_->proves[body_a] && shapes_.ProveApart(body_a, i, j);
  };
  ForLeafPairs(surface_->trees[body_a], surface_->trees[body_b], self, &scratch->stack, apart, [&](int32_t i, int32_t j) {
    if (poll.Stop()) return;
    AddLeafPair({body_a, i}, {body_b, j}, &scratch->candidates);
    if (scratch->candidates.size() < kPart) return;
    sink(scratch->candidates, pool);
    scratch->candidates.clear();
  });
}

void SweptBroadPhase::AddLeafPair(const Leaf& leaf_a, const Leaf& leaf_b, std::vector<Candidate>* out) {
  const bool self = leaf_a.body == leaf_b.body;
  const auto box_of = [this](int32_t t) { return boxes_.Triangle(t); };
  ForMeetingTriangles(
      {surface_->trees[leaf_a.body], leaf_a.node, surface_->trees[leaf_b.body], leaf_b.node, self && leaf_a.node == leaf_b.node},
      box_of, box_of, [&](int32_t a, int32_t b, const SweptBox& box_a, const SweptBox& box_b) {
        AddFeatures(self, {&boxes_, a, box_a}, {&boxes_, b, box_b}, out);
      });
}

void SweptBroadPhase::AddFeatures(bool self, const Side& a, const Side& b, std::vector<Candidate>* out) {
  ForMeetingFeatures(*surface_, self, a, b, [&](const std::array<int32_t, 4>& v, int32_t first, int32_t second, ContactKind kind) {
    const PairRange own =
        self ? OwnRange(*surface_, kind, v, dhat_)
             : RangeBetween(*surface_, surface_->triangle_body[a.triangle], surface_->triangle_body[b.triangle], dhat_);
    out->push_back({v, first, second, kind, self, 0, own.dhat});
    out->back().offset = own.offset;
  });
}

}  // namespace eipc
