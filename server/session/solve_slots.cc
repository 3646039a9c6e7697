#include "server/session/solve_slots.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/session/queue_full.h"
#include "sim/base/status_macros.h"

namespace eipc {
namespace {

// A waiter is not notified when its caller goes away, so it polls at this interval.
constexpr std::chrono::milliseconds kPollInterval(10);
// After so long a slot that is kept for an answer's sake is taken.
constexpr std::chrono::milliseconds kLongestAnswer(10);
// Whose turn it is. Between two turns of a priority there are at most 1, 3 and 6 others: the bound in the header counts on it.
constexpr SolvePriority kRound[] = {SolvePriority::kInteractive, SolvePriority::kNormal,      SolvePriority::kInteractive,
                                    SolvePriority::kBatch,       SolvePriority::kInteractive, SolvePriority::kNormal,
                                    SolvePriority::kInteractive};
constexpr int kTurns = sizeof(kRound) / sizeof(kRound[0]);

// Of this thread.
thread_local SolveSlots::LateRelease* late_release = nullptr;

}  // namespace

SolveSlots::LateRelease::LateRelease() { late_release = this; }

SolveSlots::LateRelease::~LateRelease() {
  late_release = nullptr;
  Settle();
}

void SolveSlots::LateRelease::Settle() {
  if (slots_ != nullptr) std::exchange(slots_, nullptr)->Settle(this);
}

absl::Status SolveSlots::Expired(const StepBudget& budget) const {
  const absl::Status status = budget.Poll();
  if (status.ok()) return status;
  const char* reason = absl::IsCancelled(status) ? "CANCELLED" : "DEADLINE_EXCEEDED";
  return absl::Status(status.code(), absl::StrCat(reason, ": gave up waiting for ", what_));
}

absl::Status SolveSlots::Full() const {
  return QueueFull(absl::StrCat(max_waiting_, " calls wait for ", what_, " already; try again later"));
}

// What takes memory comes before what is counted by it, and what is counted is given back by the caller that leaves, also when
// memory ends.
absl::StatusOr<SolveSlots::Slot> SolveSlots::Take(const SolveClaim& claim, const StepBudget& budget,
                                                  absl::FunctionRef<void()> not_refused) {
  if (late_release != nullptr) late_release->Settle();
  Waiter self;
  self.claim = claim;
  SolveClaim held = claim;
  std::unique_lock<std::mutex> lock(mutex_);
  PassOnOverdue();
  if (busy_ < slots_ && MayHold(claim.tenant)) {
    Enter(claim.tenant, [&] { queues_[static_cast<int>(claim.priority)].Hold(claim.tenant); }).holding += 1;
    ++busy_;
    lock.unlock();
    Slot slot(this, std::move(held));
    not_refused();
    return slot;
  }
  if (waiting_ >= max_waiting_ && !MakeRoom(claim)) return Full();
  Enter(claim.tenant, [&] { queues_[static_cast<int>(claim.priority)].Push(claim.tenant, &self); }).waiting += 1;
  ++waiting_;
  lock.unlock();
  try {
    not_refused();
    lock.lock();
    EIPC_RETURN_IF_ERROR(Await(budget, &lock, &self));
  } catch (...) {
    if (!lock.owns_lock()) lock.lock();
    if (self.admitted) PassOn(self.claim);
    if (!self.admitted && !self.refused) Forget(&self);
    throw;
  }
  return Slot(this, std::move(held));
}

absl::Status SolveSlots::Await(const StepBudget& budget, std::unique_lock<std::mutex>* lock, Waiter* self) {
  while (!self->admitted) {
    if (self->refused) return Full();
    // `cancelled` is the caller's code: it may take locks of its own, so it is not called under ours.
    lock->unlock();
    const absl::Status status = Expired(budget);
    lock->lock();
    PassOnOverdue();
    if (self->admitted || self->refused) continue;
    if (!status.ok()) {
      Forget(self);
      return status;
    }
    self->wake.wait_until(*lock, std::min(budget.deadline, std::chrono::steady_clock::now() + kPollInterval));
  }
  return absl::OkStatus();
}

template <typename Queue>
SolveSlots::Tenant& SolveSlots::Enter(const std::string& tenant, const Queue& queue) {
  Tenant& entered = tenants_[tenant];
  try {
    queue();
  } catch (...) {
    CountOut(tenant, 0, 0);
    throw;
  }
  return entered;
}

void SolveSlots::BoundTenants(int most) {
  const std::lock_guard<std::mutex> lock(mutex_);
  most_of_a_tenant_ = std::max(1, most);
  while (busy_ < slots_ && waiting_ > 0) {
    const int before = busy_;
    ++busy_;
    GiveToNext();
    if (busy_ == before) return;  // no waiter may have it
  }
}

bool SolveSlots::MayHold(const std::string& tenant) const {
  const auto found = tenants_.find(tenant);
  return found == tenants_.end() || found->second.holding < most_of_a_tenant_;
}

SolveSlots::Waiter* SolveSlots::LastOf(const std::string& tenant, int most_urgent) const {
  for (int p = kSolvePriorities - 1; p >= most_urgent; --p) {
    if (Waiter* const* last = queues_[p].Last(tenant); last != nullptr) return *last;
  }
  return nullptr;
}

bool SolveSlots::MakeRoom(const SolveClaim& newcomer) {
  const auto own = tenants_.find(newcomer.tenant);
  const std::string* fullest = nullptr;
  int most = (own == tenants_.end() ? 0 : own->second.waiting) + 1;
  for (const auto& [name, tenant] : tenants_) {
    if (tenant.waiting > most) {
      most = tenant.waiting;
      fullest = &name;
    }
  }
  Waiter* const victim =
      fullest != nullptr ? LastOf(*fullest, 0) : LastOf(newcomer.tenant, static_cast<int>(newcomer.priority) + 1);
  if (victim == nullptr) return false;
  Forget(victim);
  victim->refused = true;
  victim->wake.notify_one();
  return true;
}

SolveSlots::Waiter* SolveSlots::Next() {
  for (int i = 0; i < kTurns; ++i) {
    const int turn = (turn_ + i) % kTurns;
    const auto next = queues_[static_cast<int>(kRound[turn])].Take([this](const std::string& tenant) { return MayHold(tenant); });
    if (!next) continue;
    turn_ = (turn + 1) % kTurns;
    return *next;
  }
  return nullptr;
}

void SolveSlots::GiveToNext() {
  Waiter* const next = Next();
  if (next == nullptr) {
    --busy_;
    return;
  }
  Tenant& tenant = tenants_[next->claim.tenant];
  ++tenant.holding;
  --tenant.waiting;
  --waiting_;
  next->admitted = true;
  next->wake.notify_one();
}

void SolveSlots::Forget(Waiter* waiter) {
  queues_[static_cast<int>(waiter->claim.priority)].Remove(waiter->claim.tenant, waiter);
  --waiting_;
  CountOut(waiter->claim.tenant, 0, 1);
}

void SolveSlots::CountOut(const std::string& tenant, int holding, int waiting) {
  const auto found = tenants_.find(tenant);
  found->second.holding -= holding;
  found->second.waiting -= waiting;
  if (found->second.holding == 0 && found->second.waiting == 0) tenants_.erase(found);
}

void SolveSlots::PassOn(const SolveClaim& claim) {
  CountOut(claim.tenant, 1, 0);
  GiveToNext();
  queues_[static_cast<int>(claim.priority)].Release(claim.tenant);  // last: who gives a slot up comes after those that have none
}

template <typename Which>
void SolveSlots::PassOnKept(const Which& which) {
  for (size_t i = 0; i < kept_.size();) {
    if (!which(kept_[i])) {
      ++i;
      continue;
    }
    const SolveClaim claim = std::move(kept_[i].claim);
    kept_.erase(kept_.begin() + static_cast<ptrdiff_t>(i));
    PassOn(claim);
  }
}

void SolveSlots::PassOnOverdue() {
  if (kept_.empty()) return;
  PassOnKept([now = std::chrono::steady_clock::now()](const Kept& kept) { return kept.until <= now; });
}

void SolveSlots::Release(SolveClaim claim) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (late_release == nullptr) return PassOn(claim);
  kept_.push_back({late_release, std::move(claim), std::chrono::steady_clock::now() + kLongestAnswer});
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

int SolveSlots::held(const std::string& tenant) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = tenants_.find(tenant);
  return found == tenants_.end() ? 0 : found->second.holding;
}

int SolveSlots::waiting() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return waiting_;
}

}  // namespace eipc
