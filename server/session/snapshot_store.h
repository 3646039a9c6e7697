#ifndef EIPC_SERVER_SESSION_SNAPSHOT_STORE_H_
#define EIPC_SERVER_SESSION_SNAPSHOT_STORE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/session/kept_memory.h"
#include "server/session/quotas.h"

namespace eipc {

inline constexpr char kSnapshotPrefix[] = "snapshots/";

// Immutable. `data` as PackSnapshot made it.
struct StoredSnapshot {
  std::string name;
  std::string owner;
  std::string scene;
  int64_t step = 0;
  double time_s = 0;
  std::string digest;
  std::string data;
  KeptMemory memory = {};  // of the data, given back with the last who holds the snapshot
};

// The server's snapshots, by owner and name.
class SnapshotStore {
 public:
  using Ptr = std::shared_ptr<const StoredSnapshot>;
  // `quotas` may be null: tenants have none.
  SnapshotStore(int max_snapshots, int64_t max_bytes, Quotas* quotas = nullptr)
      : max_snapshots_(max_snapshots), max_bytes_(max_bytes), quotas_(quotas) {}

  // Gives it a name. RESOURCE_EXHAUSTED when there is no room, or its owner has its share.
  absl::StatusOr<Ptr> Add(StoredSnapshot snapshot);
  // NOT_FOUND.
  absl::StatusOr<Ptr> Find(const std::string& name, const std::string& owner) const;
  absl::Status Delete(const std::string& name, const std::string& owner);
  // At most `count` with names after `after`, in order of their names.
  std::vector<Ptr> List(const std::string& after, int count, const std::string& owner) const;
  int size() const;

 private:
  using Key = std::pair<std::string, std::string>;  // owner, name
  const int max_snapshots_;
  const int64_t max_bytes_;
  Quotas* const quotas_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  struct Entry {
    Ptr snapshot;
    Quotas::Hold count;
    Quotas::Hold bytes;
  };
  std::map<Key, Entry> snapshots_;
  int64_t bytes_ = 0;
};

}  // namespace eipc

#endif  // EIPC_SERVER_SESSION_SNAPSHOT_STORE_H_
