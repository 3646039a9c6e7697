#include "sim/meshing/fine_clusters.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace eipc {
namespace {

class Grouping {
 public:
  explicit Grouping(const FineModel& fine) : fine_(fine), at_(fine.mesh.tets().size(), Vec3::Zero()) {
    for (size_t t = 0; t < at_.size(); ++t) {
      for (const int32_t v : fine.mesh.tets()[t]) at_[t] += fine.mesh.vertices()[v] / 4;
    }
  }

  double Volume(const std::vector<size_t>& members) const {
    double total = 0;
    for (const size_t t : members) total += fine_.volume[t];
    return total;
  }

  // Divides the tetrahedra `members` and says in `of` to which group each belongs.
  void Divide(const std::vector<size_t>& members, int groups, std::vector<int>* of) const {
    std::vector<Vec3> centers = FarFromEachOther(members, groups);
    constexpr int kRounds = 20;
    for (int round = 0; round < kRounds; ++round) {
      std::vector<Vec3> sum(groups, Vec3::Zero());
      std::vector<double> weight(groups, 0);
      for (const size_t t : members) {
        const int g = (*of)[t] = Nearest(centers, at_[t]);
        sum[g] += fine_.volume[t] * at_[t];
        weight[g] += fine_.volume[t];
      }
      for (int g = 0; g < groups; ++g) {
        if (weight[g] > 0) centers[g] = sum[g] / weight[g];
      }
    }
  }

 private:
  std::vector<Vec3> FarFromEachOther(const std::vector<size_t>& members, int groups) const {
    Vec3 middle = Vec3::Zero();
    for (const size_t t : members) middle += fine_.volume[t] * at_[t];
    middle /= Volume(members);
    std::vector<double> nearest;
    for (const size_t t : members) nearest.push_back((at_[t] - middle).squaredNorm());
    std::vector<Vec3> centers;
    for (int g = 0; g < groups; ++g) {
      size_t farthest = 0;
      double distance = -1;
      for (size_t m = 0; m < members.size(); ++m) {
        const size_t t = members[m];
        // Hardly filled tetrahedra at the rim are no centres.
        if (nearest[m] > distance && fine_.volume[t] > 0.3 * fine_.mesh.Volume(static_cast<int>(t)))
          distance = nearest[m], farthest = m;
      }
      centers.push_back(at_[members[farthest]]);
      for (size_t m = 0; m < members.size(); ++m) {
        const double d = (at_[members[m]] - centers.back()).squaredNorm();
        nearest[m] = g == 0 ? d : std::min(nearest[m], d);
      }
    }
    return centers;
  }

  static int Nearest(const std::vector<Vec3>& centers, const Vec3& p) {
    int nearest = 0;
    double best = std::numeric_limits<double>::infinity();
    for (size_t g = 0; g < centers.size(); ++g) {
      const double d = (p - centers[g]).squaredNorm();
      if (d < best) best = d, nearest = static_cast<int>(g);
    }
    return nearest;
  }

  const FineModel& fine_;
  std::vector<Vec3> at_;  // the centroids
};

}  // namespace

std::vector<int> ClusterOf(const FineModel& fine, int clusters) {
  std::vector<size_t> all(fine.mesh.tets().size());
  for (size_t t = 0; t < all.size(); ++t) all[t] = t;
  std::vector<int> of(all.size(), 0);
  Grouping(fine).Divide(all, clusters, &of);
  return of;
}

std::vector<int> PartOf(const FineModel& fine, const std::vector<int>& cluster_of, int parts) {
  const Grouping grouping(fine);
  std::vector<std::vector<size_t>> members(1 + *std::max_element(cluster_of.begin(), cluster_of.end()));
  for (size_t t = 0; t < cluster_of.size(); ++t) members[cluster_of[t]].push_back(t);
  double total = 0;
  for (const std::vector<size_t>& cluster : members) total += grouping.Volume(cluster);
  std::vector<int> of(cluster_of.size(), 0);
  for (const std::vector<size_t>& cluster : members) {
    const double volume = grouping.Volume(cluster);
    const int share = std::max(1, static_cast<int>(std::lround(parts * volume / total)));
    if (volume > 0 && share > 1) grouping.Divide(cluster, share, &of);
  }
  return of;
}

}  // namespace eipc
