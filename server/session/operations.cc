#include "server/session/operations.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "server/session/ids.h"
#include "sim/base/status_macros.h"

namespace eipc {

struct OperationRegistry::Operation : public OperationRegistry::Progress {
  std::atomic<bool> cancelled = false;
  int64_t number = 0;
  mutable std::mutex mutex;
  std::condition_variable changed;
  View view;  // guarded by mutex
  std::thread thread;

  ~Operation() override {
    if (thread.joinable()) thread.join();
  }
  void Set(double done, const std::string& stage) override {
    const std::lock_guard<std::mutex> lock(mutex);
    view.progress = std::clamp(done, view.progress, 1.0);
    view.stage = stage;
  }
  View See() const {
    const std::lock_guard<std::mutex> lock(mutex);
    return view;
  }
  void Run(const Job& job) {
    StepBudget budget;
    budget.cancelled = [this] { return cancelled.load(); };
    absl::StatusOr<std::string> result = job(budget, this);
    const std::lock_guard<std::mutex> lock(mutex);
    view.status = result.status();
    if (result.ok()) view.result = *std::move(result);
    if (result.ok()) view.progress = 1;
    view.done = true;
    changed.notify_all();
  }
};

void OperationRegistry::Stop() {
  std::map<Key, Ptr> operations;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    operations.swap(operations_);
  }
  for (auto& [key, operation] : operations) operation->cancelled = true;
}

bool OperationRegistry::MakeRoom() {
  if (static_cast<int>(operations_.size()) < max_operations_) return true;
  auto oldest = operations_.end();
  for (auto it = operations_.begin(); it != operations_.end(); ++it) {
    if (it->second->See().done && (oldest == operations_.end() || it->second->number < oldest->second->number)) oldest = it;
  }
  if (oldest == operations_.end()) return false;
  operations_.erase(oldest);
  return true;
}

absl::StatusOr<OperationRegistry::View> OperationRegistry::Start(const std::string& owner, const std::string& kind, Job job) {
  auto operation = std::make_shared<Operation>();
  operation->view.name = absl::StrCat(kOperationPrefix, RandomHex128());
  operation->view.kind = kind;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!MakeRoom()) {
    return absl::ResourceExhaustedError(absl::StrCat("TOO_MANY_OPERATIONS: ", max_operations_, " run already; try again later"));
  }
  operation->number = started_++;
  operations_.emplace(Key(owner, operation->view.name), operation);
  const View view = operation->view;
  // The registry awaits the thread, so the job may use what outlives the registry.
  operation->thread = std::thread([o = operation.get(), work = std::move(job)] { o->Run(work); });
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
  return operation->See();
}

absl::Status OperationRegistry::Delete(const std::string& name, const std::string& owner) {
  EIPC_ASSIGN_OR_RETURN(const Ptr operation, Find(name, owner));
  if (!operation->See().done) return absl::FailedPreconditionError("OPERATION_RUNNING: it is not done; cancel it first");
  const std::lock_guard<std::mutex> lock(mutex_);
  operations_.erase(Key(owner, name));
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
