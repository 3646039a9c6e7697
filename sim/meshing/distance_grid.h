#ifndef EIPC_SIM_MESHING_DISTANCE_GRID_H_
#define EIPC_SIM_MESHING_DISTANCE_GRID_H_

#include <array>
#include <vector>

#include "sim/base/interrupt.h"
#include "sim/base/types.h"
#include "sim/meshing/triangle_tree.h"

namespace eipc {

// Signed distance sampled on a regular grid and interpolated trilinearly: a cheap, smoothed stand-in for TriangleTree's.
class DistanceGrid {
 public:
  // Covers low..high with about `cells` cells along the longest side. `interrupt` (may be null) ends the sampling early; the grid
  // must then not be asked.
  DistanceGrid(const TriangleTree& tree, const Vec3& low, const Vec3& high, int cells, Interrupt* interrupt = nullptr);

  // Outside the box: the box's distance plus its nearest sample.
  double At(const Vec3& p) const;

 private:
  double Sample(int i, int j, int k) const { return values_[i + count_[0] * (j + static_cast<size_t>(count_[1]) * k)]; }

  Vec3 low_;
  double spacing_;
  std::array<int, 3> count_;
  std::vector<double> values_;
};

}  // namespace eipc

#endif  // EIPC_SIM_MESHING_DISTANCE_GRID_H_
