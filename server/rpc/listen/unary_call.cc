#include "server/rpc/listen/unary_call.h"

#include <google/protobuf/message.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "server/rpc/handlers/audit_call.h"
#include "server/rpc/listen/message_codec.h"
#include "server/session/queue_full.h"
#include "sim/base/status_macros.h"

namespace eipc::rpc {
namespace {

constexpr std::chrono::milliseconds kFirstPoll(2), kLastPoll(100);
// What a call costs beside its message.
constexpr int64_t kPerUnreadAnswer = 8 << 10;

}  // namespace

UnaryCall::UnaryCall(CallHost* host, const Method* method, Caller caller, CallGate::Place place,
                     grpc::GenericCallbackServerContext* context)
    : Call(host, method, std::move(caller), context), place_(std::move(place)) {
  Opened();
  if (method_->policy.size == MethodPolicy::Size::kSmall) {
    Read(MessageRoom::Share());
  } else {
    host_->room.Take(call_.tenant, host_->options.max_message_bytes, host_->options.message_timeout,
                     [this](absl::StatusOr<MessageRoom::Share> room) { Read(std::move(room)); });
  }
}

void UnaryCall::Read(absl::StatusOr<MessageRoom::Share> room) {
  if (!room.ok()) return Refuse(room.status());
  room_ = *std::move(room);
  ExpectSent();
  StartRead(&request_);
}

void UnaryCall::OnReadDone(bool ok) {
  NeverExpire();
  if (!ok) {
    room_.Return();
    return Refuse(cancelled() ? Gone() : absl::InvalidArgumentError("INVALID_REQUEST: the call ended without a message"));
  }
  // Now that its size is known, it counts as what it is.
  absl::StatusOr<MemoryBudget::Share> memory = TakeArrived(&host_->services.memory, request_);
  if (!memory.ok()) request_.Clear();
  room_.Return();
  if (!memory.ok()) return Refuse(memory.status());
  request_memory_ = *std::move(memory);
  HandleOnThread();
}

void UnaryCall::Refuse(const absl::Status& status) {
  place_.Leave();
  End(status);
}

void UnaryCall::HandleOnThread() {
  RunOnThread([this] { Handle(); }, [this](const absl::Status& status) { Refuse(status); });
}

UnaryCall::Answer UnaryCall::Serve() {
  Answer answer;
  ParsedMessage request;
  answer.status = request.Parse(method_->handler.request(), &host_->services.memory, &request_);
  if (!answer.status.ok()) {
    KeepForAudit(std::nullopt);
    return answer;
  }
  const bool may_wait = method_->policy.duration == MethodPolicy::Duration::kWait;
  const double wait_s = may_wait ? TakeWait(request.get()) : 0;
  const double waited_s = std::chrono::duration<double>(Clock::now() - begin_).count();
  const std::unique_ptr<google::protobuf::Message> response(method_->handler.response().New());
  answer.status = method_->handler.call(host_->services, call_, *request.get(), response.get(), &answer.refused);
  answer.pending = answer.status.ok() && wait_s > waited_s && IsPending(*response);
  if (answer.status.ok()) answer.status = SerializeMessage(*response, &answer.bytes);
  KeepForAudit(host_->audit == nullptr ? std::nullopt : AuditedCall(method_->audit, method_->label, request.get(), response.get()));
  return answer;
}

void UnaryCall::Handle() {
  Answer answer;
  const absl::Status status = Guarded([&]() -> absl::Status {
    if (cancelled()) return Gone();
    EIPC_RETURN_IF_ERROR(answer_room_.Reserve(0));
    answer = Serve();
    return answer.status;
  });
  answer.status = status;
  if (status.ok() && answer.pending && !cancelled() && !host_->open.draining() && WaitForMore()) return;
  Reply(std::move(answer));
}

bool UnaryCall::WaitForMore() {
  if (!waiting_.held()) {
    std::optional<CallGate::Place> place = host_->streams_gate.TryEnter(call_.tenant, call_.role == Role::kViewer);
    if (!place) return false;
    waiting_ = *std::move(place);
  }
  place_.Leave();
  pause_ = pause_ == Clock::duration::zero() ? Clock::duration(kFirstPoll) : std::min<Clock::duration>(2 * pause_, kLastPoll);
  RunLater(pause_, [this] {
    host_->calls_gate.Enter(call_.tenant, call_.role == Role::kViewer, [this](CallGate::Place place) {
      place_ = std::move(place);
      HandleOnThread();
    });
  });
  return true;
}

void UnaryCall::Reply(Answer answer) {
  request_.Clear();
  request_memory_ = {};
  place_.Leave();
  waiting_.Leave();
  if (answer.refused || IsQueueFull(answer.status)) {
    const Clock::duration pause = host_->services.refusals.Begin(call_.budget);
    if (pause > Clock::duration::zero()) {
      return RunLater(pause, [this, answer = std::move(answer)] {
        host_->services.refusals.End();
        Send(answer);
      });
    }
  }
  Send(std::move(answer));
}

void UnaryCall::Send(Answer answer) {
  if (!answer.status.ok()) {
    answer_room_.SetTo(0);
    return End(answer.status);
  }
  answer_.Swap(&answer.bytes);
  answer_room_.SetTo(static_cast<int64_t>(answer_.Length()) + kPerUnreadAnswer);
  answer_memory_ = host_->services.memory.Record(static_cast<int64_t>(answer_.Length()) + kPerUnreadAnswer);
  StartWriteAndFinish(&answer_, grpc::WriteOptions(), Conclude(absl::OkStatus()));
}

}  // namespace eipc::rpc
