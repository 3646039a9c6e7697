#include "sim/meshing/fine_clusters.h"

#include <algorithm>
#include <limits>

namespace eipc {

std::vector<int> ClusterOf(const FineModel& fine, int clusters) {
  const size_t n = fine.mesh.tets().size();
  std::vector<Vec3> at(n);
  Vec3 middle = Vec3::Zero();
  double total = 0;
  for (size_t t = 0; t < n; ++t) {
    at[t] = Vec3::Zero();
    for (const int32_t v : fine.mesh.tets()[t]) at[t] += fine.mesh.vertices()[v] / 4;
    middle += fine.volume[t] * at[t];
    total += fine.volume[t];
  }
  middle /= total;
  std::vector<double> nearest(n, std::numeric_limits<double>::infinity());
  std::vector<Vec3> centers;
  for (int c = 0; c < clusters; ++c) {
    size_t farthest = 0;
    double distance = -1;
    for (size_t t = 0; t < n; ++t) {
      const double d = c == 0 ? (at[t] - middle).squaredNorm() : nearest[t];
      // Hardly filled tetrahedra at the rim are no centres.
      if (d > distance && fine.volume[t] > 0.3 * fine.mesh.Volume(static_cast<int>(t))) distance = d, farthest = t;
    }
    centers.push_back(at[farthest]);
    for (size_t t = 0; t < n; ++t) nearest[t] = std::min(nearest[t], (at[t] - centers.back()).squaredNorm());
  }
  std::vector<int> of(n, 0);
  constexpr int kRounds = 20;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<Vec3> sum(clusters, Vec3::Zero());
    std::vector<double> weight(clusters, 0);
    for (size_t t = 0; t < n; ++t) {
      double best = std::numeric_limits<double>::infinity();
      for (int c = 0; c < clusters; ++c) {
        const double d = (at[t] - centers[c]).squaredNorm();
        if (d < best) best = d, of[t] = c;
      }
      sum[of[t]] += fine.volume[t] * at[t];
      weight[of[t]] += fine.volume[t];
    }
    for (int c = 0; c < clusters; ++c) {
      if (weight[c] > 0) centers[c] = sum[c] / weight[c];
    }
  }
  return of;
}

}  // namespace eipc
