#include "sim/collision/body_regions.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace eipc {
namespace {

// Regions grow by no more than this of the mean edge length: a wide region of a fine surface holds many pairs. Tuned on the grasps
// and bins of ./dev bench; it cannot change a result.
constexpr double kMostOfEdge = 0.25;

}  // namespace

BodyRegions::BodyRegions(ViewAxes axes, const CollisionSurface* surface, const SurfaceSummaries* summaries,
                         const std::vector<EmbeddingRow>* rows, const std::vector<Vec3>* offsets, double reach)
    : frames_(axes, summaries),
      wanted_(surface->body_count),
      summaries_(summaries),
      boxes_(surface, summaries, rows, offsets, reach),
      anchors_(surface, summaries, rows, offsets),
      bodies_(surface->body_count),
      motions_(surface->body_count) {
  for (int32_t body = 0; body < surface->body_count; ++body) {
    wanted_[body] = !surface->trees[body].empty() && (axes == ViewAxes::kOfWorld || surface->Enabled(body, body));
  }
}

void BodyRegions::Fill(const VecX& q, const SeenState* along_world, SeenState* out) {
  if (out->q.size() != q.size() || out->frames.empty()) {  // all of them, so that nothing is allocated later
    const size_t nodes = summaries_->nodes.empty() ? 0 : summaries_->nodes.back() + 1;
    for (SeenState* state : {&here_, &there_, &other_}) state->Resize(q.size(), motions_.size(), nodes);
  }
  out->q = q;
  out->known = true;
  for (size_t b = 0; b < motions_.size(); ++b) {
    const int32_t body = static_cast<int32_t>(b);
    if (!wanted(body)) continue;
    const ViewFrame frame = along_world == nullptr ? frames_.Of(body, q) : frames_.Of(body, q, along_world->frames[body].centroid);
    out->See(*summaries_, body, frame);
  }
}

const SeenState& BodyRegions::See(const VecX& q, const SeenState* along_world) {
  for (const SeenState* known : {&there_, &here_, &other_}) {
    if (known->Is(q)) return *known;
  }
  Fill(q, along_world, &other_);
  return other_;
}

// Mostly one of both ends is one of the last motion's.
void BodyRegions::MeasureMotion(const VecX& here, const VecX& there, const BodyRegions* along_world) {
  if (there_.Is(here) || here_.Is(there)) std::swap(here_, there_);
  if (!here_.Is(here)) Fill(here, along_world == nullptr ? nullptr : &along_world->here_, &here_);
  if (!there_.Is(there)) Fill(there, along_world == nullptr ? nullptr : &along_world->there_, &there_);
  for (size_t b = 0; b < motions_.size(); ++b) {
    if (wanted(static_cast<int32_t>(b))) motions_[b] = Between(static_cast<int32_t>(b));
  }
}

BodyRegions::Motion BodyRegions::Between(int32_t body) const {
  Motion motion;
  motion.here = here_.frames[body], motion.there = there_.frames[body];
  Quad largest = {}, change2 = {};
  if (!motion.here.turned) {
    for (const int32_t n : summaries_->body_nodes[body]) largest = Larger(largest, Size(there_.nodes[n] - here_.nodes[n]));
    motion.largest = LargestOf(largest);
    return motion;
  }
  ForFours(summaries_->body_nodes[body], [&](const std::array<int32_t, 4>& n) {
    Quad moved[4];
    for (int i = 0; i < 4; ++i) {
      moved[i] = there_.nodes[n[i]] - here_.nodes[n[i]];
      largest = Larger(largest, Size(moved[i]));
    }
    change2 = Larger(change2, SquaredLengths(moved));
  });
  motion.largest = LargestOf(largest);
  const double size = kRoundUp * std::max(here_.radii[body], there_.radii[body]);
  motion.bulge = PathBend(motion.here, motion.there).Bulge(size, std::sqrt(LargestOf(change2)));
  return motion;
}

bool BodyRegions::Cover(int32_t body, const SeenState& seen) const {
  return !bodies_[body].width.TooWide() && boxes_.Contain(body, seen);
}

bool BodyRegions::CoverMotion(int32_t body, double far) const {
  const Motion& motion = motions_[body];
  if (bodies_[body].width.TooWide()) return false;
  if (motion.IsFar(far)) return boxes_.Contain(body, here_);
  return boxes_.Contain(body, here_, motion.bulge) && boxes_.Contain(body, there_, motion.bulge);
}

void BodyRegions::Renew(int32_t body, double margin, double far, bool at_start) {
  const Motion& motion = motions_[body];
  const bool is_far = motion.IsFar(far);
  const SeenState& anchor = is_far || at_start ? here_ : there_;
  const SeenState& other = is_far || !at_start ? here_ : there_;
  double grown = std::min(MarginFor(motion.largest, margin), kMostOfEdge * summaries_->edge_length[body]);
  if (!is_far) grown += motion.bulge;
  for (const int32_t n : summaries_->body_nodes[body]) boxes_.SetPath(n, other.nodes[n], anchor.nodes[n]);
  boxes_.Renew(body, grown);
  anchors_.Set(body, anchor);
  bodies_[body].width.Reset();
  bodies_[body].anchored = true;
}

void BodyRegions::Watch(int32_t body, double margin, double far) {
  if (boxes_.stamp(body) == 0) return;
  const Motion& motion = motions_[body];
  const double near_motion = motion.IsFar(far) ? 0 : motion.largest + 2 * motion.bulge;
  bodies_[body].width.Count(boxes_.Width(body), near_motion, margin);
}

void BodyRegions::MoveAnchors(const SeenState& seen, double slack) {
  for (size_t b = 0; b < bodies_.size(); ++b) {
    const int32_t body = static_cast<int32_t>(b);
    bodies_[body].moved = 0;
    if (!wanted(body)) continue;
    if (anchors_.stamp(body) > 0 && anchors_.LargestComponent(body, seen) <= slack) continue;
    bodies_[body].moved = anchors_.OfBody(body, seen).most;
    anchors_.Set(body, seen);
    bodies_[body].anchored = false;
  }
}

}  // namespace eipc
