#ifndef EIPC_SERVER_SESSION_FIFO_GATE_H_
#define EIPC_SERVER_SESSION_FIFO_GATE_H_

#include <array>
#include <condition_variable>
#include <cstddef>
#include <list>
#include <mutex>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/solver/step_budget.h"

namespace eipc {

// Lets at most `capacity` holders in; the others wait, and may give up. Those who come to change something and those who only read
// have waiting places of their own, so that neither fills the other's; while both wait they go in by turns, and within their kind
// in order of arrival. So one who is first of its kind waits for those inside and one more.
//
// Invariants: no call waits while there is room; one that leaves admits the next waiter, in the same critical section, so that a
// newcomer never overtakes its kind.
class FifoGate {
 public:
  enum class Use { kChange, kRead };
  struct Options {
    int capacity = 1;
    int max_waiting = 1;  // of each kind
    // For messages: what one waits for, e.g. "a solve slot".
    std::string what = "the gate";
  };

  // Being inside. Leaves when destroyed; must not outlive the gate.
  class Pass {
   public:
    Pass() = default;
    Pass(Pass&& other) noexcept : gate_(std::exchange(other.gate_, nullptr)) {}
    Pass& operator=(Pass&& other) noexcept {
      if (this != &other) {
        Leave();
        gate_ = std::exchange(other.gate_, nullptr);
      }
      return *this;
    }
    ~Pass() { Leave(); }
    void Leave() {
      if (gate_ != nullptr) std::exchange(gate_, nullptr)->LeaveGate();
    }

   private:
    friend class FifoGate;
    explicit Pass(FifoGate* gate) : gate_(gate) {}
    FifoGate* gate_ = nullptr;
  };

  explicit FifoGate(Options options) : options_(std::move(options)) {}
  FifoGate(const FifoGate&) = delete;
  FifoGate& operator=(const FifoGate&) = delete;

  // Waits for its turn. RESOURCE_EXHAUSTED (queue_full.h) at once when too many wait already, CANCELLED / DEADLINE_EXCEEDED from
  // the budget, or what the gate was closed with.
  absl::StatusOr<Pass> Enter(const StepBudget& budget, Use use = Use::kChange);

  // Everyone who waits, and everyone who comes later, gets `reason`. Who is inside stays inside.
  void Close(absl::Status reason);
  // The same unless a call is inside or waits: then it stays open, and false is returned.
  bool CloseIfEmpty(absl::Status reason);

  // Waits until no call is inside (after Close none enters again). Errors from the budget.
  absl::Status WaitUntilEmpty(const StepBudget& budget);

  int inside() const;
  int waiting() const;

 private:
  struct Waiter {
    std::condition_variable wake;
    bool admitted = false;
  };

  void LeaveGate();
  std::list<Waiter*>& Waiting(Use use) { return waiting_[static_cast<size_t>(use)]; }
  absl::Status Expired(const StepBudget& budget) const;

  const Options options_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::condition_variable empty_;
  std::array<std::list<Waiter*>, 2> waiting_;  // of each kind, in order of arrival
  Use last_ = Use::kRead;                      // that went in while others waited
  int inside_ = 0;
  absl::Status closed_;
};

}  // namespace eipc

#endif  // EIPC_SERVER_SESSION_FIFO_GATE_H_
