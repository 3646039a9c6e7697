#ifndef EIPC_SERVER_RPC_TELEMETRY_METRICS_H_
#define EIPC_SERVER_RPC_TELEMETRY_METRICS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "server/session/session.h"

namespace eipc::rpc {

// What the server counts, in the words of Prometheus (docs/howto/operations.md lists them all). Thread-safe.
class Metrics {
 public:
  // Values that are evaluated at each scrape, by metric name.
  using Gauges = std::function<std::map<std::string, double>()>;

  Metrics();
  ~Metrics();

  // `tenant_sessions`: how many each tenant has; asked only where tenants are counted, may be empty.
  void SetGauges(Gauges gauges, Gauges tenant_sessions = nullptr);
  // Counts by tenant too, from now on (tenant_metrics.h). Before the first call.
  void CountTenants();
  // Serves http://ADDRESS/metrics. UNAVAILABLE when it cannot listen there.
  absl::Status Expose(const std::string& address);

  // Calls, by method name ("Step").
  void CallStarted(const std::string& method);
  void CallHandled(const std::string& method, const std::string& code, double seconds);
  // The same call once more, of a caller that was let in.
  void TenantCalled(const std::string& tenant, const absl::Status& status);
  // A request of steps, finished or not.
  void TenantStepped(const std::string& tenant, int steps, double seconds);
  // A finished request of steps, and one that was not finished or not converged, by reason.
  void Stepped(const StepSummary& summary, double seconds);
  void Limited(const std::string& reason);

  // The text of /metrics.
  std::string Text() const;

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_TELEMETRY_METRICS_H_
