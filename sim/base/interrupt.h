#ifndef EIPC_SIM_BASE_INTERRUPT_H_
#define EIPC_SIM_BASE_INTERRUPT_H_

#include <atomic>
#include <functional>
#include <thread>
#include <utility>

#include "absl/status/status.h"

namespace eipc {

// Stops long loops whose result is no longer needed.
//
// One thread owns the work; it alone asks the source, however many threads help it. A loop that finds Raised() true stops where it
// is. What it then returns is not a result, and nothing made by it may be kept as if it were: so a caller that uses results checks
// Poll() or status() first. Once raised it stays so until the watch ends, whatever the source says later.
class Interrupt {
 public:
  // Not OK: the work is to be given up, and why. Asked often: some µs apart.
  using Source = std::function<absl::Status()>;

  // Makes the calling thread the owner and asks `source` for as long as it lives. One at a time.
  class Watch {
   public:
    Watch(Interrupt* interrupt, Source source) : interrupt_(interrupt) {
      interrupt_->source_ = std::move(source);
      interrupt_->owner_ = std::this_thread::get_id();
    }
    ~Watch() {
      interrupt_->source_ = nullptr;
      interrupt_->owner_ = std::thread::id();
      interrupt_->status_ = absl::OkStatus();
      interrupt_->raised_.store(false, std::memory_order_relaxed);
    }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

   private:
    Interrupt* interrupt_;
  };

  // Any thread that works for the owner may call it; false while no watch is set.
  bool Raised() {
    if (raised_.load(std::memory_order_relaxed)) return true;
    return std::this_thread::get_id() == owner_ && !Poll().ok();
  }
  // The owner calls it.
  absl::Status Poll() {
    if (!raised() && source_ != nullptr) {
      status_ = source_();
      if (!status_.ok()) raised_.store(true, std::memory_order_relaxed);
    }
    return status_;
  }
  // The owner calls it; it does not call the watch.
  absl::Status status() const { return status_; }

 private:
  bool raised() const { return raised_.load(std::memory_order_relaxed); }

  Source source_;
  std::thread::id owner_;
  absl::Status status_;
  std::atomic<bool> raised_ = false;
};

// The same where there may be none (null), which is never raised.
inline bool Raised(Interrupt* interrupt) { return interrupt != nullptr && interrupt->Raised(); }
inline absl::Status Poll(Interrupt* interrupt) { return interrupt == nullptr ? absl::OkStatus() : interrupt->Poll(); }

}  // namespace eipc

#endif  // EIPC_SIM_BASE_INTERRUPT_H_
