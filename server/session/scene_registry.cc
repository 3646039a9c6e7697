#include "server/session/scene_registry.h"

#include "absl/strings/str_cat.h"
#include "server/session/ids.h"
#include "sim/base/status_macros.h"

namespace eipc {
namespace {

absl::Status SceneNotFound(const std::string& name) {
  return absl::NotFoundError(absl::StrCat("SCENE_NOT_FOUND: no scene named '", Printable(name), "'"));
}

}  // namespace

absl::Status SceneRegistry::RoomFor(int64_t payload_bytes) const {
  if (static_cast<int>(scenes_.size()) >= max_scenes_) {
    return absl::ResourceExhaustedError(
        absl::StrCat("TOO_MANY_SCENES: the server holds at most ", max_scenes_, "; delete one first"));
  }
  if (payload_bytes > max_payload_bytes_ - payload_bytes_) {
    return absl::ResourceExhaustedError(absl::StrCat("SCENE_STORE_FULL: ", payload_bytes, " bytes do not fit beside the ",
                                                     payload_bytes_, " of ", max_payload_bytes_, " in use; delete a scene first"));
  }
  return absl::OkStatus();
}

absl::Status SceneRegistry::CheckRoom(int64_t payload_bytes, const std::string& owner) const {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    EIPC_RETURN_IF_ERROR(RoomFor(payload_bytes));
  }
  return quotas_ == nullptr ? absl::OkStatus() : quotas_->Check(owner, Resource::kScenes);
}

absl::StatusOr<SceneRegistry::ScenePtr> SceneRegistry::Add(StoredScene scene, bool comes_back) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Key key(scene.owner, scene.name);
  if (const auto found = scenes_.find(key); found != scenes_.end()) return Share(found->second);
  const int64_t bytes = static_cast<int64_t>(scene.payload.size());
  if (absl::Status room = RoomFor(bytes); !room.ok()) return room;
  Quotas::Hold hold;
  if (quotas_ != nullptr && comes_back) {
    hold = quotas_->Record(scene.owner, Resource::kScenes);
  } else if (quotas_ != nullptr) {
    EIPC_ASSIGN_OR_RETURN(hold, quotas_->Take(scene.owner, Resource::kScenes));
  }
  const auto entry = std::make_shared<Entry>(std::move(scene));
  entry->hold = std::move(hold);
  scenes_.emplace(key, entry);
  payload_bytes_ += bytes;
  return Share(entry);
}

absl::StatusOr<SceneRegistry::ScenePtr> SceneRegistry::Find(const std::string& name, const std::string& owner) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = scenes_.find(Key(owner, name));
  if (found == scenes_.end()) return SceneNotFound(name);
  return Share(found->second);
}

absl::StatusOr<SceneRegistry::Pin> SceneRegistry::PinScene(const std::string& name, const std::string& owner) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = scenes_.find(Key(owner, name));
  if (found == scenes_.end()) return SceneNotFound(name);
  found->second->pins.fetch_add(1, std::memory_order_acq_rel);
  return Pin(found->second);
}

absl::Status SceneRegistry::Delete(const std::string& name, const std::string& owner) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = scenes_.find(Key(owner, name));
  if (found == scenes_.end()) return SceneNotFound(name);
  if (const int pins = found->second->pins.load(std::memory_order_acquire); pins > 0) {
    return absl::FailedPreconditionError(absl::StrCat("SCENE_IN_USE: ", pins, " session(s) run '", name, "'; delete them first"));
  }
  payload_bytes_ -= static_cast<int64_t>(found->second->scene.payload.size());
  found->second->hold = Quotas::Hold();  // a reader may still hold the scene
  scenes_.erase(found);
  return absl::OkStatus();
}

std::vector<SceneRegistry::ScenePtr> SceneRegistry::List(const std::string& after, int count, const std::string& owner) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<ScenePtr> result;
  for (auto it = scenes_.upper_bound(Key(owner, after)); it != scenes_.end() && it->first.first == owner; ++it) {
    if (static_cast<int>(result.size()) >= count) break;
    result.push_back(Share(it->second));
  }
  return result;
}

int SceneRegistry::size() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return static_cast<int>(scenes_.size());
}

}  // namespace eipc
