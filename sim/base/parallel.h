#ifndef EIPC_SIM_BASE_PARALLEL_H_
#define EIPC_SIM_BASE_PARALLEL_H_

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <type_traits>

namespace eipc {

// What the calling thread did of a loop.
struct LoopShare {
  int64_t indices = 0;
  std::chrono::nanoseconds took{0};
};

// What an index of a loop takes, ns: a mean in which the last runs have the most weight. Any thread may tell and ask.
class IndexCost {
 public:
  void Observe(const LoopShare& share) {
    constexpr float kWeight = 0.25F;
    if (share.indices == 0) return;
    const float known = ns_.load(std::memory_order_relaxed);
    const float measured = static_cast<float>(share.took.count()) / static_cast<float>(share.indices);
    ns_.store(known < 0 ? measured : known + kWeight * (measured - known), std::memory_order_relaxed);
  }
  // Negative: nothing is known.
  float ExpectedNs(int64_t indices) const { return ns_.load(std::memory_order_relaxed) * static_cast<float>(indices); }

 private:
  std::atomic<float> ns_ = -1;
};

// A share of the process's threads (crew.h) that runs index ranges. Work is cut into chunks whose bounds depend only on `n` and
// `grain`, or is one chunk, never by the number of threads, the asked or the real one: a body that writes only to its own indices
// gives the same bits for any of them. Reductions are the caller's: write per-index results, then add them in index order.
//
// Sharing a loop costs time, and waking a thread for it more. So the caller runs a loop alone that is expected to end sooner, by
// what an index of the same loop took before, and any while others use the cores of the workers. Loops whose bodies wait for each
// other need Crew::Run; those that wait for earlier indices alone do not, but must end their waits when a body throws.
class ThreadPool {
 public:
  enum class Sharing : uint8_t {
    kWhereItPays,
    kAlways  // whatever it costs: for tests of what threads do
  };

  // At most `threads` >= 1 work at once, the calling thread among them; fewer when others have the workers or there are not so
  // many. Costs nothing until it is used.
  explicit ThreadPool(int threads, Sharing sharing = Sharing::kWhereItPays)
      : helpers_(std::max(0, threads - 1)), sharing_(sharing) {}
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return helpers_ + 1; }
  Sharing sharing() const { return sharing_; }
  // How many of them there can be: the process has not more.
  int MostAtOnce() const;
  // Whether sharing would cost more than it saves for now, since others use the workers' cores (SharingPause).
  bool Pauses() const;

  // Calls body(begin, end) for consecutive chunks of [0, n). Runs inline when one chunk or one thread is enough. Throws what a body
  // throws, once none runs any more.
  template <typename Body>
  void ParallelFor(int64_t n, int64_t grain, Body&& body) {
    if (n <= 0) return;
    if (helpers_ == 0 || n <= grain) {
      body(int64_t{0}, n);
      return;
    }
    static IndexCost cost;  // of this loop: every lambda expression has a type of its own
    Run(n, grain, &cost, Erased(&body), kCall<Body>);
  }

  // The same for a loop of which what can be shared is expected to take so long, ns.
  template <typename Body>
  void ParallelForExpected(float expected_ns, int64_t n, int64_t grain, Body&& body) {
    if (n <= 0) return;
    if (helpers_ == 0 || n <= grain) {
      body(int64_t{0}, n);
      return;
    }
    RunExpected(expected_ns, n, grain, Erased(&body), kCall<Body>);
  }

  // The same for a loop that is to be shared whatever it costs: the caller knows whether it pays, and whether sharing pauses.
  template <typename Body>
  void Share(int64_t n, int64_t grain, Body&& body) {
    RunShared(n, grain, Erased(&body), kCall<Body>);
  }

 private:
  using ChunkFn = void (*)(void*, int64_t, int64_t);
  static void* Erased(const void* body) { return const_cast<void*>(body); }
  template <typename Body>
  static constexpr ChunkFn kCall =
      [](void* body, int64_t begin, int64_t end) { (*static_cast<std::remove_reference_t<Body>*>(body))(begin, end); };

  void Run(int64_t n, int64_t grain, IndexCost* cost, void* body, ChunkFn fn);
  LoopShare RunExpected(float expected_ns, int64_t n, int64_t grain, void* body, ChunkFn fn);
  void RunShared(int64_t n, int64_t grain, void* body, ChunkFn fn);

  const int helpers_;
  const Sharing sharing_;
};

}  // namespace eipc

#endif  // EIPC_SIM_BASE_PARALLEL_H_
