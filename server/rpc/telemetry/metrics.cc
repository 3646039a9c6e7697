#include "server/rpc/telemetry/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/exposer.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <cmath>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/rpc/telemetry/tenant_metrics.h"

namespace eipc::rpc {
namespace {

using prometheus::BuildCounter;
using prometheus::BuildHistogram;
using prometheus::Counter;
using prometheus::Family;
using prometheus::Histogram;

// A connection that says nothing keeps a thread for this long, and is then ended; connections that found no thread wait for one.
constexpr char kThreads[] = "8";
constexpr char kRequestTimeoutMs[] = "2000";

const Histogram::BucketBoundaries kSeconds = {1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2, 2.5e-2,
                                              5e-2, 0.1,    0.25, 0.5,  1,      2.5,  5,    10};
const Histogram::BucketBoundaries kIterations = {1, 2, 3, 5, 8, 12, 20, 30, 50, 100, 200};
const Histogram::BucketBoundaries kMeters = {1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 2e-3, 5e-3};

prometheus::MetricFamily& AddGauge(const std::string& name, std::vector<prometheus::MetricFamily>* families) {
  prometheus::MetricFamily& family = families->emplace_back();
  family.name = name;
  family.type = prometheus::MetricType::Gauge;
  return family;
}

// Values that others provide.
class GaugeSource : public prometheus::Collectable {
 public:
  // Before the first Collect.
  void CountTenants(TenantMetrics* tenants) { tenants_ = tenants; }
  void Set(Metrics::Gauges gauges, Metrics::Gauges tenant_sessions) {
    const std::lock_guard<std::mutex> lock(mutex_);
    gauges_ = std::move(gauges);
    tenant_sessions_ = std::move(tenant_sessions);
  }
  std::vector<prometheus::MetricFamily> Collect() const override {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<prometheus::MetricFamily> families;
    if (gauges_) {
      for (const auto& [name, value] : gauges_()) AddGauge(name, &families).metric.emplace_back().gauge.value = value;
    }
    if (tenants_ != nullptr && tenant_sessions_) {
      prometheus::MetricFamily& family = AddGauge("eipc_tenant_sessions", &families);
      for (const auto& [label, value] : tenants_->ByLabel(tenant_sessions_())) {
        prometheus::ClientMetric& metric = family.metric.emplace_back();
        metric.label = {{"tenant", label}};
        metric.gauge.value = value;
      }
    }
    return families;
  }

 private:
  TenantMetrics* tenants_ = nullptr;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  Metrics::Gauges gauges_;
  Metrics::Gauges tenant_sessions_;
};

std::string OutcomeReason(StepOutcome outcome) { return StepOutcomeName(outcome); }

}  // namespace

struct Metrics::Impl {
  std::shared_ptr<prometheus::Registry> registry = std::make_shared<prometheus::Registry>();
  std::shared_ptr<GaugeSource> gauges = std::make_shared<GaugeSource>();
  Family<Counter>& started = BuildCounter().Name("grpc_server_started_total").Help("Calls begun").Register(*registry);
  Family<Counter>& handled = BuildCounter().Name("grpc_server_handled_total").Help("Calls ended, by code").Register(*registry);
  Family<Histogram>& handling =
      BuildHistogram().Name("grpc_server_handling_seconds").Help("Time from a call's begin to its end").Register(*registry);
  Histogram& step_seconds = BuildHistogram()
                                .Name("eipc_step_seconds")
                                .Help("Time of a request's steps, waiting included")
                                .Register(*registry)
                                .Add({}, kSeconds);
  Histogram& iterations = BuildHistogram()
                              .Name("eipc_newton_iterations")
                              .Help("Newton iterations of a request's steps")
                              .Register(*registry)
                              .Add({}, kIterations);
  Histogram& distance = BuildHistogram()
                            .Name("eipc_min_distance_meters")
                            .Help("Smallest gap of a request's steps, where there was one")
                            .Register(*registry)
                            .Add({}, kMeters);
  Family<Counter>& limited = BuildCounter()
                                 .Name("eipc_step_limited_total")
                                 .Help("Requests that did not converge, or ended early, by reason")
                                 .Register(*registry);
  Counter& audits = BuildCounter().Name("eipc_audits_total").Help("Exact audits of a state").Register(*registry).Add({});
  Counter& intersections = BuildCounter()
                               .Name("eipc_intersections_total")
                               .Help("Intersections that audits found; must stay zero")
                               .Register(*registry)
                               .Add({});
  std::unique_ptr<TenantMetrics> tenants;        // null: not counted
  std::unique_ptr<prometheus::Exposer> exposer;  // last: asks the others
};

Metrics::Metrics() : impl_(std::make_unique<Impl>()) {}
Metrics::~Metrics() = default;

void Metrics::SetGauges(Gauges gauges, Gauges tenant_sessions) {
  impl_->gauges->Set(std::move(gauges), std::move(tenant_sessions));
}

void Metrics::CountTenants() {
  impl_->tenants = std::make_unique<TenantMetrics>(impl_->registry.get());
  impl_->gauges->CountTenants(impl_->tenants.get());
}

absl::Status Metrics::Expose(const std::string& address) {
  try {
    const std::vector<std::string> options = {"listening_ports",    address,           "num_threads",       kThreads,
                                              "request_timeout_ms", kRequestTimeoutMs, "enable_keep_alive", "no"};
    impl_->exposer = std::make_unique<prometheus::Exposer>(options);
    impl_->exposer->RegisterCollectable(impl_->registry);
    impl_->exposer->RegisterCollectable(impl_->gauges);
  } catch (const std::exception& error) {
    return absl::UnavailableError(absl::StrCat("cannot serve metrics on ", address, ": ", error.what()));
  }
  return absl::OkStatus();
}

void Metrics::CallStarted(const std::string& method) { impl_->started.Add({{"grpc_method", method}}).Increment(); }

void Metrics::CallHandled(const std::string& method, const std::string& code, double seconds) {
  impl_->handled.Add({{"grpc_method", method}, {"grpc_code", code}}).Increment();
  impl_->handling.Add({{"grpc_method", method}}, kSeconds).Observe(seconds);
}

void Metrics::TenantCalled(const std::string& tenant, const absl::Status& status) {
  if (impl_->tenants != nullptr) impl_->tenants->Called(tenant, status);
}

void Metrics::TenantStepped(const std::string& tenant, int steps, double seconds) {
  if (impl_->tenants != nullptr) impl_->tenants->Stepped(tenant, steps, seconds);
}

void Metrics::Stepped(const StepSummary& summary, double seconds) {
  impl_->step_seconds.Observe(seconds);
  impl_->iterations.Observe(summary.report.newton_iterations);
  if (std::isfinite(summary.report.min_distance_m)) impl_->distance.Observe(summary.report.min_distance_m);
  impl_->audits.Increment(static_cast<double>(summary.report.audit.states));
  impl_->intersections.Increment(static_cast<double>(summary.report.audit.intersections));
  if (summary.report.outcome != StepOutcome::kConverged) Limited(OutcomeReason(summary.report.outcome));
  if (summary.report.missed_targets > 0) Limited("target_not_reached");
}

void Metrics::Limited(const std::string& reason) { impl_->limited.Add({{"reason", reason}}).Increment(); }

std::string Metrics::Text() const {
  std::vector<prometheus::MetricFamily> families = impl_->registry->Collect();
  for (prometheus::MetricFamily& family : impl_->gauges->Collect()) families.push_back(std::move(family));
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace eipc::rpc
