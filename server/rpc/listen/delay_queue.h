#ifndef EIPC_SERVER_RPC_LISTEN_DELAY_QUEUE_H_
#define EIPC_SERVER_RPC_LISTEN_DELAY_QUEUE_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

namespace eipc::rpc {

// Does things later, all on one thread: they must not block. What is still to do when it is destroyed is done then.
class DelayQueue {
 public:
  using Clock = std::chrono::steady_clock;
  DelayQueue() : thread_([this] { Loop(); }) {}
  ~DelayQueue();
  DelayQueue(const DelayQueue&) = delete;
  DelayQueue& operator=(const DelayQueue&) = delete;

  void After(Clock::duration delay, std::function<void()> work) {
    After(
        delay, nullptr, [] { return false; }, std::move(work));
  }
  // `owner`: whose it is, for Hurry; one at a time. It is done at once when `hurried` says so already.
  void After(Clock::duration delay, const void* owner, const std::function<bool()>& hurried, std::function<void()> work);
  // What is still to do for this owner is done at once. Who makes `hurried` true and then calls this loses no time, whenever After
  // is called.
  void Hurry(const void* owner);

 private:
  struct Work {
    const void* owner = nullptr;
    std::function<void()> run;
  };
  using Queue = std::multimap<Clock::time_point, Work>;
  void Loop();
  std::mutex mutex_;
  std::condition_variable wake_;
  // Guarded by mutex_.
  Queue work_;
  std::map<const void*, Queue::iterator> owned_;  // of work_, those with an owner
  bool stop_ = false;
  std::thread thread_;  // last
};

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_LISTEN_DELAY_QUEUE_H_
