#include "sim/contact/collision_free_step.h"

#include <algorithm>

#include "sim/geometry/ccd.h"

namespace eipc {
namespace {

constexpr double kGapShare = 0.1;  // of dhat, what detection keeps

}  // namespace

// Half as far again as the largest gap that detection may hold (its floor, 64 ulp, included): certain to be found free.
double LargestExaminedGap(double dhat, double position_error_m) { return 1.5 * kGapShare * dhat + 1e-10 + 256 * position_error_m; }

double CollisionFreeStep(const std::vector<Candidate>& candidates, const std::vector<Vec3>& x0, const std::vector<Vec3>& x1,
                         double position_error_m, ThreadPool* pool, const VertexTravel* reach, Interrupt* interrupt) {
  constexpr int64_t kChunk = 256;
  constexpr int64_t kQueriesAPoll = 16;  // some 20 us
  CcdOptions options;
  options.position_error_m = position_error_m;
  const std::vector<int32_t>* among = reach == nullptr ? nullptr : reach->among;
  const int64_t n = static_cast<int64_t>(among == nullptr ? candidates.size() : among->size());
  const int64_t chunks = (n + kChunk - 1) / kChunk;
  std::mutex mutex;
  double step = 1;
  pool->ParallelFor(chunks, 1, [&](int64_t first, int64_t last) {
    double local = 1;
    int64_t queries = 0;
    for (int64_t i = first * kChunk; i < std::min(n, last * kChunk); ++i) {
      const Candidate& candidate = candidates[among == nullptr ? i : (*among)[i]];
      const double far = LargestExaminedGap(candidate.dhat, position_error_m);
      if (reach != nullptr && candidate.bound - reach->Approach(candidate) >= far) continue;
      if (queries++ % kQueriesAPoll == 0 && Raised(interrupt)) return;
      const std::array<int32_t, 4>& v = candidate.v;
      CcdOptions of_pair = options;
      of_pair.target_gap = kGapShare * candidate.dhat;
      const CcdResult result =
          candidate.kind == ContactKind::kPointTriangle
              ? PointTriangleCcd(x0[v[0]], x0[v[1]], x0[v[2]], x0[v[3]], x1[v[0]], x1[v[1]], x1[v[2]], x1[v[3]], of_pair)
              : EdgeEdgeCcd(x0[v[0]], x0[v[1]], x0[v[2]], x0[v[3]], x1[v[0]], x1[v[1]], x1[v[2]], x1[v[3]], of_pair);
      local = std::min(local, result.time);
    }
    std::lock_guard<std::mutex> lock(mutex);  // a minimum does not depend on the order
    step = std::min(step, local);
  });
  return step;
}

}  // namespace eipc
