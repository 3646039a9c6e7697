#ifndef EIPC_SIM_ENERGY_LAST_POINT_H_
#define EIPC_SIM_ENERGY_LAST_POINT_H_

#include <cstdint>
#include <cstring>

#include "sim/base/types.h"

namespace eipc {

// The positions of a body's nodes for which something was computed last, by their bits.
class LastPoint {
 public:
  // Of `count` nodes from this one on; the other nodes of a point make no difference.
  LastPoint(int32_t first_node, int32_t count) : first_(3 * Eigen::Index{first_node}), at_(3 * Eigen::Index{count}) {}

  bool Is(const VecX& q) const {
    return known_ && std::memcmp(q.data() + first_, at_.data(), static_cast<size_t>(at_.size()) * sizeof(double)) == 0;
  }
  void Note(const VecX& q) {
    at_ = q.segment(first_, at_.size());
    known_ = true;
  }
  void Forget() { known_ = false; }

 private:
  Eigen::Index first_;
  VecX at_;
  bool known_ = false;
};

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_LAST_POINT_H_
