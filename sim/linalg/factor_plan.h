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

  // With less to do a factorization is one thread's, and so is a supernode.
  static constexpr double kWorthThreads = 2e6;
  static constexpr double kWorthPieces = 3e5;

  void SetStructure(const SupernodalStructure& structure);
  // Of the supernodes that are to be computed: those marked in `changed`, with each its ancestors.
  double Flops(const std::vector<uint8_t>& changed) const;
  void Split(const std::vector<uint8_t>& changed, int threads);

  double FlopsOf(int32_t supernode) const { return flops_[supernode]; }
  // The part of it that is not the factor of the panel but products that are taken off beforehand.
  double UpdateFlopsOf(int32_t supernode) const { return update_flops_[supernode]; }
  // Those with the most to do first.
  const std::vector<Subtree>& subtrees() const { return subtrees_; }
  double subtree_flops() const { return subtree_flops_; }
  // The supernodes above them, each after those below it.
  const std::vector<int32_t>& rest() const { return rest_; }

 private:
  std::vector<double> flops_, update_flops_;
  std::vector<int32_t> parent_;
  std::vector<int32_t> first_;  // supernode of the subtree of each
  std::vector<double> below_;   // flops of the changed ones of the subtree of each
  std::vector<Subtree> subtrees_;
  std::vector<int32_t> rest_;
  double subtree_flops_ = 0;
};

}  // namespace eipc

#endif  // EIPC_SIM_LINALG_FACTOR_PLAN_H_
