#ifndef EIPC_SIM_BASE_ORDERED_LOOP_H_
#define EIPC_SIM_BASE_ORDERED_LOOP_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

#include "sim/base/core_loss.h"
#include "sim/base/parallel.h"

namespace eipc {

// Whose turn it is among threads that take chunks of a loop in ascending order. A chunk is only waited for by those that were taken
// later, so it has been taken too, and its turn comes.
class Turns {
 public:
  // Waits until all chunks before this one have ended. False: given up.
  bool Await(int32_t chunk) const {
    constexpr int kSpins = 1000;  // some 40 us: what is waited for has been begun, and is short unless its thread lost its core
    int32_t now = next_.load(std::memory_order_acquire);
    for (int spins = 0; now != chunk && now != kGivenUp; now = next_.load(std::memory_order_acquire)) {
      if (spins++ < kSpins) {
        __builtin_ia32_pause();
      } else {
        const CoreLoss::Waiting waiting;
        next_.wait(now, std::memory_order_acquire);
      }
    }
    return now == chunk;
  }
  void End(int32_t chunk) {
    if (next_.compare_exchange_strong(chunk, chunk + 1)) next_.notify_all();  // unless given up meanwhile
  }
  void GiveUp() {
    next_.store(kGivenUp);
    next_.notify_all();
  }

 private:
  static constexpr int32_t kGivenUp = -1;

  std::atomic<int32_t> next_ = 0;
};

// A loop whose results are used in the order of its indices: find(index, &result) by any thread, use(index, result) one after the
// other, by the thread that found it and while it is in its cache. So sums that use() makes have the same bits for any number of
// threads, and only kChunk results are kept for each. Threads share it where what find() takes is worth it. Throws what find or use
// throws, once neither runs any more.
template <typename Result, int64_t kChunk, typename Find, typename Use>
void ForEachInOrder(ThreadPool* pool, int64_t n, const Find& find, const Use& use) {
  static IndexCost cost;  // of find: every lambda expression has a type of its own
  Turns turns;
  pool->ParallelForExpected(cost.ExpectedNs(n), n, kChunk, [&](int64_t first, int64_t last) {
    std::array<Result, kChunk> results;
    LoopShare found;
    try {
      for (int64_t begin = first; begin < last; begin += kChunk) {
        const int64_t end = std::min(last, begin + kChunk);
        const auto start = std::chrono::steady_clock::now();
        for (int64_t i = begin; i < end; ++i) find(i, &results[i - begin]);
        found.took += std::chrono::steady_clock::now() - start;
        if (begin == first && !turns.Await(static_cast<int32_t>(first / kChunk))) return;
        for (int64_t i = begin; i < end; ++i) use(i, results[i - begin]);
      }
    } catch (...) {
      turns.GiveUp();
      throw;
    }
    turns.End(static_cast<int32_t>((last - 1) / kChunk));
    found.indices = last - first;
    cost.Observe(found);
  });
}

}  // namespace eipc

#endif  // EIPC_SIM_BASE_ORDERED_LOOP_H_
