#include "server/session/kept_memory.h"

#include <algorithm>
#include <limits>

#include "sim/base/status_macros.h"

namespace eipc {

absl::Status KeptMemory::Grow(int64_t bytes, const std::string& what) {
  const int64_t before = share_.bytes();
  EIPC_RETURN_IF_ERROR(share_.Grow(bytes, what));
  const absl::Status held = hold_.Grow(bytes);
  if (!held.ok()) share_.ShrinkTo(before);
  return held;
}

void KeptMemory::SetTo(int64_t bytes) {
  if (bytes == share_.bytes()) return;
  share_.SetTo(bytes);
  hold_.SetTo(bytes);
}

absl::StatusOr<KeptMemory> TenantMemory::Take(const std::string& tenant, int64_t bytes, const std::string& what) const {
  EIPC_ASSIGN_OR_RETURN(MemoryBudget::Share share, budget_->TakeForMessage(bytes, what));
  return Keep(tenant, std::move(share));
}

KeptMemory TenantMemory::Record(const std::string& tenant, int64_t bytes) const {
  return KeepAnyway(tenant, budget_->Record(bytes));
}

absl::StatusOr<KeptMemory> TenantMemory::Keep(const std::string& tenant, MemoryBudget::Share share) const {
  EIPC_ASSIGN_OR_RETURN(Quotas::Hold hold, quotas_->Take(tenant, Resource::kMemoryBytes, share.bytes()));
  return KeptMemory(std::move(share), std::move(hold));
}

KeptMemory TenantMemory::KeepAnyway(const std::string& tenant, MemoryBudget::Share share) const {
  Quotas::Hold hold = quotas_->Record(tenant, Resource::kMemoryBytes, share.bytes());
  return KeptMemory(std::move(share), std::move(hold));
}

int64_t TenantMemory::left(const std::string& tenant) const {
  const int64_t total = budget_->total();
  const int64_t of_all = total > 0 ? total - budget_->used() : std::numeric_limits<int64_t>::max();
  return std::min(of_all, quotas_->limit(Resource::kMemoryBytes) - quotas_->held(tenant, Resource::kMemoryBytes));
}

}  // namespace eipc
