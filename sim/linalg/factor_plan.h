#ifndef EIPC_SIM_LINALG_FACTOR_PLAN_H_
#define EIPC_SIM_LINALG_FACTOR_PLAN_H_

#include <cstdint>
#include <vector>

#include "sim/linalg/supernodes.h"

namespace eipc {

// How threads share a supernodal factorization. Subtrees of the elimination tree need nothing of each other (Liu 1990, sec. 4), so
// that threads take them one at a time; the supernodes above them follow one after the other, and are shared row by row where they
// are large. What is computed, and from what, is the same for any plan, and so are the bits.
class FactorPlan {
 public:
  // Supernodes [first, last], the last of which is the root of a subtree.
  struct Subtree {
    int32_t first = 0;
    int32_t last = 0;
    double flops = 0;
  };

  void SetStructure(const SupernodalStructure& structure);
  // For the supernodes that are to be computed: those marked in `changed`, with each its ancestors.
  void Split(const std::vector<uint8_t>& changed, int threads);

  double FlopsOf(int32_t supernode) const { return flops_[supernode]; }
  // Those with the most to do first.
  const std::vector<Subtree>& subtrees() const { return subtrees_; }
  double subtree_flops() const { return subtree_flops_; }
  // The supernodes above them, each after those below it.
  const std::vector<int32_t>& rest() const { return rest_; }
  double rest_flops() const { return rest_flops_; }

 private:
  std::vector<double> flops_;
  std::vector<int32_t> parent_;
  std::vector<int32_t> first_;  // supernode of the subtree of each
  std::vector<double> below_;   // flops of the changed ones of the subtree of each
  std::vector<Subtree> subtrees_;
  std::vector<int32_t> rest_;
  double subtree_flops_ = 0;
  double rest_flops_ = 0;
};

}  // namespace eipc

#endif  // EIPC_SIM_LINALG_FACTOR_PLAN_H_
