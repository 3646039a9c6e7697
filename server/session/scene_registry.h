#ifndef EIPC_SERVER_SESSION_SCENE_REGISTRY_H_
#define EIPC_SERVER_SESSION_SCENE_REGISTRY_H_

#include <atomic>
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
#include "server/session/memory_budget.h"
#include "server/session/quotas.h"

namespace eipc {

struct Model;

inline constexpr char kScenePrefix[] = "scenes/";

// A compiled scene and the message it came from (opaque here). Immutable.
struct StoredScene {
  std::string name;  // "scenes/{digest}"
  std::shared_ptr<const Model> model;
  std::string payload;
  // Whose it is; to everyone else it does not exist.
  std::string owner;
  // Memory that was set aside for model and payload, given back with the last who holds the scene.
  std::shared_ptr<const KeptMemory> memory = nullptr;
  // By which snapshots know it of builds that did not name materials or coarse spaces in what they stored.
  std::vector<std::string> former_names = {};

  int64_t EstimatedBytes() const { return EstimateModelBytes(*model) + static_cast<int64_t>(payload.size()); }
};

// Immutable scenes under content-addressed names: the same content is the same scene (of each owner).
//
// Invariant: a scene with pins (sessions that run it) is not deleted.
class SceneRegistry {
 private:
  struct Entry {
    explicit Entry(StoredScene s) : scene(std::move(s)) {}
    const StoredScene scene;
    Quotas::Hold hold;
    // Grows only under the registry's lock, falls any time.
    std::atomic<int> pins = 0;
  };

 public:
  // Keeps a scene from being deleted.
  class Pin {
   public:
    Pin() = default;
    Pin(Pin&& other) noexcept : entry_(std::move(other.entry_)), keeps_(std::exchange(other.keeps_, false)) {}
    Pin& operator=(Pin&& other) noexcept {
      Release();
      entry_ = std::move(other.entry_);
      keeps_ = std::exchange(other.keeps_, false);
      return *this;
    }
    ~Pin() { Release(); }
    const StoredScene& operator*() const { return entry_->scene; }
    const StoredScene* operator->() const { return &entry_->scene; }
    // The scene may be deleted from here on; it can be read through this pin all the same.
    void Release() {
      if (std::exchange(keeps_, false)) entry_->pins.fetch_sub(1, std::memory_order_acq_rel);
    }

   private:
    friend class SceneRegistry;
    explicit Pin(std::shared_ptr<Entry> entry) : entry_(std::move(entry)), keeps_(true) {}
    std::shared_ptr<Entry> entry_;
    bool keeps_ = false;
  };
  using ScenePtr = std::shared_ptr<const StoredScene>;

  // `quotas` may be null: tenants have none.
  SceneRegistry(int max_scenes, int64_t max_payload_bytes, Quotas* quotas = nullptr)
      : max_scenes_(max_scenes), max_payload_bytes_(max_payload_bytes), quotas_(quotas) {}

  // Stores a scene, or finds that it is there already. RESOURCE_EXHAUSTED when there is no room, or its owner has its share; a
  // scene that comes back from a server before this one has a share by right.
  absl::StatusOr<ScenePtr> Add(StoredScene scene, bool comes_back = false);
  // Whether a scene with a payload of this size would fit: to refuse before compiling it.
  absl::Status CheckRoom(int64_t payload_bytes, const std::string& owner = "") const;
  // NOT_FOUND.
  absl::StatusOr<ScenePtr> Find(const std::string& name, const std::string& owner = "") const;
  absl::StatusOr<Pin> PinScene(const std::string& name, const std::string& owner = "");
  // NOT_FOUND, or FAILED_PRECONDITION while sessions run it.
  absl::Status Delete(const std::string& name, const std::string& owner = "");
  // At most `count` scenes with names after `after`, in order of their names.
  std::vector<ScenePtr> List(const std::string& after, int count, const std::string& owner = "") const;
  int size() const;

 private:
  using Key = std::pair<std::string, std::string>;  // owner, name
  static ScenePtr Share(const std::shared_ptr<Entry>& entry) { return ScenePtr(entry, &entry->scene); }
  absl::Status RoomFor(int64_t payload_bytes) const;

  const int max_scenes_;
  const int64_t max_payload_bytes_;
  Quotas* const quotas_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::map<Key, std::shared_ptr<Entry>> scenes_;
  int64_t payload_bytes_ = 0;
};

}  // namespace eipc

#endif  // EIPC_SERVER_SESSION_SCENE_REGISTRY_H_
