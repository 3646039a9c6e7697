#ifndef EIPC_SIM_BASE_CORE_LOSS_H_
#define EIPC_SIM_BASE_CORE_LOSS_H_

#include <atomic>
#include <chrono>

namespace eipc {

// How long the calling thread has been kept from running by others that took its core. A hypervisor that takes the core is not
// seen.
class CoreLoss {
 public:
  // Lives while the thread sleeps or yields by its own will, which is no loss: without it, a thread whose core was taken once has
  // lost the time of its sleeps as well.
  class Waiting {
   public:
    Waiting() : since_(std::chrono::steady_clock::now()) {}
    ~Waiting();
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    std::chrono::steady_clock::time_point since_;
  };

  // Counts from here. Some 0.5 us.
  void Restart();
  // Zero where the thread was never made to give the core away since Restart; otherwise all the time since then in which it neither
  // ran nor was Waiting.
  std::chrono::nanoseconds SinceRestart() const;

 private:
  long taken_ = 0;  // how often it was
  std::chrono::steady_clock::time_point at_;
  std::chrono::nanoseconds ran_{0}, waited_{0};
};

// Whether loops are shared with workers. A worker that loses its core in the middle of a chunk keeps all others of the loop waiting
// for as long, which may be many times what the loop takes. So loops are not shared for a while after that; for longer where losses
// follow each other so closely that they take more than a tenth of the time in which loops are shared. What the caller of a loop
// loses does not count: it would lose it alone as well. Any thread may tell and ask.
class SharingPause {
 public:
  using Clock = std::chrono::steady_clock;

  // Shorter losses are those of a system that does its own work.
  static constexpr std::chrono::microseconds kLeastLoss{300};
  static constexpr std::chrono::milliseconds kShortest{10}, kLongest{1000};

  void Lost(std::chrono::nanoseconds loss, Clock::time_point now);
  bool Holds(Clock::time_point now) const { return now.time_since_epoch().count() < until_.load(std::memory_order_relaxed); }

 private:
  std::atomic<Clock::rep> until_ = 0;
  std::atomic<Clock::rep> length_ = 0;
};

}  // namespace eipc

#endif  // EIPC_SIM_BASE_CORE_LOSS_H_
