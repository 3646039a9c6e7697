#ifndef EIPC_SERVER_SESSION_OPERATIONS_H_
#define EIPC_SERVER_SESSION_OPERATIONS_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/session/kept_memory.h"
#include "server/session/quotas.h"
#include "server/session/tenant_turns.h"
#include "sim/solver/step_budget.h"

namespace eipc {

inline constexpr char kOperationPrefix[] = "operations/";

// Work that outlives the call that began it: a job with progress and cancellation, run by one of the registry's threads. Jobs that
// find all of them busy wait for one; tenants take turns.
//
// Invariants: an operation is done once and then does not change; progress never falls; a registry that is destroyed has cancelled
// and awaited every job; whatever a job throws is its operation's status; only a tenant's own operations make room for its next.
class OperationRegistry {
 public:
  // A job reports its progress here.
  class Progress {
   public:
    virtual ~Progress() = default;
    virtual void Set(double done, const std::string& stage) = 0;
  };
  // Returns the result as opaque bytes. Must poll the budget.
  using Job = std::function<absl::StatusOr<std::string>(const StepBudget& budget, Progress* progress)>;

  struct View;
  // Receives how an operation ended, once, before any other sees that it is done.
  using Ended = std::function<void(const View& operation)>;

  struct View {
    std::string name;
    std::string kind;
    bool done = false;
    double progress = 0;
    std::string stage;
    absl::Status status;
    // Null unless it is done and OK. Its memory is given back with the last reference.
    std::shared_ptr<const std::string> result;
  };

  // `quotas` and `memory` may be null: then tenants have none, and results count nowhere.
  explicit OperationRegistry(int max_operations, int workers = 16, Quotas* quotas = nullptr, const TenantMemory* memory = nullptr)
      : max_operations_(max_operations), max_workers_(workers), quotas_(quotas), memory_(memory), most_of_a_tenant_(workers) {}
  ~OperationRegistry() { Stop(); }
  // A tenant has at most this many of the threads from now on (it keeps those that it has), so that long jobs leave room for
  // others.
  void BoundTenants(int most);
  // Cancels every job and waits for it; what was done is forgotten too. None is begun after that.
  void Stop();

  // RESOURCE_EXHAUSTED (TOO_MANY_OPERATIONS, TENANT_QUOTA) when as many are kept as may be; finished ones of the owner make room,
  // the oldest first. RESOURCE_EXHAUSTED (NO_THREAD) when there is no thread to run it and the system gives none.
  absl::StatusOr<View> Start(const std::string& owner, const std::string& kind, Job job, Ended ended = nullptr);
  // Waits up to `wait` for it to be done. NOT_FOUND.
  absl::StatusOr<View> Get(const std::string& name, const std::string& owner, std::chrono::duration<double> wait,
                           const StepBudget& budget);
  absl::StatusOr<View> Cancel(const std::string& name, const std::string& owner);
  // FAILED_PRECONDITION (OPERATION_RUNNING) while it runs.
  absl::Status Delete(const std::string& name, const std::string& owner);
  std::vector<View> List(const std::string& after, int count, const std::string& owner) const;
  int running() const;

 private:
  struct Operation;
  using Key = std::pair<std::string, std::string>;  // owner, name
  using Ptr = std::shared_ptr<Operation>;
  absl::StatusOr<Ptr> Find(const std::string& name, const std::string& owner) const;
  // Require mutex_.
  absl::StatusOr<Quotas::Hold> MakeRoom(const std::string& owner);
  void Forget(std::map<Key, Ptr>::iterator operation);
  bool HaveWorker();
  void Work();

  const int max_operations_;
  const int max_workers_;
  Quotas* const quotas_;
  const TenantMemory* const memory_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::map<Key, Ptr> operations_;
  int most_of_a_tenant_;
  int64_t started_ = 0;
  TenantTurns<Ptr> turns_;  // those that wait for a thread
  std::vector<std::thread> workers_;
  int idle_ = 0;  // of them
  bool stop_ = false;
  std::condition_variable wake_;
};

}  // namespace eipc

#endif  // EIPC_SERVER_SESSION_OPERATIONS_H_
