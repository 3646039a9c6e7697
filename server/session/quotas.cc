#include "server/session/quotas.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "server/session/server_limits.h"
#include "sim/base/status_macros.h"

namespace eipc {
namespace {

constexpr const char* kNames[kResources] = {"sessions",           "scenes",     "bytes of uploads",    "snapshots",
                                            "bytes of snapshots", "operations", "bytes of recordings", "bytes of memory",
                                            "running jobs"};

int Index(Resource resource) { return static_cast<int>(resource); }

}  // namespace

ResourceAmounts TenantShares(const ServerLimits& limits, int tenants) {
  ResourceAmounts whole = {};
  whole[Index(Resource::kSessions)] = limits.max_sessions;
  whole[Index(Resource::kScenes)] = limits.max_scenes;
  whole[Index(Resource::kUploadBytes)] = limits.most_upload_bytes();
  whole[Index(Resource::kSnapshots)] = limits.max_snapshots;
  whole[Index(Resource::kSnapshotBytes)] = limits.max_snapshot_bytes;
  whole[Index(Resource::kOperations)] = limits.max_operations;
  whole[Index(Resource::kRecordingBytes)] = limits.max_recordings_bytes;
  whole[Index(Resource::kMemoryBytes)] = limits.memory_bytes > 0 ? limits.memory_bytes : std::numeric_limits<int64_t>::max();
  whole[Index(Resource::kJobs)] = limits.job_slots;
  ResourceAmounts amounts = {};
  for (int i = 0; i < kResources; ++i) {
    const bool unbounded = whole[i] == std::numeric_limits<int64_t>::max();
    const int64_t share = unbounded ? whole[i] : std::max<int64_t>(1, whole[i] / std::max(1, tenants));
    amounts[i] = limits.tenant[i] > 0 ? limits.tenant[i] : share;
  }
  return amounts;
}

Quotas::Hold& Quotas::Hold::operator=(Hold&& other) noexcept {
  if (this != &other) {
    Return();
    quotas_ = std::exchange(other.quotas_, nullptr);
    tenant_ = std::move(other.tenant_);
    resource_ = other.resource_;
    amount_ = std::exchange(other.amount_, 0);
  }
  return *this;
}

absl::Status Quotas::Hold::Grow(int64_t more) {
  if (quotas_ == nullptr) return absl::OkStatus();
  EIPC_RETURN_IF_ERROR(quotas_->Add(tenant_, resource_, more));
  amount_ += more;
  return absl::OkStatus();
}

void Quotas::Hold::SetTo(int64_t amount) {
  if (quotas_ == nullptr) return;
  if (amount < amount_) return Shrink(amount_ - amount);
  quotas_->AddAnyway(tenant_, resource_, amount - amount_);
  amount_ = amount;
}

void Quotas::Hold::Shrink(int64_t less) {
  if (quotas_ == nullptr) return;
  const int64_t given = std::min(less, amount_);
  quotas_->Subtract(tenant_, resource_, given);
  amount_ -= given;
}

void Quotas::Hold::Return() {
  if (quotas_ != nullptr) std::exchange(quotas_, nullptr)->Subtract(tenant_, resource_, amount_);
}

void Quotas::Set(const ResourceAmounts& amounts) {
  const std::lock_guard<std::mutex> lock(mutex_);
  amounts_ = amounts;
}

int64_t Quotas::Held(const std::string& tenant, Resource resource) const {
  const auto found = held_.find(tenant);
  return found == held_.end() ? 0 : found->second[Index(resource)];
}

absl::Status Quotas::Refusal(const std::string& tenant, Resource resource, int64_t amount) const {
  const int64_t held = Held(tenant, resource), limit = amounts_[Index(resource)];
  if (amount <= limit - held) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat("TENANT_QUOTA: ", amount, " more ", kNames[Index(resource)], ": you hold ", held,
                                                   " of the ", limit, " that one tenant may; delete some first"));
}

absl::Status Quotas::Add(const std::string& tenant, Resource resource, int64_t amount) {
  const std::lock_guard<std::mutex> lock(mutex_);
  EIPC_RETURN_IF_ERROR(Refusal(tenant, resource, amount));
  if (amount > 0) held_[tenant][Index(resource)] += amount;
  return absl::OkStatus();
}

void Quotas::AddAnyway(const std::string& tenant, Resource resource, int64_t amount) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (amount > 0) held_[tenant][Index(resource)] += amount;
}

void Quotas::Subtract(const std::string& tenant, Resource resource, int64_t amount) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = held_.find(tenant);
  if (found == held_.end()) return;
  found->second[Index(resource)] -= amount;
  if (std::all_of(found->second.begin(), found->second.end(), [](int64_t held) { return held == 0; })) held_.erase(found);
}

absl::StatusOr<Quotas::Hold> Quotas::Take(const std::string& tenant, Resource resource, int64_t amount) {
  EIPC_RETURN_IF_ERROR(Add(tenant, resource, amount));
  return Hold(this, tenant, resource, amount);
}

Quotas::Hold Quotas::Record(const std::string& tenant, Resource resource, int64_t amount) {
  AddAnyway(tenant, resource, amount);
  return Hold(this, tenant, resource, amount);
}

absl::Status Quotas::Check(const std::string& tenant, Resource resource, int64_t amount) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return Refusal(tenant, resource, amount);
}

int64_t Quotas::limit(Resource resource) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return amounts_[Index(resource)];
}

int64_t Quotas::held(const std::string& tenant, Resource resource) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return Held(tenant, resource);
}

}  // namespace eipc
