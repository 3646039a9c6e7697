#ifndef EIPC_SERVER_SESSION_SOLVE_SLOTS_H_
#define EIPC_SERVER_SESSION_SOLVE_SLOTS_H_

#include <array>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

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

  // While one lives, whoever gets a slot that this thread gives up is woken when it ends: what the thread still has to do to answer
  // its own client is not put off until the other has solved. A thread that is held up meanwhile holds up nobody for long, because
  // waiters look by themselves every 10 ms; one that takes a slot again wakes first. Not to be nested.
  class LateWake {
   public:
    LateWake();
    ~LateWake();
    LateWake(const LateWake&) = delete;
    LateWake& operator=(const LateWake&) = delete;

   private:
    friend class SolveSlots;
    void Wake();
    std::shared_ptr<std::condition_variable> waiter_;
  };

  SolveSlots(int slots, int max_waiting) : slots_(slots), max_waiting_(max_waiting) {}
  SolveSlots(const SolveSlots&) = delete;
  SolveSlots& operator=(const SolveSlots&) = delete;

  // Waits for a slot. RESOURCE_EXHAUSTED (QUEUE_FULL) when too many wait, CANCELLED / DEADLINE_EXCEEDED from the budget.
  absl::StatusOr<Slot> Take(const SolveClaim& claim, const StepBudget& budget);

  int slots() const { return slots_; }
  int busy() const;
  int waiting() const;

 private:
  struct Waiter {
    std::string tenant;
    SolvePriority priority = SolvePriority::kNormal;
    std::shared_ptr<std::condition_variable> wake;
    bool admitted = false;
    bool refused = false;
  };
  struct Tenant {
    int holding = 0;
    int waiting = 0;
    int64_t served = 0;  // when it last got a slot, in slots given
  };
  using Queue = std::list<Waiter*>;

  // All require mutex_.
  bool MakeRoom(const Waiter& newcomer);
  Waiter* Next();
  Waiter* NextOf(const Queue& queue);
  void Admit(const std::string& tenant);
  void Forget(Waiter* waiter);
  void Release(const std::string& tenant);
  void DropTenant(const std::string& tenant);

  const int slots_;
  const int max_waiting_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::array<Queue, kSolvePriorities> queues_;
  std::map<std::string, Tenant> tenants_;  // those that hold or wait
  int busy_ = 0;
  int waiting_ = 0;
  int64_t given_ = 0;
};

}  // namespace eipc

#endif  // EIPC_SERVER_SESSION_SOLVE_SLOTS_H_
