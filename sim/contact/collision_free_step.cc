#include "sim/contact/collision_free_step.h"

#include <algorithm>

#include "sim/geometry/ccd.h"

namespace eipc {

double CollisionFreeStep(const std::vector<Candidate>& candidates, const std::vector<Vec3>& x0, const std::vector<Vec3>& x1,
                         double dhat, double position_error_m, ThreadPool* pool, const std::vector<double>* travel) {
  constexpr int64_t kChunk = 256;
  CcdOptions options;
  options.target_gap = 0.1 * dhat;
  options.position_error_m = position_error_m;
  // A pair that stays beyond this, half as far again as the largest gap that detection may hold (its floor, 64 ulp, included), is
  // certain to be found free.
  const double far = 1.5 * options.target_gap + 1e-10 + 256 * position_error_m;
  std::vector<double> reach;
  if (travel != nullptr) {
    reach.resize(x0.size());
    for (size_t i = 0; i < x0.size(); ++i) reach[i] = (*travel)[i] + (1 + 1e-14) * (x1[i] - x0[i]).norm();
  }
  const int64_t n = static_cast<int64_t>(candidates.size());
  const int64_t chunks = (n + kChunk - 1) / kChunk;
  std::mutex mutex;
  double step = 1;
  pool->ParallelFor(chunks, 1, [&](int64_t first, int64_t last) {
    double local = 1;
    for (int64_t i = first * kChunk; i < std::min(n, last * kChunk); ++i) {
      if (travel != nullptr && candidates[i].bound - SumOfLargest(candidates[i], reach) >= far) continue;
      const std::array<int32_t, 4>& v = candidates[i].v;
      const CcdResult result =
          candidates[i].kind == ContactKind::kPointTriangle
              ? PointTriangleCcd(x0[v[0]], x0[v[1]], x0[v[2]], x0[v[3]], x1[v[0]], x1[v[1]], x1[v[2]], x1[v[3]], options)
              : EdgeEdgeCcd(x0[v[0]], x0[v[1]], x0[v[2]], x0[v[3]], x1[v[0]], x1[v[1]], x1[v[2]], x1[v[3]], options);
      local = std::min(local, result.time);
    }
    std::lock_guard<std::mutex> lock(mutex);  // a minimum does not depend on the order
    step = std::min(step, local);
  });
  return step;
}

}  // namespace eipc
