#ifndef EIPC_SERVER_SESSION_SOLVE_SLOTS_H_
#define EIPC_SERVER_SESSION_SOLVE_SLOTS_H_

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/session/tenant_turns.h"
#include "sim/solver/step_budget.h"

namespace eipc {

// Who asks for a slot, and how much it hurts to wait: streams of a person or a robot, then single calls, then batches.
enum class SolvePriority { kInteractive, kNormal, kBatch };
inline constexpr int kSolvePriorities = 3;
struct SolveClaim {
  std::string tenant;
  SolvePriority priority = SolvePriority::kNormal;
};

// Bounds how many solves run at once, in the whole server, and shares them out.
//
// Slots are given in rounds of seven turns: interactive, normal, interactive, batch, interactive, normal, interactive; a turn of a
// priority without waiters is passed over. Within a priority tenants take turns (tenant_turns.h), and within a tenant the
// first to come goes first. When as many wait as may, a newcomer takes the place of the last and least urgent of the tenant that
// has most waiting, if its own has fewer even with it, else a less urgent call of its own tenant; that one is refused. So one
// tenant's flood is its own loss.
//
// Bound, whatever the others ask for: while a call waits that is the first of its tenant and priority, and whose tenant holds no
// slot with that priority, at most
//     T (k + 1) - 1   slots are given to others,
// where T tenants wait with its priority and k = 1 for interactive calls, 3 for normal ones, 6 for batches. With slots enough for
// those that hold one its wait is as many solves long. (A slot is held for one solve: a request takes one for each of its steps.)
//
// Invariants: no call waits while a slot is free that it may have; a slot that is given up passes to its next holder in the same
// critical section.
class SolveSlots {
 public:
  class Slot {
   public:
    Slot() = default;
    Slot(Slot&& other) noexcept : slots_(std::exchange(other.slots_, nullptr)), claim_(std::move(other.claim_)) {}
    Slot& operator=(Slot&& other) noexcept {
      if (this != &other) {
        Leave();
        slots_ = std::exchange(other.slots_, nullptr);
        claim_ = std::move(other.claim_);
      }
      return *this;
    }
    ~Slot() { Leave(); }
    void Leave() {
      if (slots_ != nullptr) std::exchange(slots_, nullptr)->Release(std::move(claim_));
    }

   private:
    friend class SolveSlots;
    Slot(SolveSlots* slots, SolveClaim claim) : slots_(slots), claim_(std::move(claim)) {}
    SolveSlots* slots_ = nullptr;
    SolveClaim claim_;
  };

  // While one lives, a slot that this thread gives up stays taken until it ends: what the thread still has to do to answer its own
  // client is not put off until others have solved. For a moment only: a call that asks for a slot, or waits for one, after 10 ms
  // takes it all the same (the client may be slow to read); and a thread that takes a slot again gives up the last one first. Not
  // to be nested.
  class LateRelease {
   public:
    LateRelease();
    ~LateRelease();
    LateRelease(const LateRelease&) = delete;
    LateRelease& operator=(const LateRelease&) = delete;

   private:
    friend class SolveSlots;
    void Settle();
    SolveSlots* slots_ = nullptr;  // null: it keeps nothing
  };

  // `what` is for messages.
  SolveSlots(int slots, int max_waiting, std::string what = "a solve slot")
      : slots_(slots), max_waiting_(max_waiting), what_(std::move(what)), most_of_a_tenant_(slots) {
    kept_.reserve(static_cast<size_t>(std::max(slots, 0)));  // giving a slot up takes no memory
  }
  SolveSlots(const SolveSlots&) = delete;
  SolveSlots& operator=(const SolveSlots&) = delete;

  // Waits for a slot. RESOURCE_EXHAUSTED (queue_full.h) when too many wait, CANCELLED / DEADLINE_EXCEEDED from the budget. Calls
  // `not_refused` before it waits, or returns a slot that it did not have to wait for.
  absl::StatusOr<Slot> Take(
      const SolveClaim& claim, const StepBudget& budget, absl::FunctionRef<void()> not_refused = [] {});

  // A tenant holds at most this many slots from now on (it keeps those that it has), so that those with long work leave room.
  void BoundTenants(int most);

  int slots() const { return slots_; }
  int busy() const;
  int held(const std::string& tenant) const;
  int waiting() const;

 private:
  struct Waiter {
    SolveClaim claim;
    std::condition_variable wake;
    bool admitted = false;
    bool refused = false;
  };
  struct Tenant {
    int holding = 0;
    int waiting = 0;
  };
  // A slot that is given up, but not free yet.
  struct Kept {
    const LateRelease* by = nullptr;
    SolveClaim claim;
    std::chrono::steady_clock::time_point until;
  };

  // All require mutex_.
  // The tenant's counts, once `queue`, which may throw, has been called.
  template <typename Queue>
  Tenant& Enter(const std::string& tenant, const Queue& queue);
  // Until it is admitted; else it waits no longer, and says why.
  absl::Status Await(const StepBudget& budget, std::unique_lock<std::mutex>* lock, Waiter* self);
  bool MayHold(const std::string& tenant) const;
  bool MakeRoom(const SolveClaim& newcomer);
  Waiter* LastOf(const std::string& tenant, int most_urgent) const;
  Waiter* Next();
  void GiveToNext();
  void Forget(Waiter* waiter);
  void CountOut(const std::string& tenant, int holding, int waiting);
  void PassOn(const SolveClaim& claim);
  template <typename Which>
  void PassOnKept(const Which& which);
  void PassOnOverdue();
  absl::Status Full() const;
  absl::Status Expired(const StepBudget& budget) const;

  // Take it.
  void Release(SolveClaim claim);
  void Settle(const LateRelease* by);

  const int slots_;
  const int max_waiting_;
  const std::string what_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  int most_of_a_tenant_;
  std::array<TenantTurns<Waiter*>, kSolvePriorities> queues_;
  std::map<std::string, Tenant> tenants_;  // those that hold or wait
  std::vector<Kept> kept_;                 // each counts as busy
  int busy_ = 0;
  int waiting_ = 0;
  int turn_ = 0;  // of the round
};

}  // namespace eipc

#endif  // EIPC_SERVER_SESSION_SOLVE_SLOTS_H_
