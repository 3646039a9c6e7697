#include "sim/collision/collision_free_step.h"

#include <algorithm>
#include <mutex>

#include "sim/geometry/ccd.h"
#include "sim/geometry/distance.h"

namespace eipc {
namespace {

constexpr double kGapShare = 0.1;  // of dhat, what detection keeps

// The free fraction of the motion of one pair, or some that is free and at least `enough`.
double FreeFraction(const Candidate& candidate, const SurfaceMotion& motion, double enough = 1) {
  const std::vector<Vec3>&x0 = motion.x0, &x1 = motion.x1;
  const std::array<int32_t, 4>& v = candidate.v;
  CcdOptions options;
  options.position_error_m = motion.position_error_m;
  options.target_gap = kGapShare * candidate.dhat;
  options.offset = candidate.offset;
  options.enough = enough;
  return (candidate.kind == ContactKind::kPointTriangle
              ? PointTriangleCcd(x0[v[0]], x0[v[1]], x0[v[2]], x0[v[3]], x1[v[0]], x1[v[1]], x1[v[2]], x1[v[3]], options)
              : EdgeEdgeCcd(x0[v[0]], x0[v[1]], x0[v[2]], x0[v[3]], x1[v[0]], x1[v[1]], x1[v[2]], x1[v[3]], options))
      .time;
}

}  // namespace

// Half as far again as the largest gap that detection may hold (its floor, 64 ulp, included): certain to be found free.
double LargestExaminedGap(double dhat, double offset, double position_error_m) {
  return offset + (1.5 * kGapShare * dhat + 1e-10 + 256 * position_error_m);
}

double CollisionFreeStep(const std::vector<Candidate>& candidates, const SurfaceMotion& motion, ThreadPool* pool,
                         Interrupt* interrupt) {
  constexpr int64_t kChunk = 256;
  constexpr int64_t kQueriesAPoll = 16;  // some 20 us
  const DisplacementBounds* reach = motion.reach;
  const std::vector<int32_t>* among = reach == nullptr ? nullptr : reach->among;
  const int64_t n = static_cast<int64_t>(among == nullptr ? candidates.size() : among->size());
  const int64_t chunks = (n + kChunk - 1) / kChunk;
  std::mutex mutex;
  double step = 1;
  pool->ParallelFor(chunks, 1, [&](int64_t first, int64_t last) {
    double local = 1;
    {
      const std::lock_guard<std::mutex> lock(mutex);
      local = step;
    }
    int64_t queries = 0;
    for (int64_t i = first * kChunk; i < std::min(n, last * kChunk); ++i) {
      const Candidate& candidate = candidates[among == nullptr ? i : (*among)[i]];
      const double far = LargestExaminedGap(candidate.dhat, candidate.offset, motion.position_error_m);
      if (reach != nullptr && StaysApart(candidate, *reach, far)) continue;
      if (queries++ % kQueriesAPoll == 0 && Raised(interrupt)) return;
      local = std::min(local, FreeFraction(candidate, motion, local));
    }
    const std::lock_guard<std::mutex> lock(mutex);  // a minimum does not depend on the order, nor on where pairs are left
    step = std::min(step, local);
  });
  return step;
}

void FindObstacle(const std::vector<Candidate>& candidates, const SurfaceMotion& motion, Obstacle* obstacle) {
  const DisplacementBounds* reach = motion.reach;
  const std::vector<Vec3>&x0 = motion.x0, &x1 = motion.x1;
  const std::vector<int32_t>* among = reach == nullptr ? nullptr : reach->among;
  const size_t n = among == nullptr ? candidates.size() : among->size();
  const Candidate* first = nullptr;
  for (size_t i = 0; i < n; ++i) {
    const Candidate& candidate = candidates[among == nullptr ? i : (*among)[i]];
    const double far = LargestExaminedGap(candidate.dhat, candidate.offset, motion.position_error_m);
    if (reach != nullptr && StaysApart(candidate, *reach, far)) continue;
    const double fraction = FreeFraction(candidate, motion);
    // Of pairs that limit the motion alike, such as those at a common vertex, the choice must not depend on which list has them.
    if (fraction > obstacle->fraction || fraction >= 1 || (fraction == obstacle->fraction && candidate.v >= obstacle->v)) continue;
    obstacle->fraction = fraction;
    obstacle->v = candidate.v;
    first = &candidate;
  }
  if (first == nullptr) return;
  std::array<Vec3, 4> x;
  for (int i = 0; i < 4; ++i) x[i] = x0[first->v[i]] + obstacle->fraction * (x1[first->v[i]] - x0[first->v[i]]);
  obstacle->gradient = DistanceGradient(first->kind == ContactKind::kPointTriangle ? PointTriangleClosest(x[0], x[1], x[2], x[3])
                                                                                   : EdgeEdgeClosest(x[0], x[1], x[2], x[3]));
}

}  // namespace eipc
