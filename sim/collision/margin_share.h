#ifndef EIPC_SIM_COLLISION_MARGIN_SHARE_H_
#define EIPC_SIM_COLLISION_MARGIN_SHARE_H_

#include <cstdint>

namespace eipc {

// How much of the margin that a step requests regions are grown by. Wide regions are searched seldom and hold many pairs, which
// every point has examined; narrow ones the other way round. Which is cheaper depends on the surfaces: a finger of many ribs has
// hundreds of pairs within a margin for each contact, a ball a few. So both efforts are counted, and the share follows their ratio
// slowly. It decides cost alone: which pairs are active does not depend on the regions.
class MarginShare {
 public:
  double value() const { return value_; }
  // Pairs of tree nodes examined, and pairs of primitives found.
  void AddSearch(int64_t node_pairs, int64_t found) { search_ += static_cast<double>(node_pairs + kFound * found); }
  // Pairs of primitives looked at in a list, and those bounded anew.
  void AddExamined(int64_t listed, int64_t bounded) { examined_ += static_cast<double>(listed + kBounded * bounded); }
  // Once a step.
  void Follow();

 private:
  // In the time of one look at a listed pair.
  static constexpr int64_t kFound = 4, kBounded = 3;

  double value_ = 1;
  double search_ = 0, examined_ = 0;
};

}  // namespace eipc

#endif  // EIPC_SIM_COLLISION_MARGIN_SHARE_H_
