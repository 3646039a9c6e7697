#include "server/rpc/listen/call.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/rpc/handlers/audit_call.h"
#include "server/rpc/handlers/reason.h"
#include "server/rpc/listen/caller_identity.h"
#include "server/session/ids.h"

namespace eipc::rpc {
namespace {

constexpr char kRequestIdKey[] = "x-request-id";
constexpr char kTraceparentKey[] = "traceparent";
constexpr size_t kMaxRequestId = 64;

StepBudget BudgetOf(const grpc::ServerContextBase& context, const std::atomic<bool>* cancelled) {
  StepBudget budget;
  const std::chrono::system_clock::time_point deadline = context.deadline();
  const auto now = std::chrono::system_clock::now();
  // A call without a deadline has one in the far future, which the steady clock may not reach.
  if (deadline - now < std::chrono::hours(24 * 365)) budget.deadline = std::chrono::steady_clock::now() + (deadline - now);
  budget.cancelled = [cancelled] { return cancelled->load(std::memory_order_relaxed); };
  return budget;
}

// The caller's, or a new unique one.
std::string RequestId(const grpc::ServerContextBase& context) {
  const std::optional<absl::string_view> given = OnlyHeader(context, kRequestIdKey);
  return given ? Printable(given->substr(0, kMaxRequestId)) : RandomHex128().substr(0, 16);
}

// The caller's, or one of its own.
TraceContext TraceOf(const grpc::ServerContextBase& context) {
  const std::optional<absl::string_view> given = OnlyHeader(context, kTraceparentKey);
  return given ? ParseTraceparent(*given).value_or(NewTrace()) : NewTrace();
}

}  // namespace

Call::Call(CallHost* host, const Method* method, Caller caller, grpc::GenericCallbackServerContext* context)
    : host_(host),
      method_(method),
      call_(BudgetOf(*context, &cancelled_)),
      answer_room_(&host->services.answers, caller.tenant),
      begin_(Clock::now()),
      context_(context) {
  call_.answer = &answer_room_;
  call_.tenant = std::move(caller.tenant);
  call_.role = caller.role;
  call_.identity = std::move(caller.identity);
  call_.identified = host_->access != nullptr;
  call_.peer = PeerOf(*context);
  call_.request_id = RequestId(*context);
  if (host_->services.spans != nullptr) call_.trace = TraceOf(*context);
  if (host_->services.metrics != nullptr && method_ != nullptr) host_->services.metrics->CallStarted(method_->label);
}

void Call::OnDone() {
  host_->open.Remove(this);
  delete this;
}

absl::Status Call::Gone() const {
  if (Clock::now() >= call_.budget.deadline) return absl::DeadlineExceededError("DEADLINE_EXCEEDED: the call's time is over");
  return absl::CancelledError("CANCELLED: the call was cancelled");
}

grpc::Status Call::Conclude(const absl::Status& status) {
  const absl::Status wire = ForWire(status);
  context_->AddTrailingMetadata(kRequestIdKey, call_.request_id);
  const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
  const std::string code = absl::StatusCodeToString(wire.code());
  const std::string name = method_ == nullptr ? "" : method_->label;
  if (host_->services.metrics != nullptr && method_ != nullptr) {
    host_->services.metrics->CallHandled(name, code, seconds);
    if (!absl::IsUnauthenticated(wire)) host_->services.metrics->TenantCalled(call_.tenant, wire);
  }
  if (host_->options.events) {
    host_->options.events({wire.ok() ? Event::Level::kDebug : Event::Level::kInfo,
                           "call",
                           {{"method", name},
                            {"code", code},
                            {"ms", absl::StrCat(seconds * 1e3)},
                            {"tenant", call_.tenant},
                            {"request_id", call_.request_id},
                            {"peer", call_.peer},
                            {"error", std::string(wire.message().substr(0, 200))}}});
  }
  if (host_->audit != nullptr && method_ != nullptr && !absl::IsUnauthenticated(wire)) WriteAudit(wire);
  ExpectTaken();
  if (wire.ok()) return grpc::Status::OK;
  // The code numbers are the same by definition.
  return grpc::Status(static_cast<grpc::StatusCode>(wire.code()), std::string(wire.message()));
}

void Call::WriteAudit(const absl::Status& status) {
  std::optional<AuditEntry> entry = handled_ ? std::move(audit_) : AuditedCall(method_->audit, method_->label, nullptr, nullptr);
  if (!entry) return;
  AddCaller(call_, &*entry);
  entry->code = absl::StatusCodeToString(status.code());
  host_->audit->Write(*entry);
}

void Call::RunOnThread(std::function<void()> work, const std::function<void(absl::Status)>& refused) {
  if (host_->threads.Post(std::move(work))) return;
  refused(absl::ResourceExhaustedError("NO_THREAD: the system gives the server no thread; try again later"));
}

}  // namespace eipc::rpc
