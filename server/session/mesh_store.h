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

namespace eipc {

inline constexpr char kUploadPrefix[] = "upload:";

// A mesh file as it was uploaded.
struct UploadedMesh {
  std::string file_name;
  std::string data;
};

// Uploaded mesh files by owner and the SHA-256 of their bytes. When there is no room the least recently used go: scenes hold
// copies.
class MeshStore {
 public:
  explicit MeshStore(int64_t max_bytes) : max_bytes_(max_bytes) {}

  // RESOURCE_EXHAUSTED when it is larger than the store.
  absl::Status CheckSize(int64_t bytes) const;
  absl::Status Add(const std::string& owner, const std::string& sha256, UploadedMesh mesh);
  // By "upload:{sha256}". NOT_FOUND.
  absl::StatusOr<std::shared_ptr<const UploadedMesh>> Find(const std::string& owner, const std::string& reference);
  int64_t bytes() const;

 private:
  using Key = std::pair<std::string, std::string>;
  struct Entry {
    std::shared_ptr<const UploadedMesh> mesh;
    std::list<Key>::iterator age;
  };
  const int64_t max_bytes_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::map<Key, Entry> meshes_;
  std::list<Key> by_age_;  // the most recently used first
  int64_t bytes_ = 0;
};

}  // namespace eipc

#endif  // EIPC_SERVER_SESSION_MESH_STORE_H_
