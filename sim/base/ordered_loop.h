#ifndef EIPC_SIM_BASE_ORDERED_LOOP_H_
#define EIPC_SIM_BASE_ORDERED_LOOP_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <thread>

#include "sim/base/parallel.h"

namespace eipc {

// Whose turn it is among threads that take chunks of a loop in ascending order. A chunk is only waited for by those that were taken
// later, so it has been taken too, and its turn comes.
class Turns {
 public:
  // Waits until chunks have ended up to `begin`. False: given up.
  bool Await(int64_t begin) const {
    constexpr int kSpins = 1000;  // what is waited for has been begun, and is short
    for (int spins = 0; next_.load(std::memory_order_acquire) != begin; ++spins) {
      if (given_up_.load(std::memory_order_relaxed)) return false;
      if (spins < kSpins) {
        __builtin_ia32_pause();
      } else {
        std::this_thread::yield();  // its thread may need just this core
      }
    }
    return true;
  }
  void End(int64_t end) { next_.store(end, std::memory_order_release); }
  void GiveUp() { given_up_.store(true, std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> next_ = 0;
  std::atomic<bool> given_up_ = false;
};

// A loop whose results are used in the order of its indices: find(index, &result) by any thread, use(index, result) one after the
// other, by the thread that found it and while it is in its cache. So sums that use() makes have the same bits for any number of
// threads, and only kChunk results are kept for each. Throws what find or use throws, once neither runs any more.
template <typename Result, int64_t kChunk, typename Find, typename Use>
void ForEachInOrder(ThreadPool* pool, int64_t n, const Find& find, const Use& use) {
  Turns turns;
  pool->ParallelFor(n, kChunk, [&](int64_t first, int64_t last) {
    std::array<Result, kChunk> results;
    try {
      for (int64_t begin = first; begin < last; begin += kChunk) {
        const int64_t end = std::min(last, begin + kChunk);
        for (int64_t i = begin; i < end; ++i) find(i, &results[i - begin]);
        if (begin == first && !turns.Await(first)) return;
        for (int64_t i = begin; i < end; ++i) use(i, results[i - begin]);
      }
    } catch (...) {
      turns.GiveUp();
      throw;
    }
    turns.End(last);
  });
}

}  // namespace eipc

#endif  // EIPC_SIM_BASE_ORDERED_LOOP_H_
