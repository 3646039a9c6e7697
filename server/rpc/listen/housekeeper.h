#ifndef EIPC_SERVER_RPC_LISTEN_HOUSEKEEPER_H_
#define EIPC_SERVER_RPC_LISTEN_HOUSEKEEPER_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace eipc::rpc {

// Does something again and again until destroyed.
class Housekeeper {
 public:
  Housekeeper(std::chrono::milliseconds interval, std::function<void()> work)
      : interval_(interval), work_(std::move(work)), thread_([this] { Loop(); }) {}
  ~Housekeeper() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stop_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }

 private:
  void Loop() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!wake_.wait_for(lock, interval_, [this] { return stop_; })) {
      lock.unlock();
      work_();
      lock.lock();
    }
  }

  const std::chrono::milliseconds interval_;
  const std::function<void()> work_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_LISTEN_HOUSEKEEPER_H_
