#ifndef EIPC_SIM_DYNAMICS_SLEEP_ISLANDS_H_
#define EIPC_SIM_DYNAMICS_SLEEP_ISLANDS_H_

#include <cstdint>
#include <numeric>
#include <vector>

namespace eipc {

// Connected components of bodies (union by the last body joined, find with path halving; Tarjan and van Leeuwen 1984).
class SleepIslands {
 public:
  // Every body is an island of its own.
  void Reset(int32_t body_count) {
    parent_.resize(body_count);
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  void Join(int32_t a, int32_t b) { parent_[Of(a)] = Of(b); }
  // The body that represents the island of `body`.
  int32_t Of(int32_t body) {
    while (parent_[body] != body) body = parent_[body] = parent_[parent_[body]];
    return body;
  }

 private:
  std::vector<int32_t> parent_;
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_SLEEP_ISLANDS_H_
