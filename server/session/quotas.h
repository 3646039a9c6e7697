#ifndef EIPC_SERVER_SESSION_QUOTAS_H_
#define EIPC_SERVER_SESSION_QUOTAS_H_

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace eipc {

struct ServerLimits;

// Resources of which a tenant's share is bounded.
enum class Resource {
  kSessions,
  kScenes,
  kUploadBytes,
  kSnapshots,
  kSnapshotBytes,
  kOperations,
  kRecordingBytes,
  kMemoryBytes,
  kJobs,  // job slots (server/session/solve_slots.h) held at once; further jobs wait instead of being refused
};
inline constexpr int kResources = 9;

// An amount of each resource, by its number.
using ResourceAmounts = std::array<int64_t, kResources>;

// What one tenant may hold: what is set for it, else a fair part of what the server holds among `tenants` of them (at least 1).
ResourceAmounts TenantShares(const ServerLimits& limits, int tenants);

// What each tenant holds, for all registries, and how much it may. Every tenant may hold the same.
//
// Invariant: what is held is the sum of the holds that live. Holds outlive a quota that is lowered: only new ones are refused.
class Quotas {
 public:
  // An amount that a tenant holds, until destroyed. Must not outlive the quotas.
  class Hold {
   public:
    Hold() = default;
    Hold(Hold&& other) noexcept
        : quotas_(std::exchange(other.quotas_, nullptr)),
          tenant_(std::move(other.tenant_)),
          resource_(other.resource_),
          amount_(std::exchange(other.amount_, 0)) {}
    Hold& operator=(Hold&& other) noexcept;
    ~Hold() { Return(); }
    // Holds this much more; RESOURCE_EXHAUSTED (TENANT_QUOTA) beyond the quota. A hold without a tenant always may.
    absl::Status Grow(int64_t more);
    // Records what is held already: it may exceed the quota. A hold without a tenant stays as it is.
    void SetTo(int64_t amount);
    // Gives back this much, at most all.
    void Shrink(int64_t less);
    int64_t amount() const { return amount_; }

   private:
    friend class Quotas;
    Hold(Quotas* quotas, std::string tenant, Resource resource, int64_t amount)
        : quotas_(quotas), tenant_(std::move(tenant)), resource_(resource), amount_(amount) {}
    void Return();
    Quotas* quotas_ = nullptr;
    std::string tenant_;
    Resource resource_ = Resource::kSessions;
    int64_t amount_ = 0;
  };

  // Amounts have no bound until Set.
  Quotas() { amounts_.fill(std::numeric_limits<int64_t>::max()); }
  explicit Quotas(const ResourceAmounts& amounts) : amounts_(amounts) {}
  Quotas(const Quotas&) = delete;
  Quotas& operator=(const Quotas&) = delete;

  // From now on. What is held already stays.
  void Set(const ResourceAmounts& amounts);

  // RESOURCE_EXHAUSTED (TENANT_QUOTA) when the tenant would hold more than it may.
  absl::StatusOr<Hold> Take(const std::string& tenant, Resource resource, int64_t amount = 1);
  // For what is there already, such as what a server before this one left: it may be more than the quota.
  Hold Record(const std::string& tenant, Resource resource, int64_t amount = 1);
  // Whether it would be given: to refuse before work is done for it.
  absl::Status Check(const std::string& tenant, Resource resource, int64_t amount = 1) const;

  int64_t limit(Resource resource) const;
  int64_t held(const std::string& tenant, Resource resource) const;

 private:
  absl::Status Refusal(const std::string& tenant, Resource resource, int64_t amount) const;  // requires mutex_
  absl::Status Add(const std::string& tenant, Resource resource, int64_t amount);
  void AddAnyway(const std::string& tenant, Resource resource, int64_t amount);
  void Subtract(const std::string& tenant, Resource resource, int64_t amount);
  int64_t Held(const std::string& tenant, Resource resource) const;  // requires mutex_

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  ResourceAmounts amounts_;
  std::map<std::string, ResourceAmounts> held_;  // of tenants that hold anything
};

}  // namespace eipc

#endif  // EIPC_SERVER_SESSION_QUOTAS_H_
