#ifndef EIPC_SIM_SOLVER_STACKED_NODES_H_
#define EIPC_SIM_SOLVER_STACKED_NODES_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "sim/base/types.h"

namespace eipc {

// Of vectors that stack three coordinates a node; `prescribed` is by node.

inline double LargestNodeNorm(const VecX& y) {
  double largest = 0;
  for (Eigen::Index i = 0; i + 2 < y.size(); i += 3) largest = std::max(largest, y.segment<3>(i).squaredNorm());
  return std::sqrt(largest);
}

// Writes target - q into the prescribed entries of *dq, zero elsewhere; returns the largest remainder.
inline double Remainder(const std::vector<uint8_t>& prescribed, const VecX& target, const VecX& q, VecX* dq) {
  dq->setZero(q.size());
  double largest = 0;
  for (size_t n = 0; n < prescribed.size(); ++n) {
    if (!prescribed[n]) continue;
    dq->segment<3>(3 * n) = target.segment<3>(3 * n) - q.segment<3>(3 * n);
    largest = std::max(largest, dq->segment<3>(3 * n).norm());
  }
  return largest;
}

inline void ZeroPrescribed(const std::vector<uint8_t>& prescribed, VecX* y) {
  for (size_t n = 0; n < prescribed.size(); ++n) {
    if (prescribed[n]) y->segment<3>(3 * n).setZero();
  }
}

}  // namespace eipc

#endif  // EIPC_SIM_SOLVER_STACKED_NODES_H_
