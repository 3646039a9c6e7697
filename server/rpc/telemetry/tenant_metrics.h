#ifndef EIPC_SERVER_RPC_TELEMETRY_TENANT_METRICS_H_
#define EIPC_SERVER_RPC_TELEMETRY_TENANT_METRICS_H_

#include <cstddef>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "absl/status/status.h"

namespace prometheus {
class Counter;
class Registry;
template <typename T>
class Family;
}  // namespace prometheus

namespace eipc::rpc {

// Counters by tenant. However many tenants there are, the number of series is bounded: the first that are seen have their own, the
// others share "other". Thread-safe.
class TenantMetrics {
 public:
  static constexpr size_t kMostTenants = 64;

  explicit TenantMetrics(prometheus::Registry* registry, size_t most_tenants = kMostTenants);

  // A call that was let in, with its status in the words of the wire.
  void Called(const std::string& tenant, const absl::Status& status);
  void Stepped(const std::string& tenant, int steps, double seconds);
  // The label that stands for a tenant, the same for ever.
  std::string Label(const std::string& tenant);
  // Values by tenant as values by label.
  std::map<std::string, double> ByLabel(const std::map<std::string, double>& by_tenant);

 private:
  const size_t most_tenants_;
  prometheus::Family<prometheus::Counter>& calls_;
  prometheus::Family<prometheus::Counter>& over_quota_;
  prometheus::Family<prometheus::Counter>& steps_;
  prometheus::Family<prometheus::Counter>& step_seconds_;
  std::mutex mutex_;
  std::set<std::string> labelled_;  // guarded by mutex_
};

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_TELEMETRY_TENANT_METRICS_H_
