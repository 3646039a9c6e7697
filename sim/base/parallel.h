#ifndef EIPC_SIM_BASE_PARALLEL_H_
#define EIPC_SIM_BASE_PARALLEL_H_

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace eipc {

// A share of the process's threads (crew.h) that runs index ranges. Work is cut into chunks whose bounds depend only on `n` and
// `grain`, never on the number of threads, the asked or the real one: a body that writes only to its own indices gives the same
// bits for any of them. Reductions are the caller's: write per-index results, then add them in index order.
//
// Sharing a loop costs time, and waking a thread for it more. So the caller runs a loop alone that is expected to end sooner, by
// what an index of the same loop took before: a second thread makes no step slower. Loops whose bodies wait for each other need
// Crew::Run.
class ThreadPool {
 public:
  // At most `threads` >= 1 work at once, the calling thread among them; fewer when others have the workers or there are not so
  // many. Costs nothing until it is used.
  explicit ThreadPool(int threads) : helpers_(std::max(0, threads - 1)) {}
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return helpers_ + 1; }
  // How many of them there can be: the process has not more.
  int MostAtOnce() const;

  // Calls body(begin, end) for consecutive chunks of [0, n). Runs inline when one chunk or one thread is enough. Throws what a body
  // throws, once none runs any more.
  template <typename Body>
  void ParallelFor(int64_t n, int64_t grain, Body&& body) {
    if (n <= 0) return;
    if (helpers_ == 0 || n <= grain) {
      body(int64_t{0}, n);
      return;
    }
    static Cost cost = kNotMeasured;  // of this loop: every lambda expression has a type of its own
    struct Context {
      Body* body;
    } context{&body};
    Run(n, grain, &cost, &context, [](void* c, int64_t begin, int64_t end) { (*static_cast<Context*>(c)->body)(begin, end); });
  }

  // The same for a loop whose time is known: `lasts_ns`, about, on one thread.
  template <typename Body>
  void ParallelForLasting(double lasts_ns, int64_t n, int64_t grain, Body&& body) {
    if (n <= 0) return;
    if (helpers_ == 0 || n <= grain) {
      body(int64_t{0}, n);
      return;
    }
    struct Context {
      Body* body;
    } context{&body};
    RunLasting(lasts_ns, n, grain, &context,
               [](void* c, int64_t begin, int64_t end) { (*static_cast<Context*>(c)->body)(begin, end); });
  }

 private:
  using Cost = std::atomic<float>;  // of an index, ns: a mean in which the last runs have the most weight
  using ChunkFn = void (*)(void*, int64_t, int64_t);
  static constexpr float kNotMeasured = -1;

  void Run(int64_t n, int64_t grain, Cost* cost, void* context, ChunkFn fn);
  void RunLasting(double lasts_ns, int64_t n, int64_t grain, void* context, ChunkFn fn);

  const int helpers_;
};

}  // namespace eipc

#endif  // EIPC_SIM_BASE_PARALLEL_H_
