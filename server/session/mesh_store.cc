#include "server/session/mesh_store.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "server/session/ids.h"
#include "sim/base/status_macros.h"

namespace eipc {

namespace {

// Uploads count with the sizes of their files; names and lists take some more, of small files more than these.
constexpr size_t kMostOfTenant = 4096;

}  // namespace

absl::Status MeshStore::CheckSize(int64_t bytes) const {
  const int64_t most = quotas_ == nullptr ? max_bytes_ : std::min(max_bytes_, quotas_->limit(Resource::kUploadBytes));
  if (bytes <= most) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("UPLOAD_TOO_LARGE: ", bytes, " bytes; the server keeps at most ", most, " for one tenant"));
}

absl::StatusOr<MeshStore::Room> MeshStore::TryRoom(const std::string& owner, int64_t bytes) {
  if (bytes > max_bytes_ - bytes_) {
    return absl::ResourceExhaustedError(absl::StrCat("UPLOAD_STORE_FULL: ", bytes,
                                                     " bytes do not fit beside the uploads of others, ", bytes_, " of ", max_bytes_,
                                                     "; try again later"));
  }
  Quotas::Hold hold;
  if (quotas_ != nullptr) {
    EIPC_ASSIGN_OR_RETURN(hold, quotas_->Take(owner, Resource::kUploadBytes, bytes));
  }
  KeptMemory memory;
  if (memory_ != nullptr) {
    EIPC_ASSIGN_OR_RETURN(memory, memory_->Take(owner, bytes, "the upload"));
  }
  bytes_ += bytes;
  return Room(this, owner, bytes, std::move(hold), std::move(memory));
}

bool MeshStore::WouldFitWithout(const std::string& owner, int64_t own_bytes, int64_t bytes) const {
  const int64_t more = bytes - own_bytes;
  return more <= max_bytes_ - bytes_ && (quotas_ == nullptr || quotas_->Check(owner, Resource::kUploadBytes, more).ok()) &&
         (memory_ == nullptr || more <= memory_->left(owner));
}

MeshStore::Entry MeshStore::EvictOldest(const std::string& owner) {
  const auto owned = owned_.find(owner);
  const auto oldest = meshes_.find(owned->second.by_age.back());
  Entry entry = std::move(oldest->second);
  const int64_t bytes = static_cast<int64_t>(entry.mesh->data.size());
  bytes_ -= bytes;
  meshes_.erase(oldest);
  owned->second.by_age.pop_back();
  owned->second.bytes -= bytes;
  if (owned->second.by_age.empty()) owned_.erase(owned);
  return entry;
}

absl::StatusOr<MeshStore::Room> MeshStore::MakeRoom(const std::string& owner, int64_t bytes) {
  EIPC_RETURN_IF_ERROR(CheckSize(bytes));
  while (true) {
    Entry evicted;  // is destroyed, with its memory, before the next attempt, and without the lock
    const std::lock_guard<std::mutex> lock(mutex_);
    absl::StatusOr<Room> room = TryRoom(owner, bytes);
    const auto owned = owned_.find(owner);
    if (room.ok() || owned == owned_.end() || owned->second.by_age.empty()) return room;
    if (!WouldFitWithout(owner, owned->second.bytes, bytes)) return room;
    evicted = EvictOldest(owner);
  }
}

MeshStore::Room::~Room() {
  if (store_ != nullptr) store_->Return(bytes_);
}

void MeshStore::Return(int64_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  bytes_ -= bytes;
}

absl::Status MeshStore::Add(const std::string& sha256, std::string file_name, std::string data, Room room) {
  if (static_cast<int64_t>(data.size()) != room.bytes_) {
    return absl::InternalError(absl::StrCat("room was made for ", room.bytes_, " bytes, not for ", data.size()));
  }
  const Key key(room.owner_, sha256);
  auto mesh = std::make_shared<const UploadedMesh>(UploadedMesh{std::move(file_name), std::move(data), std::move(room.memory_)});
  std::list<Key> age = {key};
  Entry evicted;  // is destroyed, with its memory, without the lock
  const std::lock_guard<std::mutex> lock(mutex_);
  Owned& owned = owned_[key.first];
  if (const auto found = meshes_.find(key); found != meshes_.end()) {
    owned.by_age.splice(owned.by_age.begin(), owned.by_age, found->second.age);
    return absl::OkStatus();
  }
  meshes_.emplace(key, Entry{std::move(mesh), age.begin(), std::move(room.hold_)});
  owned.by_age.splice(owned.by_age.begin(), age);
  owned.bytes += room.bytes_;
  room.store_ = nullptr;  // the room is taken
  if (owned.by_age.size() > kMostOfTenant) evicted = EvictOldest(key.first);
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
  std::list<Key>& ages = owned_[owner].by_age;
  ages.splice(ages.begin(), ages, found->second.age);
  return found->second.mesh;
}

int64_t MeshStore::bytes() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return bytes_;
}

}  // namespace eipc
