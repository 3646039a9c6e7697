#ifndef EIPC_SERVER_RPC_LISTEN_CALL_GATE_H_
#define EIPC_SERVER_RPC_LISTEN_CALL_GATE_H_

#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace eipc::rpc {

// Bounds how many are inside at once: in all, and of one tenant, so that no tenant keeps the others out. Viewers, who read only,
// have at most half of their tenant's places, so that they never keep its operators out.
//
// Invariant: no call waits that could be inside. Those that wait enter in order of arrival, except that a tenant at its own bound
// lets others pass.
class CallGate {
 public:
  // A place inside, given back when destroyed.
  class Place {
   public:
    Place() = default;
    Place(Place&& other) noexcept
        : gate_(std::exchange(other.gate_, nullptr)), tenant_(std::move(other.tenant_)), viewer_(other.viewer_) {}
    Place& operator=(Place&& other) noexcept {
      if (this != &other) {
        Leave();
        gate_ = std::exchange(other.gate_, nullptr);
        tenant_ = std::move(other.tenant_);
        viewer_ = other.viewer_;
      }
      return *this;
    }
    ~Place() { Leave(); }
    bool held() const { return gate_ != nullptr; }
    void Leave() {
      if (gate_ != nullptr) std::exchange(gate_, nullptr)->Leave(tenant_, viewer_);
    }

   private:
    friend class CallGate;
    Place(CallGate* gate, std::string tenant, bool viewer) : gate_(gate), tenant_(std::move(tenant)), viewer_(viewer) {}
    CallGate* gate_ = nullptr;
    std::string tenant_;
    bool viewer_ = false;
  };
  using Entered = std::function<void(Place)>;

  CallGate(int most, int most_per_tenant) : most_(most), most_per_tenant_(most_per_tenant) {}
  CallGate(const CallGate&) = delete;
  CallGate& operator=(const CallGate&) = delete;

  // Absent when there is no room.
  std::optional<Place> TryEnter(const std::string& tenant, bool viewer = false);
  // Calls `entered` at once, or later on the thread of a call that leaves. It must not block.
  void Enter(const std::string& tenant, bool viewer, Entered entered);

  int inside() const;
  int waiting() const;

 private:
  struct Waiter {
    std::string tenant;
    bool viewer = false;
    Entered entered;
  };
  struct Inside {
    int all = 0;
    int viewers = 0;
  };
  // These require mutex_.
  bool HasRoom(const std::string& tenant, bool viewer) const;
  void Count(const std::string& tenant, bool viewer);

  void Leave(const std::string& tenant, bool viewer);

  const int most_;
  const int most_per_tenant_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::map<std::string, Inside> inside_;  // tenants with a call inside
  std::list<Waiter> waiting_;
  int count_ = 0;
};

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_LISTEN_CALL_GATE_H_
