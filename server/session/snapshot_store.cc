#include "server/session/snapshot_store.h"

#include "absl/strings/str_cat.h"
#include "server/session/ids.h"
#include "sim/base/status_macros.h"

namespace eipc {
namespace {

absl::Status NotFound(const std::string& name) {
  return absl::NotFoundError(absl::StrCat("SNAPSHOT_NOT_FOUND: no snapshot named '", Printable(name), "'"));
}

}  // namespace

absl::StatusOr<SnapshotStore::Ptr> SnapshotStore::Add(StoredSnapshot snapshot) {
  snapshot.name = absl::StrCat(kSnapshotPrefix, RandomHex128());
  const int64_t bytes = static_cast<int64_t>(snapshot.data.size());
  const std::lock_guard<std::mutex> lock(mutex_);
  if (static_cast<int>(snapshots_.size()) >= max_snapshots_ || bytes > max_bytes_ - bytes_) {
    return absl::ResourceExhaustedError(absl::StrCat("TOO_MANY_SNAPSHOTS: the server holds at most ", max_snapshots_, " of ",
                                                     max_bytes_, " bytes in all; delete one first"));
  }
  Entry entry;
  if (quotas_ != nullptr) {
    EIPC_ASSIGN_OR_RETURN(entry.count, quotas_->Take(snapshot.owner, Resource::kSnapshots));
    EIPC_ASSIGN_OR_RETURN(entry.bytes, quotas_->Take(snapshot.owner, Resource::kSnapshotBytes, bytes));
  }
  const auto stored = std::make_shared<const StoredSnapshot>(std::move(snapshot));
  entry.snapshot = stored;
  snapshots_.emplace(Key(stored->owner, stored->name), std::move(entry));
  bytes_ += bytes;
  return stored;
}

absl::StatusOr<SnapshotStore::Ptr> SnapshotStore::Find(const std::string& name, const std::string& owner) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = snapshots_.find(Key(owner, name));
  if (found == snapshots_.end()) return NotFound(name);
  return found->second.snapshot;
}

absl::Status SnapshotStore::Delete(const std::string& name, const std::string& owner) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = snapshots_.find(Key(owner, name));
  if (found == snapshots_.end()) return NotFound(name);
  bytes_ -= static_cast<int64_t>(found->second.snapshot->data.size());
  snapshots_.erase(found);
  return absl::OkStatus();
}

std::vector<SnapshotStore::Ptr> SnapshotStore::List(const std::string& after, int count, const std::string& owner) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Ptr> result;
  for (auto it = snapshots_.upper_bound(Key(owner, after)); it != snapshots_.end() && it->first.first == owner; ++it) {
    if (static_cast<int>(result.size()) >= count) break;
    result.push_back(it->second.snapshot);
  }
  return result;
}

int SnapshotStore::size() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return static_cast<int>(snapshots_.size());
}

}  // namespace eipc
