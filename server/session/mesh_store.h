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
#include "server/session/quotas.h"

namespace eipc {

inline constexpr char kUploadPrefix[] = "upload:";

// A mesh file as it was uploaded.
struct UploadedMesh {
  std::string file_name;
  std::string data;
};

// Uploaded mesh files by owner and the SHA-256 of their bytes. When an owner has no room for another, its least recently used go:
// scenes hold copies. Nobody's go for somebody else's.
class MeshStore {
 public:
  // `quotas` may be null: owners have none.
  explicit MeshStore(int64_t max_bytes, Quotas* quotas = nullptr) : max_bytes_(max_bytes), quotas_(quotas) {}

  // RESOURCE_EXHAUSTED (UPLOAD_TOO_LARGE) when it is larger than the store, or than an owner's share of it.
  absl::Status CheckSize(int64_t bytes) const;
  // RESOURCE_EXHAUSTED (UPLOAD_STORE_FULL) when the others' uploads leave no room for it.
  absl::Status Add(const std::string& owner, const std::string& sha256, UploadedMesh mesh);
  // By "upload:{sha256}". NOT_FOUND.
  absl::StatusOr<std::shared_ptr<const UploadedMesh>> Find(const std::string& owner, const std::string& reference);
  int64_t bytes() const;

 private:
  using Key = std::pair<std::string, std::string>;
  struct Entry {
    std::shared_ptr<const UploadedMesh> mesh;
    std::list<Key>::iterator age;
    Quotas::Hold hold;
  };
  // Requires mutex_.
  absl::StatusOr<Quotas::Hold> MakeRoom(const std::string& owner, int64_t bytes);

  const int64_t max_bytes_;
  Quotas* const quotas_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::map<Key, Entry> meshes_;
  std::map<std::string, std::list<Key>> by_age_;  // of each owner, the most recently used first
  int64_t bytes_ = 0;
};

}  // namespace eipc

#endif  // EIPC_SERVER_SESSION_MESH_STORE_H_
