#include "server/session/fifo_gate.h"

#include <algorithm>
#include <chrono>

#include "absl/strings/str_cat.h"
#include "server/session/queue_full.h"

namespace eipc {
namespace {

// Nothing tells a waiter that its caller went away, so waiters look, this often.
constexpr std::chrono::milliseconds kPollInterval(10);

std::chrono::steady_clock::time_point NextLook(const StepBudget& budget) {
  return std::min(budget.deadline, std::chrono::steady_clock::now() + kPollInterval);
}

}  // namespace

absl::Status FifoGate::Expired(const StepBudget& budget) const {
  const absl::Status status = budget.Poll();
  if (status.ok()) return status;
  const char* reason = absl::IsCancelled(status) ? "CANCELLED" : "DEADLINE_EXCEEDED";
  return absl::Status(status.code(), absl::StrCat(reason, ": gave up waiting for ", options_.what));
}

absl::StatusOr<FifoGate::Pass> FifoGate::Enter(const StepBudget& budget) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (!closed_.ok()) return closed_;
  if (inside_ < options_.capacity) {
    ++inside_;
    return Pass(this);
  }
  if (static_cast<int>(waiting_.size()) >= options_.max_waiting) {
    return QueueFull(absl::StrCat(waiting_.size(), " calls wait for ", options_.what, " already"));
  }
  Waiter self;
  waiting_.push_back(&self);
  while (!self.admitted) {
    absl::Status status = closed_;
    if (status.ok()) {
      // `cancelled` is the caller's code: it may take locks of its own, so it is not called under ours.
      lock.unlock();
      status = Expired(budget);
      lock.lock();
    }
    if (self.admitted) break;
    if (!status.ok()) {
      waiting_.remove(&self);
      return status;
    }
    self.wake.wait_until(lock, NextLook(budget));
  }
  return Pass(this);
}

void FifoGate::LeaveGate() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!waiting_.empty() && closed_.ok()) {
    // The place passes to the first waiter: inside_ does not change.
    Waiter* next = waiting_.front();
    waiting_.pop_front();
    next->admitted = true;
    next->wake.notify_one();
    return;
  }
  if (--inside_ == 0) empty_.notify_all();
}

void FifoGate::Close(absl::Status reason) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (closed_.ok()) closed_ = std::move(reason);
  for (Waiter* waiter : waiting_) waiter->wake.notify_one();
}

absl::Status FifoGate::WaitUntilEmpty(const StepBudget& budget) {
  std::unique_lock<std::mutex> lock(mutex_);
  while (inside_ > 0) {
    lock.unlock();
    const absl::Status status = Expired(budget);
    lock.lock();
    if (inside_ == 0) break;
    if (!status.ok()) return status;
    empty_.wait_until(lock, NextLook(budget));
  }
  return absl::OkStatus();
}

int FifoGate::inside() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return inside_;
}

int FifoGate::waiting() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return static_cast<int>(waiting_.size());
}

}  // namespace eipc
