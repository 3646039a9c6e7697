#include "server/session/fifo_gate.h"

#include <algorithm>
#include <chrono>

#include "absl/strings/str_cat.h"
#include "server/session/queue_full.h"

namespace eipc {
namespace {

// A waiter is not notified when its caller goes away, so it polls at this interval.
constexpr std::chrono::milliseconds kPollInterval(10);

std::chrono::steady_clock::time_point NextPoll(const StepBudget& budget) {
  return std::min(budget.deadline, std::chrono::steady_clock::now() + kPollInterval);
}

}  // namespace

absl::Status FifoGate::Expired(const StepBudget& budget) const {
  const absl::Status status = budget.Poll();
  if (status.ok()) return status;
  const char* reason = absl::IsCancelled(status) ? "CANCELLED" : "DEADLINE_EXCEEDED";
  return absl::Status(status.code(), absl::StrCat(reason, ": gave up waiting for ", options_.what));
}

absl::StatusOr<FifoGate::Pass> FifoGate::Enter(const StepBudget& budget, Use use) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (!closed_.ok()) return closed_;
  if (inside_ < options_.capacity) {
    ++inside_;
    last_ = use;
    return Pass(this);
  }
  std::list<Waiter*>& waiting = Waiting(use);
  if (static_cast<int>(waiting.size()) >= options_.max_waiting) {
    return QueueFull(absl::StrCat(waiting.size(), " calls wait for ", options_.what, " already"));
  }
  Waiter self;
  waiting.push_back(&self);
  while (!self.admitted) {
    absl::Status status = closed_;
    if (status.ok()) {
      // `cancelled` is the caller's code: it may take locks of its own, so it is not called under ours.
      lock.unlock();
      try {
        status = Expired(budget);
      } catch (...) {
        // What waits no longer must not be called.
        lock.lock();
        waiting.remove(&self);
        lock.unlock();
        if (self.admitted) LeaveGate();
        throw;
      }
      lock.lock();
    }
    if (self.admitted) break;
    if (!status.ok()) {
      waiting.remove(&self);
      return status;
    }
    self.wake.wait_until(lock, NextPoll(budget));
  }
  return Pass(this);
}

void FifoGate::LeaveGate() {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Use other = last_ == Use::kRead ? Use::kChange : Use::kRead;
  const Use use = Waiting(other).empty() ? last_ : other;
  if (std::list<Waiter*>& waiting = Waiting(use); !waiting.empty() && closed_.ok()) {
    // The place passes to the first waiter: inside_ does not change.
    Waiter* next = waiting.front();
    waiting.pop_front();
    last_ = use;
    next->admitted = true;
    next->wake.notify_one();
    return;
  }
  if (--inside_ == 0) empty_.notify_all();
}

void FifoGate::Close(absl::Status reason) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (closed_.ok()) closed_ = std::move(reason);
  for (const std::list<Waiter*>& waiting : waiting_) {
    for (Waiter* waiter : waiting) waiter->wake.notify_one();
  }
}

bool FifoGate::CloseIfEmpty(absl::Status reason) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (inside_ > 0 || !waiting_[0].empty() || !waiting_[1].empty()) return false;
  if (closed_.ok()) closed_ = std::move(reason);
  return true;
}

absl::Status FifoGate::WaitUntilEmpty(const StepBudget& budget) {
  std::unique_lock<std::mutex> lock(mutex_);
  while (inside_ > 0) {
    lock.unlock();
    const absl::Status status = Expired(budget);
    lock.lock();
    if (inside_ == 0) break;
    if (!status.ok()) return status;
    empty_.wait_until(lock, NextPoll(budget));
  }
  return absl::OkStatus();
}

int FifoGate::inside() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return inside_;
}

int FifoGate::waiting() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return static_cast<int>(waiting_[0].size() + waiting_[1].size());
}

}  // namespace eipc
