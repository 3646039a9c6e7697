#ifndef EIPC_SIM_BASE_WATCH_H_
#define EIPC_SIM_BASE_WATCH_H_

#include <chrono>
#include <thread>

#include "sim/base/core_loss.h"

namespace eipc {

// The time of the machine; tests have one of their own.
struct MachineTime {
  using Clock = std::chrono::steady_clock;

  Clock::time_point Now() const { return Clock::now(); }
  void Yield() const { std::this_thread::yield(); }
};

// How a worker that has no loop waits for the next one before it sleeps.
template <typename Time = MachineTime>
class Watch {
 public:
  // As long as it takes to wake a thread that sleeps: what is worth waiting for mostly comes sooner, since loops follow each other
  // closely.
  static constexpr std::chrono::microseconds kSpin{50};
  // So much longer, unless somebody else wants the core: between the loops of a step lies what is not shared, and many loops are
  // too short to wake a thread for them.
  static constexpr std::chrono::microseconds kLonger{450};
  // So often it then does not: a worker that has given its core away comes later than one that is woken.
  static constexpr int kWary = 64;

  // Spins for `spin` before it offers the core.
  explicit Watch(std::chrono::nanoseconds spin = kSpin, Time time = {}) : spin_(spin), time_(time) {}

  // Until done() or for `spin`; whether it came.
  template <typename Done>
  bool Spin(const Done& done) const {
    const auto end = time_.Now() + spin_;
    do {
      if (DoneInTurns(done)) return true;
    } while (time_.Now() < end);
    return done();
  }
  // Until done() or for as long as it is worth; whether it came.
  template <typename Done>
  bool Until(const Done& done) {
    if (Spin(done)) return true;
    if (wary_ > 0) {
      --wary_;
      return false;
    }
    const auto start = time_.Now();
    for (auto now = start; now < start + kLonger; now = time_.Now()) {
      if (!KeepsCore(now)) {
        wary_ = kWary;
        break;
      }
      if (DoneInTurns(done)) return true;
    }
    return done();
  }

  // What others have taken of the core, but for what Until() gave away.
  CoreLoss& loss() { return loss_; }

 private:
  // Offers the core to other threads. `now` is the time.
  bool KeepsCore(std::chrono::steady_clock::time_point now) {
    time_.Yield();
    const bool kept = time_.Now() - now <= kSpin;
    loss_.Restart();
    return kept;
  }
  template <typename Done>
  static bool DoneInTurns(const Done& done) {
    constexpr int kTurns = 32;  // between two readings of the clock
    for (int k = 0; k < kTurns; ++k) {
      if (done()) return true;
      __builtin_ia32_pause();
    }
    return false;
  }

  std::chrono::nanoseconds spin_;
  Time time_;
  CoreLoss loss_;
  int wary_ = 0;  // how often it has yet to be
};

}  // namespace eipc

#endif  // EIPC_SIM_BASE_WATCH_H_
