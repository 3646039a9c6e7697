#ifndef EIPC_SERVER_SESSION_MESH_STORE_H_
#define EIPC_SERVER_SESSION_MESH_STORE_H_

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/session/kept_memory.h"
#include "server/session/quotas.h"

namespace eipc {

inline constexpr char kUploadPrefix[] = "upload:";

// A mesh file as it was uploaded.
struct UploadedMesh {
  std::string file_name;
  std::string data;
  KeptMemory memory = {};  // of the data, given back with the last who holds the mesh
};

// Uploaded mesh files by owner and the SHA-256 of their bytes. When an owner has no room for another, its least recently used go:
// scenes hold copies. A tenant's never make room for another's.
//
// Invariant: uploads and the room made for those that still come are never more than the store, and each is within its owner's
// quotas and the memory that was set aside for it.
class MeshStore {
 public:
  // Room for an upload that still comes, given back when destroyed. Must not outlive the store.
  class Room {
   public:
    Room() = default;
    Room(Room&& other) noexcept
        : store_(std::exchange(other.store_, nullptr)),
          owner_(std::move(other.owner_)),
          bytes_(std::exchange(other.bytes_, 0)),
          hold_(std::move(other.hold_)),
          memory_(std::move(other.memory_)) {}
    Room& operator=(Room&&) = delete;
    ~Room();
    int64_t bytes() const { return bytes_; }

   private:
    friend class MeshStore;
    Room(MeshStore* store, std::string owner, int64_t bytes, Quotas::Hold hold, KeptMemory memory)
        : store_(store), owner_(std::move(owner)), bytes_(bytes), hold_(std::move(hold)), memory_(std::move(memory)) {}
    MeshStore* store_ = nullptr;
    std::string owner_;
    int64_t bytes_ = 0;
    Quotas::Hold hold_;
    KeptMemory memory_;
  };

  // `quotas` and `memory` may be null: then neither is counted.
  explicit MeshStore(int64_t max_bytes, Quotas* quotas = nullptr, const TenantMemory* memory = nullptr)
      : max_bytes_(max_bytes), quotas_(quotas), memory_(memory) {}

  // Before an upload comes: its owner's least recently used uploads go when that makes enough room. RESOURCE_EXHAUSTED:
  // UPLOAD_TOO_LARGE when it is larger than the store, or than an owner's share of it; UPLOAD_STORE_FULL, TENANT_QUOTA or
  // MEMORY_BUDGET when what others have, or the owner keeps elsewhere, leaves too little; then nothing has gone for it.
  absl::StatusOr<Room> MakeRoom(const std::string& owner, int64_t bytes);
  // Keeps what has come in the room that was made for it, for the same owner. INTERNAL when it has another size.
  absl::Status Add(const std::string& sha256, std::string file_name, std::string data, Room room);
  // By "upload:{sha256}". NOT_FOUND.
  absl::StatusOr<std::shared_ptr<const UploadedMesh>> Find(const std::string& owner, const std::string& reference);
  int64_t bytes() const;

 private:
  using Key = std::pair<std::string, std::string>;  // owner, SHA-256
  struct Entry {
    std::shared_ptr<const UploadedMesh> mesh;
    std::list<Key>::iterator age;
    Quotas::Hold hold;
  };
  struct Owned {
    std::list<Key> by_age;  // the most recently used first
    int64_t bytes = 0;
  };
  absl::Status CheckSize(int64_t bytes) const;
  // Require mutex_.
  absl::StatusOr<Room> TryRoom(const std::string& owner, int64_t bytes);
  bool WouldFitWithout(const std::string& owner, int64_t own_bytes, int64_t bytes) const;
  Entry EvictOldest(const std::string& owner);
  void Return(int64_t bytes);

  const int64_t max_bytes_;
  Quotas* const quotas_;
  const TenantMemory* const memory_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::map<Key, Entry> meshes_;
  std::map<std::string, Owned> owned_;  // of owners that have any
  int64_t bytes_ = 0;                   // with the rooms
};

}  // namespace eipc

#endif  // EIPC_SERVER_SESSION_MESH_STORE_H_
