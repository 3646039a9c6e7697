#include "server/session/solve_slots.h"

#include <algorithm>
#include <chrono>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/session/queue_full.h"

namespace eipc {
namespace {

// Nothing tells a waiter that its caller went away, so waiters look, this often.
constexpr std::chrono::milliseconds kPollInterval(10);
// After so long a slot that is kept for an answer's sake is taken.
constexpr std::chrono::milliseconds kLongestAnswer(10);
// Every so many slots one goes to the least urgent that waits.
constexpr int kTurnOfTheLeastUrgent = 4;

// Of this thread.
thread_local SolveSlots::LateRelease* late_release = nullptr;

absl::Status Expired(const StepBudget& budget) {
  const absl::Status status = budget.Poll();
  if (status.ok()) return status;
  const char* reason = absl::IsCancelled(status) ? "CANCELLED" : "DEADLINE_EXCEEDED";
  return absl::Status(status.code(), absl::StrCat(reason, ": gave up waiting for a solve slot"));
}

}  // namespace

SolveSlots::LateRelease::LateRelease() { late_release = this; }

SolveSlots::LateRelease::~LateRelease() {
  late_release = nullptr;
  Settle();
}

void SolveSlots::LateRelease::Settle() {
  if (slots_ != nullptr) std::exchange(slots_, nullptr)->Settle(this);
}

absl::StatusOr<SolveSlots::Slot> SolveSlots::Take(const SolveClaim& claim, const StepBudget& budget,
                                                  absl::FunctionRef<void()> not_refused) {
  if (late_release != nullptr) late_release->Settle();
  Waiter self;
  self.tenant = claim.tenant;
  self.priority = claim.priority;
  std::unique_lock<std::mutex> lock(mutex_);
  PassOnOverdue();
  if (busy_ < slots_) {
    ++busy_;
    Admit(self.tenant);
    lock.unlock();
    not_refused();
    return Slot(this, self.tenant);
  }
  const auto full = [this] {
    return QueueFull(absl::StrCat(max_waiting_, " calls wait for a solve slot already; try again later"));
  };
  if (waiting_ >= max_waiting_ && !MakeRoom(self)) return full();
  queues_[static_cast<int>(self.priority)].push_back(&self);
  ++tenants_[self.tenant].waiting;
  ++waiting_;
  lock.unlock();
  not_refused();
  lock.lock();
  while (!self.admitted) {
    if (self.refused) return full();
    // `cancelled` is the caller's code: it may take locks of its own, so it is not called under ours.
    lock.unlock();
    const absl::Status status = Expired(budget);
    lock.lock();
    PassOnOverdue();
    if (self.admitted || self.refused) continue;
    if (!status.ok()) {
      Forget(&self);
      return status;
    }
    self.wake.wait_until(lock, std::min(budget.deadline, std::chrono::steady_clock::now() + kPollInterval));
  }
  return Slot(this, self.tenant);
}

bool SolveSlots::MakeRoom(const Waiter& newcomer) {
  // The last of the least urgent, if less urgent than the newcomer.
  Waiter* victim = nullptr;
  for (int p = kSolvePriorities - 1; p > static_cast<int>(newcomer.priority) && victim == nullptr; --p) {
    if (!queues_[p].empty()) victim = queues_[p].back();
  }
  if (victim == nullptr) {
    // The last, as urgent as the newcomer, of the tenant with most waiting.
    const auto own = tenants_.find(newcomer.tenant);
    int most = (own == tenants_.end() ? 0 : own->second.waiting) + 1;
    for (Waiter* waiter : queues_[static_cast<int>(newcomer.priority)]) {
      const int count = tenants_[waiter->tenant].waiting;
      if (count > most || (victim != nullptr && waiter->tenant == victim->tenant)) {
        most = count;
        victim = waiter;
      }
    }
  }
  if (victim == nullptr) return false;
  Forget(victim);
  victim->refused = true;
  victim->wake.notify_one();
  return true;
}

SolveSlots::Waiter* SolveSlots::NextOf(const Queue& queue) {
  Waiter* best = nullptr;
  for (Waiter* waiter : queue) {
    const auto rank = [this](const Waiter* w) {
      const Tenant& tenant = tenants_[w->tenant];
      return std::tuple(tenant.holding, tenant.served);
    };
    if (best == nullptr || (waiter->tenant != best->tenant && rank(waiter) < rank(best))) best = waiter;
  }
  return best;
}

SolveSlots::Waiter* SolveSlots::Next() {
  const bool least_urgent = given_ % kTurnOfTheLeastUrgent == kTurnOfTheLeastUrgent - 1;
  for (int i = 0; i < kSolvePriorities; ++i) {
    const Queue& queue = queues_[least_urgent ? kSolvePriorities - 1 - i : i];
    if (!queue.empty()) return NextOf(queue);
  }
  return nullptr;
}

void SolveSlots::Admit(const std::string& tenant) {
  Tenant& entry = tenants_[tenant];
  ++entry.holding;
  entry.served = ++given_;
}

void SolveSlots::Forget(Waiter* waiter) {
  queues_[static_cast<int>(waiter->priority)].remove(waiter);
  --waiting_;
  --tenants_[waiter->tenant].waiting;
  DropTenant(waiter->tenant);
}

void SolveSlots::DropTenant(const std::string& tenant) {
  const auto found = tenants_.find(tenant);
  if (found != tenants_.end() && found->second.holding == 0 && found->second.waiting == 0) tenants_.erase(found);
}

void SolveSlots::PassOn(const std::string& tenant) {
  --tenants_[tenant].holding;
  if (Waiter* next = Next(); next != nullptr) {
    Admit(next->tenant);  // first: a tenant that holds is not forgotten
    Forget(next);
    next->admitted = true;
    next->wake.notify_one();
  } else {
    --busy_;
  }
  DropTenant(tenant);
}

template <typename Which>
void SolveSlots::PassOnKept(const Which& which) {
  for (size_t i = 0; i < kept_.size();) {
    if (!which(kept_[i])) {
      ++i;
      continue;
    }
    const std::string tenant = std::move(kept_[i].tenant);
    kept_.erase(kept_.begin() + static_cast<ptrdiff_t>(i));
    PassOn(tenant);
  }
}

void SolveSlots::PassOnOverdue() {
  if (kept_.empty()) return;
  PassOnKept([now = std::chrono::steady_clock::now()](const Kept& kept) { return kept.until <= now; });
}

void SolveSlots::Release(const std::string& tenant) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (late_release == nullptr) return PassOn(tenant);
  kept_.push_back({late_release, tenant, std::chrono::steady_clock::now() + kLongestAnswer});
  late_release->slots_ = this;
}

void SolveSlots::Settle(const LateRelease* by) {
  const std::lock_guard<std::mutex> lock(mutex_);
  PassOnKept([by](const Kept& kept) { return kept.by == by; });
}

int SolveSlots::busy() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return busy_;
}

int SolveSlots::waiting() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return waiting_;
}

}  // namespace eipc
