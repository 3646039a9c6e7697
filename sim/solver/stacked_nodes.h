#ifndef EIPC_SIM_SOLVER_STACKED_NODES_H_
#define EIPC_SIM_SOLVER_STACKED_NODES_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "sim/base/types.h"

namespace eipc {

// Vectors stack three coordinates a node; `fixed` is by node.

inline double LargestNodeNorm(const VecX& y) {
  double largest = 0;
  for (Eigen::Index i = 0; i + 2 < y.size(); i += 3) largest = std::max(largest, y.segment<3>(i).squaredNorm());
  return std::sqrt(largest);
}

inline void ZeroFixed(const std::vector<uint8_t>& fixed, VecX* y) {
  for (size_t n = 0; n < fixed.size(); ++n) {
    if (fixed[n]) y->segment<3>(3 * n).setZero();
  }
}

}  // namespace eipc

#endif  // EIPC_SIM_SOLVER_STACKED_NODES_H_
