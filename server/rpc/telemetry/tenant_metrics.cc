#include "server/rpc/telemetry/tenant_metrics.h"

#include <prometheus/counter.h>
#include <prometheus/registry.h>

#include "absl/strings/match.h"

namespace eipc::rpc {
namespace {

using prometheus::BuildCounter;

constexpr char kOther[] = "other";
constexpr char kQuotaReason[] = "TENANT_QUOTA";

}  // namespace

TenantMetrics::TenantMetrics(prometheus::Registry* registry, size_t most_tenants)
    : most_tenants_(most_tenants),
      calls_(BuildCounter().Name("eipc_tenant_calls_total").Help("Calls ended, by tenant and code").Register(*registry)),
      over_quota_(BuildCounter()
                      .Name("eipc_tenant_over_quota_total")
                      .Help("Calls refused because the tenant holds as much as it may")
                      .Register(*registry)),
      steps_(BuildCounter().Name("eipc_tenant_steps_total").Help("Steps taken").Register(*registry)),
      step_seconds_(BuildCounter()
                        .Name("eipc_tenant_step_seconds_total")
                        .Help("Time of requests of steps, waiting included")
                        .Register(*registry)) {}

std::string TenantMetrics::Label(const std::string& tenant) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (labelled_.count(tenant) > 0) return tenant;
  if (labelled_.size() >= most_tenants_) return kOther;
  labelled_.insert(tenant);
  return tenant;
}

std::map<std::string, double> TenantMetrics::ByLabel(const std::map<std::string, double>& by_tenant) {
  std::map<std::string, double> by_label;
  for (const auto& [tenant, value] : by_tenant) by_label[Label(tenant)] += value;
  return by_label;
}

void TenantMetrics::Called(const std::string& tenant, const absl::Status& status) {
  const std::string label = Label(tenant);
  calls_.Add({{"tenant", label}, {"grpc_code", absl::StatusCodeToString(status.code())}}).Increment();
  if (absl::StartsWith(status.message(), kQuotaReason)) over_quota_.Add({{"tenant", label}}).Increment();
}

void TenantMetrics::Stepped(const std::string& tenant, int steps, double seconds) {
  const std::string label = Label(tenant);
  steps_.Add({{"tenant", label}}).Increment(steps);
  step_seconds_.Add({{"tenant", label}}).Increment(seconds);
}

}  // namespace eipc::rpc
