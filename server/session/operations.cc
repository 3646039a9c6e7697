#include "server/session/operations.h"

#include <algorithm>
#include <optional>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "server/session/guarded.h"
#include "server/session/ids.h"
#include "sim/base/status_macros.h"

namespace eipc {
namespace {

bool Anyone(const std::string&) { return true; }

absl::Status NeverBegun() { return absl::CancelledError("CANCELLED: cancelled before it began"); }

}  // namespace

struct OperationRegistry::Operation : public OperationRegistry::Progress {
  // What a job has made, and its memory: it is there already, so it may be more than fits.
  struct Result {
    std::string bytes;
    KeptMemory memory;
  };

  std::atomic<bool> cancelled = false;
  int64_t number = 0;
  std::string owner;
  const TenantMemory* memory = nullptr;
  Job job;            // until it has run; the worker's
  Ended ended;        // may be empty
  Quotas::Hold hold;  // guarded by the registry's mutex
  mutable std::mutex mutex;
  std::condition_variable changed;
  View view;  // guarded by mutex

  void Set(double done, const std::string& stage) override {
    const std::lock_guard<std::mutex> lock(mutex);
    view.progress = std::clamp(done, view.progress, 1.0);
    view.stage = stage;
  }
  View See() const {
    const std::lock_guard<std::mutex> lock(mutex);
    return view;
  }
  void DropResult() {
    const std::lock_guard<std::mutex> lock(mutex);
    view.result = nullptr;
  }
  void Run() {
    StepBudget budget;
    budget.cancelled = [this] { return cancelled.load(); };
    End(Guarded([&] { return job(budget, this); }));
  }
  void End(absl::StatusOr<std::string> result) {
    job = nullptr;
    View last = See();
    last.status = result.status();
    if (result.ok()) {
      const auto kept = std::make_shared<Result>();
      kept->bytes = *std::move(result);
      if (memory != nullptr) kept->memory = memory->Record(owner, static_cast<int64_t>(kept->bytes.capacity()));
      last.result = {kept, &kept->bytes};
      last.progress = 1;
    }
    last.done = true;
    if (ended) {
      (void)Guarded([&] {
        ended(last);
        return absl::OkStatus();
      });
    }
    const std::lock_guard<std::mutex> lock(mutex);
    view = std::move(last);
    changed.notify_all();
  }
};

void OperationRegistry::Stop() {
  std::map<Key, Ptr> operations;
  std::vector<std::thread> workers;
  std::vector<Ptr> waited;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
    operations.swap(operations_);
    workers.swap(workers_);
    while (std::optional<Ptr> next = turns_.Take(Anyone)) waited.push_back(*std::move(next));
  }
  wake_.notify_all();
  for (auto& [key, operation] : operations) operation->cancelled = true;
  for (const Ptr& operation : waited) operation->End(NeverBegun());
  for (std::thread& worker : workers) worker.join();
}

absl::StatusOr<Quotas::Hold> OperationRegistry::MakeRoom(const std::string& owner) {
  while (true) {
    const absl::Status may = quotas_ == nullptr ? absl::OkStatus() : quotas_->Check(owner, Resource::kOperations);
    const bool fits = static_cast<int>(operations_.size()) < max_operations_;
    if (may.ok() && fits) return quotas_ == nullptr ? Quotas::Hold() : quotas_->Take(owner, Resource::kOperations);
    auto oldest = operations_.end();
    for (auto it = operations_.lower_bound(Key(owner, "")); it != operations_.end() && it->first.first == owner; ++it) {
      if (it->second->See().done && (oldest == operations_.end() || it->second->number < oldest->second->number)) oldest = it;
    }
    if (oldest != operations_.end()) {
      Forget(oldest);
      continue;
    }
    if (!may.ok()) return may;
    return absl::ResourceExhaustedError(absl::StrCat("TOO_MANY_OPERATIONS: the server keeps at most ", max_operations_,
                                                     ", and none of yours is done; try again later"));
  }
}

void OperationRegistry::Forget(std::map<Key, Ptr>::iterator operation) {
  operation->second->hold = Quotas::Hold();  // a reader may still hold it
  operation->second->DropResult();
  operations_.erase(operation);
}

bool OperationRegistry::HaveWorker() {
  if (idle_ > turns_.waiting() || static_cast<int>(workers_.size()) >= max_workers_) return true;
  try {
    workers_.emplace_back([this] { Work(); });
  } catch (const std::system_error&) {
    // The system refuses more threads: the registry continues with those that have started.
  }
  return !workers_.empty();
}

void OperationRegistry::BoundTenants(int most) {
  const std::lock_guard<std::mutex> lock(mutex_);
  most_of_a_tenant_ = most;
  wake_.notify_all();
}

void OperationRegistry::Work() {
  const auto may = [this](const std::string& tenant) { return turns_.holding(tenant) < most_of_a_tenant_; };
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    std::optional<Ptr> next;
    ++idle_;
    wake_.wait(lock, [&] { return stop_ || (next = turns_.Take(may)); });
    --idle_;
    if (!next) return;
    const Ptr operation = *std::move(next);
    lock.unlock();
    operation->Run();
    lock.lock();
    if (!stop_) turns_.Release(operation->owner);
  }
}

absl::StatusOr<OperationRegistry::View> OperationRegistry::Start(const std::string& owner, const std::string& kind, Job job,
                                                                 Ended ended) {
  auto operation = std::make_shared<Operation>();
  operation->view.name = absl::StrCat(kOperationPrefix, RandomHex128());
  operation->view.kind = kind;
  operation->view.stage = "waiting for its turn";
  operation->owner = owner;
  operation->memory = memory_;
  operation->job = std::move(job);
  operation->ended = std::move(ended);
  const View view = operation->view;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (stop_) return absl::UnavailableError("SERVER_STOPPING: the server is stopping");
  EIPC_ASSIGN_OR_RETURN(operation->hold, MakeRoom(owner));
  if (!HaveWorker()) {
    return absl::ResourceExhaustedError("NO_THREAD: the system gives no thread for the operation; try again later");
  }
  operation->number = started_++;
  operations_.emplace(Key(owner, view.name), operation);
  turns_.Push(owner, operation);
  wake_.notify_one();
  return view;
}

absl::StatusOr<OperationRegistry::Ptr> OperationRegistry::Find(const std::string& name, const std::string& owner) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = operations_.find(Key(owner, name));
  if (found == operations_.end()) {
    return absl::NotFoundError(absl::StrCat("OPERATION_NOT_FOUND: no operation named '", Printable(name), "'"));
  }
  return found->second;
}

absl::StatusOr<OperationRegistry::View> OperationRegistry::Get(const std::string& name, const std::string& owner,
                                                               std::chrono::duration<double> wait, const StepBudget& budget) {
  EIPC_ASSIGN_OR_RETURN(const Ptr operation, Find(name, owner));
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(wait);
  std::unique_lock<std::mutex> lock(operation->mutex);
  while (!operation->view.done && std::chrono::steady_clock::now() < until) {
    lock.unlock();
    EIPC_RETURN_IF_ERROR(budget.Poll());
    lock.lock();
    operation->changed.wait_for(lock, std::chrono::milliseconds(20), [&] { return operation->view.done; });
  }
  return operation->view;
}

absl::StatusOr<OperationRegistry::View> OperationRegistry::Cancel(const std::string& name, const std::string& owner) {
  EIPC_ASSIGN_OR_RETURN(const Ptr operation, Find(name, owner));
  operation->cancelled = true;
  bool waited = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    waited = turns_.Remove(owner, operation);
  }
  if (waited) operation->End(NeverBegun());
  return operation->See();
}

absl::Status OperationRegistry::Delete(const std::string& name, const std::string& owner) {
  EIPC_ASSIGN_OR_RETURN(const Ptr operation, Find(name, owner));
  if (!operation->See().done) return absl::FailedPreconditionError("OPERATION_RUNNING: it is not done; cancel it first");
  const std::lock_guard<std::mutex> lock(mutex_);
  if (const auto found = operations_.find(Key(owner, name)); found != operations_.end()) Forget(found);
  return absl::OkStatus();
}

std::vector<OperationRegistry::View> OperationRegistry::List(const std::string& after, int count, const std::string& owner) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<View> result;
  for (auto it = operations_.upper_bound(Key(owner, after)); it != operations_.end() && it->first.first == owner; ++it) {
    if (static_cast<int>(result.size()) >= count) break;
    result.push_back(it->second->See());
  }
  return result;
}

int OperationRegistry::running() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  int count = 0;
  for (const auto& [key, operation] : operations_) count += operation->See().done ? 0 : 1;
  return count;
}

}  // namespace eipc
