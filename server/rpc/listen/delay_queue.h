#ifndef EIPC_SERVER_RPC_LISTEN_DELAY_QUEUE_H_
#define EIPC_SERVER_RPC_LISTEN_DELAY_QUEUE_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

namespace eipc::rpc {

// Does things later, all on one thread: they must not block. What is still to do when it is destroyed is done then.
class DelayQueue {
 public:
  using Clock = std::chrono::steady_clock;
  DelayQueue() : thread_([this] { Loop(); }) {}
  ~DelayQueue();
  DelayQueue(const DelayQueue&) = delete;
  DelayQueue& operator=(const DelayQueue&) = delete;

  void After(Clock::duration delay, std::function<void()> work);

 private:
  void Loop();
  std::mutex mutex_;
  std::condition_variable wake_;
  // Guarded by mutex_.
  std::multimap<Clock::time_point, std::function<void()>> work_;
  bool stop_ = false;
  std::thread thread_;  // last
};

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_LISTEN_DELAY_QUEUE_H_
