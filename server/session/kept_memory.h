#ifndef EIPC_SERVER_SESSION_KEPT_MEMORY_H_
#define EIPC_SERVER_SESSION_KEPT_MEMORY_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/session/memory_budget.h"
#include "server/session/quotas.h"

namespace eipc {

// Memory that is kept for a tenant beyond the call that asked for it: it counts in the server's budget and in what the tenant may
// keep (Resource::kMemoryBytes), until destroyed. A default-constructed one has no owner and counts nowhere.
class KeptMemory {
 public:
  KeptMemory() = default;
  int64_t bytes() const { return share_.bytes(); }
  // Keeps this much more; RESOURCE_EXHAUSTED (MEMORY_BUDGET, TENANT_QUOTA) when it does not fit. `what` is for the message.
  absl::Status Grow(int64_t bytes, const std::string& what);
  // Records memory that is held already: it may exceed the bound.
  void SetTo(int64_t bytes);

 private:
  friend class TenantMemory;
  KeptMemory(MemoryBudget::Share share, Quotas::Hold hold) : share_(std::move(share)), hold_(std::move(hold)) {}
  MemoryBudget::Share share_;
  Quotas::Hold hold_;
};

// Hands it out. Outlives what it hands out.
class TenantMemory {
 public:
  TenantMemory(MemoryBudget* budget, Quotas* quotas) : budget_(budget), quotas_(quotas) {}
  // RESOURCE_EXHAUSTED (MEMORY_BUDGET, TENANT_QUOTA) when it does not fit.
  absl::StatusOr<KeptMemory> Take(const std::string& tenant, int64_t bytes, const std::string& what) const;
  // For what is there already: it may be more than fits.
  KeptMemory Record(const std::string& tenant, int64_t bytes) const;
  // Turns what a call has set aside into memory that is kept. RESOURCE_EXHAUSTED (TENANT_QUOTA) when it is more than the tenant may
  // keep.
  absl::StatusOr<KeptMemory> Keep(const std::string& tenant, MemoryBudget::Share share) const;
  // The same by right, for what a server before this one left.
  KeptMemory KeepAnyway(const std::string& tenant, MemoryBudget::Share share) const;
  // What may be taken at the moment: by anyone, or by the tenant when that is less.
  int64_t left(const std::string& tenant) const;

 private:
  MemoryBudget* const budget_;
  Quotas* const quotas_;
};

}  // namespace eipc

#endif  // EIPC_SERVER_SESSION_KEPT_MEMORY_H_
