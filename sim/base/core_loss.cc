#include "sim/base/core_loss.h"

#include <sys/resource.h>

#include <algorithm>
#include <ctime>

namespace eipc {
namespace {

long TimesTaken() {
  rusage usage = {};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

std::chrono::nanoseconds Ran() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

thread_local std::chrono::nanoseconds t_waited{0};

}  // namespace

CoreLoss::Waiting::~Waiting() { t_waited += std::chrono::steady_clock::now() - since_; }

void CoreLoss::Restart() {
  taken_ = TimesTaken();
  at_ = std::chrono::steady_clock::now();
  ran_ = Ran();
  waited_ = t_waited;
}

std::chrono::nanoseconds CoreLoss::SinceRestart() const {
  if (TimesTaken() == taken_) return std::chrono::nanoseconds(0);
  return std::chrono::steady_clock::now() - at_ - (Ran() - ran_) - (t_waited - waited_);
}

// Ten times as long as what was lost, so that it is a tenth of the time at most. Where that is not so although loops are shared
// between pauses only, since the next loss comes at once, twice as long as the last pause.
void SharingPause::Lost(std::chrono::nanoseconds loss, Clock::time_point now) {
  if (loss < kLeastLoss || Holds(now)) return;
  const Clock::duration last(length_.load(std::memory_order_relaxed)),
      enough = 10 * loss, awake = now.time_since_epoch() - Clock::duration(until_.load());
  Clock::duration length = std::max<Clock::duration>(enough, kShortest);
  if (awake < std::min(last, enough)) length = std::max(length, 2 * last);
  length = std::min<Clock::duration>(length, kLongest);
  length_.store(length.count(), std::memory_order_relaxed);
  until_.store((now + length).time_since_epoch().count(), std::memory_order_relaxed);
}

}  // namespace eipc
