#include "server/session/mesh_store.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "server/session/ids.h"

namespace eipc {

absl::Status MeshStore::CheckSize(int64_t bytes) const {
  const int64_t most = quotas_ == nullptr ? max_bytes_ : std::min(max_bytes_, quotas_->limit(Resource::kUploadBytes));
  if (bytes <= most) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("UPLOAD_TOO_LARGE: ", bytes, " bytes; the server keeps at most ", most, " for one tenant"));
}

absl::StatusOr<Quotas::Hold> MeshStore::MakeRoom(const std::string& owner, int64_t bytes) {
  const auto ages = by_age_.find(owner);
  while (true) {
    const bool fits = bytes <= max_bytes_ - bytes_;
    const bool may = quotas_ == nullptr || quotas_->Check(owner, Resource::kUploadBytes, bytes).ok();
    if (fits && may) return quotas_ == nullptr ? Quotas::Hold() : quotas_->Take(owner, Resource::kUploadBytes, bytes);
    if (ages == by_age_.end() || ages->second.empty()) break;
    const auto oldest = meshes_.find(ages->second.back());
    bytes_ -= static_cast<int64_t>(oldest->second.mesh->data.size());
    meshes_.erase(oldest);
    ages->second.pop_back();
  }
  return absl::ResourceExhaustedError(absl::StrCat("UPLOAD_STORE_FULL: ", bytes, " bytes do not fit beside the uploads of others, ",
                                                   bytes_, " of ", max_bytes_, "; try again later"));
}

absl::Status MeshStore::Add(const std::string& owner, const std::string& sha256, UploadedMesh mesh) {
  const int64_t size = static_cast<int64_t>(mesh.data.size());
  if (const absl::Status status = CheckSize(size); !status.ok()) return status;
  const Key key(owner, sha256);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (const auto found = meshes_.find(key); found != meshes_.end()) {
    std::list<Key>& ages = by_age_[owner];
    ages.splice(ages.begin(), ages, found->second.age);
    return absl::OkStatus();
  }
  absl::StatusOr<Quotas::Hold> hold = MakeRoom(owner, size);
  if (!hold.ok()) return hold.status();
  std::list<Key>& ages = by_age_[owner];
  ages.push_front(key);
  meshes_[key] = {std::make_shared<const UploadedMesh>(std::move(mesh)), ages.begin(), *std::move(hold)};
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
  std::list<Key>& ages = by_age_[owner];
  ages.splice(ages.begin(), ages, found->second.age);
  return found->second.mesh;
}

int64_t MeshStore::bytes() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return bytes_;
}

}  // namespace eipc
