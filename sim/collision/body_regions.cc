#include "sim/collision/body_regions.h"

#include <algorithm>
#include <cmath>

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

void BodyRegions::MeasureMotion(const VecX& here, const VecX& there, const BodyRegions* along_world) {
  here_.resize(here.size());
  there_.resize(there.size());
  for (size_t b = 0; b < motions_.size(); ++b) {
    const int32_t body = static_cast<int32_t>(b);
    if (!wanted(body)) continue;
    Motion& motion = motions_[body];
    motion = {};
    if (along_world == nullptr) {
      motion.here = frames_.Of(body, here), motion.there = frames_.Of(body, there);
    } else {
      motion.here = frames_.Of(body, here, along_world->motion(body).here.centroid);
      motion.there = frames_.Of(body, there, along_world->motion(body).there.centroid);
    }
    double size2 = 0, change2 = 0;
    for (const int32_t n : summaries_->body_nodes[body]) {
      const Vec3 a = motion.here.See(here.segment<3>(3 * n)), b = motion.there.See(there.segment<3>(3 * n));
      here_.segment<3>(3 * n) = a, there_.segment<3>(3 * n) = b;
      motion.largest = std::max(motion.largest, (b - a).cwiseAbs().maxCoeff());
      if (!motion.here.turned) continue;
      size2 = std::max({size2, a.squaredNorm(), b.squaredNorm()});
      change2 = std::max(change2, (b - a).squaredNorm());
    }
    motion.bulge = PathBend(motion.here, motion.there).Bulge(std::sqrt(size2), std::sqrt(change2));
  }
}

bool BodyRegions::Cover(int32_t body, const VecX& q) {
  return !bodies_[body].width.TooWide() && boxes_.Contain(body, q, frames_.Of(body, q));
}

bool BodyRegions::CoverMotion(int32_t body, double far) const {
  const Motion& motion = motions_[body];
  if (bodies_[body].width.TooWide()) return false;
  if (motion.IsFar(far)) return boxes_.Contain(body, here_);
  return boxes_.Contain(body, here_, motion.bulge) && boxes_.Contain(body, there_, motion.bulge);
}

void BodyRegions::Renew(int32_t body, double margin, double far) {
  const Motion& motion = motions_[body];
  const bool is_far = motion.IsFar(far);
  const VecX& end = is_far ? here_ : there_;
  double grown = std::min(MarginFor(motion.largest, margin), kMostOfEdge * summaries_->edge_length[body]);
  if (!is_far) grown += motion.bulge;
  for (const int32_t n : summaries_->body_nodes[body]) {
    const Vec3 a = here_.segment<3>(3 * n), b = end.segment<3>(3 * n);
    boxes_.SetRegion(n, b, {a.cwiseMin(b).array() - grown, a.cwiseMax(b).array() + grown});
  }
  boxes_.Renew(body);
  anchors_.Set(body, end);
  bodies_[body].width.Reset();
  bodies_[body].anchored = true;
}

void BodyRegions::Watch(int32_t body, double margin, double far) {
  if (boxes_.stamp(body) == 0) return;
  const Motion& motion = motions_[body];
  const double near_motion = motion.IsFar(far) ? 0 : motion.largest + 2 * motion.bulge;
  bodies_[body].width.Count(boxes_.Width(body), near_motion, margin);
}

void BodyRegions::MoveAnchors(const VecX& q, double slack) {
  for (size_t b = 0; b < bodies_.size(); ++b) {
    const int32_t body = static_cast<int32_t>(b);
    bodies_[body].moved = 0;
    if (!wanted(body)) continue;
    const ViewFrame frame = frames_.Of(body, q);
    if (anchors_.stamp(body) > 0 && anchors_.LargestComponent(body, q, frame) <= slack) continue;
    bodies_[body].moved = anchors_.OfBody(body, q, frame).most;
    anchors_.Set(body, q, frame);
    bodies_[body].anchored = false;
  }
}

}  // namespace eipc
