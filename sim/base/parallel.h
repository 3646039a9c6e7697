#ifndef EIPC_SIM_BASE_PARALLEL_H_
#define EIPC_SIM_BASE_PARALLEL_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace eipc {

// A fixed set of threads that runs index ranges. Work is cut into chunks whose bounds depend only on `n` and `grain`, never on the
// number of threads: a body that writes only to its own indices gives the same bits for any thread count. Reductions are the
// caller's: write per-index results, then add them in index order.
class ThreadPool {
 public:
  // `threads` >= 1 counts the calling thread.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  // Calls body(begin, end) for consecutive chunks of [0, n). Runs inline when one chunk or one thread is enough.
  template <typename Body>
  void ParallelFor(int64_t n, int64_t grain, Body&& body) {
    if (n <= 0) return;
    if (workers_.empty() || n <= grain) {
      body(int64_t{0}, n);
      return;
    }
    struct Context {
      Body* body;
    } context{&body};
    Run(n, grain, &context, [](void* c, int64_t begin, int64_t end) { (*static_cast<Context*>(c)->body)(begin, end); });
  }

 private:
  using ChunkFn = void (*)(void*, int64_t, int64_t);
  void Run(int64_t n, int64_t grain, void* context, ChunkFn fn);
  void WorkerLoop();
  bool TakeChunk();

  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  // Guarded by mutex_.
  ChunkFn fn_ = nullptr;
  void* context_ = nullptr;
  int64_t n_ = 0;
  int64_t grain_ = 1;
  int64_t next_ = 0;
  int64_t pending_ = 0;
  bool stop_ = false;
};

}  // namespace eipc

#endif  // EIPC_SIM_BASE_PARALLEL_H_
