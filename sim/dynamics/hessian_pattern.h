#ifndef EIPC_SIM_DYNAMICS_HESSIAN_PATTERN_H_
#define EIPC_SIM_DYNAMICS_HESSIAN_PATTERN_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/linalg/block_matrix.h"

namespace eipc {

using NodePairs = std::vector<std::pair<int32_t, int32_t>>;

// Smaller node first, sorted, each pair once.
void SortPairs(NodePairs* pairs);

// The blocks of a stage's Hessian: pairs of nodes that terms other than contact couple, which stay as they are, and those that
// contact has coupled since the step began or in the steps before it.
class HessianPattern {
 public:
  // `fixed`: pairs of the terms other than contact; the diagonal is added.
  void SetFixed(int32_t node_count, NodePairs fixed, std::vector<uint8_t> varying_nodes);
  // Pairs of contact, sorted.
  void SetContactPairs(const NodePairs& pairs);
  // Adds what did not fit the matrix.
  void AddContactPairs(const NodePairs& missing);
  const NodePairs& contact_pairs() const { return contact_pairs_; }

  bool stale() const { return stale_; }
  // Gives the matrix the pattern, with zero values.
  void Apply(BlockMatrix* hessian);
  // By node, non-zero where the matrix is expected to change from one point of a step to the next.
  void ChangingNodes(std::vector<uint8_t>* nodes) const;

 private:
  int32_t node_count_ = 0;
  NodePairs fixed_pairs_;
  std::vector<uint8_t> varying_;
  NodePairs contact_pairs_;
  NodePairs scratch_;
  bool stale_ = true;
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_HESSIAN_PATTERN_H_
