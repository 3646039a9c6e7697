#ifndef EIPC_SERVER_RPC_LISTEN_CALL_THREADS_H_
#define EIPC_SERVER_RPC_LISTEN_CALL_THREADS_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace eipc::rpc {

// The threads that calls are handled on: started when they are needed, up to a bound, and kept.
//
// When the system refuses a thread, work waits for those that there are.
class CallThreads {
 public:
  explicit CallThreads(int most) : most_(most) {}
  // Finishes what was posted.
  ~CallThreads();
  CallThreads(const CallThreads&) = delete;
  CallThreads& operator=(const CallThreads&) = delete;

  // False when there is no thread at all to run it on; `work` must not throw.
  [[nodiscard]] bool Post(std::function<void()> work);
  int size() const;

 private:
  void Loop();
  bool StartOne();  // requires mutex_

  const int most_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  // Guarded by mutex_.
  std::deque<std::function<void()>> work_;
  std::vector<std::thread> threads_;
  int idle_ = 0;
  bool stop_ = false;
};

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_LISTEN_CALL_THREADS_H_
