#include "server/session/mesh_store.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "server/session/ids.h"

namespace eipc {

absl::Status MeshStore::CheckSize(int64_t bytes) const {
  if (bytes <= max_bytes_) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat("UPLOAD_TOO_LARGE: ", bytes, " bytes; the server keeps at most ", max_bytes_));
}

absl::Status MeshStore::Add(const std::string& owner, const std::string& sha256, UploadedMesh mesh) {
  const int64_t size = static_cast<int64_t>(mesh.data.size());
  if (const absl::Status status = CheckSize(size); !status.ok()) return status;
  const Key key(owner, sha256);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (const auto found = meshes_.find(key); found != meshes_.end()) {
    by_age_.splice(by_age_.begin(), by_age_, found->second.age);
    return absl::OkStatus();
  }
  while (bytes_ + size > max_bytes_) {
    const auto oldest = meshes_.find(by_age_.back());
    bytes_ -= static_cast<int64_t>(oldest->second.mesh->data.size());
    meshes_.erase(oldest);
    by_age_.pop_back();
  }
  by_age_.push_front(key);
  meshes_[key] = {std::make_shared<const UploadedMesh>(std::move(mesh)), by_age_.begin()};
  bytes_ += size;
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const UploadedMesh>> MeshStore::Find(const std::string& owner, const std::string& reference) {
  const Key key(owner, reference.substr(std::min(reference.size(), sizeof(kUploadPrefix) - 1)));
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = meshes_.find(key);
  if (found == meshes_.end()) {
    return absl::NotFoundError(
        absl::StrCat("MESH_NOT_FOUND: no mesh was uploaded as '", Printable(reference), "', or it has made room since"));
  }
  by_age_.splice(by_age_.begin(), by_age_, found->second.age);
  return found->second.mesh;
}

int64_t MeshStore::bytes() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return bytes_;
}

}  // namespace eipc
