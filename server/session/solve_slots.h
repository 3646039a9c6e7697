#ifndef EIPC_SERVER_SESSION_SOLVE_SLOTS_H_
#define EIPC_SERVER_SESSION_SOLVE_SLOTS_H_

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
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
// The next free slot goes to the most urgent priority that waits (every fourth to the least urgent one, so that nobody starves);
// within it to the tenant that holds the fewest slots, then to the one served longest ago; within a tenant in order of arrival.
// When as many wait as may, a newcomer takes the place of someone less urgent, or of the tenant that has most waiting if that is
// more than its own; that one is refused. So one tenant's flood is its own loss.
//
// Invariants: nobody waits while a slot is free; a slot that is given up passes to its next holder in the same critical section.
class SolveSlots {
 public:
  class Slot {
   public:
    Slot() = default;
    Slot(Slot&& other) noexcept : slots_(std::exchange(other.slots_, nullptr)), tenant_(std::move(other.tenant_)) {}
    Slot& operator=(Slot&& other) noexcept {
      if (this != &other) {
        Leave();
        slots_ = std::exchange(other.slots_, nullptr);
        tenant_ = std::move(other.tenant_);
      }
      return *this;
    }
    ~Slot() { Leave(); }
    void Leave() {
      if (slots_ != nullptr) std::exchange(slots_, nullptr)->Release(tenant_);
    }

   private:
    friend class SolveSlots;
    Slot(SolveSlots* slots, std::string tenant) : slots_(slots), tenant_(std::move(tenant)) {}
    SolveSlots* slots_ = nullptr;
    std::string tenant_;
  };

  // While one lives, a slot that this thread gives up stays taken until it ends: what the thread still has to do to answer its own
  // client is not put off until others have solved. For a moment only: whoever asks for a slot, or waits for one, after 10 ms takes
  // it all the same (the client may be slow to read); and a thread that takes a slot again gives up the last one first. Not to be
  // nested.
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

  SolveSlots(int slots, int max_waiting) : slots_(slots), max_waiting_(max_waiting) {}
  SolveSlots(const SolveSlots&) = delete;
  SolveSlots& operator=(const SolveSlots&) = delete;

  // Waits for a slot. RESOURCE_EXHAUSTED (queue_full.h) when too many wait, CANCELLED / DEADLINE_EXCEEDED from the budget. Calls
  // `not_refused` before it waits, or returns a slot that it did not have to wait for.
  absl::StatusOr<Slot> Take(
      const SolveClaim& claim, const StepBudget& budget, absl::FunctionRef<void()> not_refused = [] {});

  int slots() const { return slots_; }
  int busy() const;
  int waiting() const;

 private:
  struct Waiter {
    std::string tenant;
    SolvePriority priority = SolvePriority::kNormal;
    std::condition_variable wake;
    bool admitted = false;
    bool refused = false;
  };
  struct Tenant {
    int holding = 0;
    int waiting = 0;
    int64_t served = 0;  // when it last got a slot, in slots given
  };
  using Queue = std::list<Waiter*>;
  // A slot that is given up, but not free yet.
  struct Kept {
    const LateRelease* by = nullptr;
    std::string tenant;
    std::chrono::steady_clock::time_point until;
  };

  // All require mutex_.
  bool MakeRoom(const Waiter& newcomer);
  Waiter* Next();
  Waiter* NextOf(const Queue& queue);
  void Admit(const std::string& tenant);
  void Forget(Waiter* waiter);
  void DropTenant(const std::string& tenant);
  void PassOn(const std::string& tenant);
  template <typename Which>
  void PassOnKept(const Which& which);
  void PassOnOverdue();

  // Take it.
  void Release(const std::string& tenant);
  void Settle(const LateRelease* by);

  const int slots_;
  const int max_waiting_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::array<Queue, kSolvePriorities> queues_;
  std::map<std::string, Tenant> tenants_;  // those that hold or wait
  std::vector<Kept> kept_;                 // each counts as busy
  int busy_ = 0;
  int waiting_ = 0;
  int64_t given_ = 0;
};

}  // namespace eipc

#endif  // EIPC_SERVER_SESSION_SOLVE_SLOTS_H_
