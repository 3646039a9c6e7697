#include "sim/meshing/distance_grid.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace eipc {

DistanceGrid::DistanceGrid(const TriangleTree& tree, const Vec3& low, const Vec3& high, int cells, Interrupt* interrupt)
    : low_(low), spacing_((high - low).maxCoeff() / cells) {
  for (int k = 0; k < 3; ++k) count_[k] = static_cast<int>(std::ceil((high[k] - low[k]) / spacing_)) + 1;
  values_.reserve(static_cast<size_t>(count_[0]) * count_[1] * count_[2]);
  for (int k = 0; k < count_[2]; ++k) {
    for (int j = 0; j < count_[1] && !Raised(interrupt); ++j) {
      for (int i = 0; i < count_[0]; ++i) {
        // The distance changes by at most the distance to the neighbour.
        const double within = i == 0 ? std::numeric_limits<double>::infinity() : 1.01 * (std::abs(values_.back()) + spacing_);
        values_.push_back(tree.SignedDistance(low_ + spacing_ * Vec3(i, j, k), within));
      }
    }
  }
}

double DistanceGrid::At(const Vec3& p) const {
  std::array<int, 3> cell;
  Vec3 share, inside;
  for (int k = 0; k < 3; ++k) {
    const double at = std::clamp((p[k] - low_[k]) / spacing_, 0.0, static_cast<double>(count_[k] - 1));
    inside[k] = low_[k] + spacing_ * at;
    cell[k] = std::min(static_cast<int>(at), count_[k] - 2);
    share[k] = at - cell[k];
  }
  double value = 0;
  for (int c = 0; c < 8; ++c) {
    const int i = c & 1, j = c >> 1 & 1, k = c >> 2;
    const double weight = (i ? share[0] : 1 - share[0]) * (j ? share[1] : 1 - share[1]) * (k ? share[2] : 1 - share[2]);
    value += weight * Sample(cell[0] + i, cell[1] + j, cell[2] + k);
  }
  return value + (p - inside).norm();
}

}  // namespace eipc
