#include "server/rpc/listen/stream_call.h"

#include <utility>

#include "server/rpc/listen/message_codec.h"
#include "server/session/solve_slots.h"

namespace eipc::rpc {

StreamCall::StreamCall(CallHost* host, const Method* method, Caller caller, CallGate::Place stream,
                       grpc::GenericCallbackServerContext* context)
    : Call(host, method, std::move(caller), context),
      stream_(std::move(stream)),
      admission_(host->access, call_.caller()),
      last_answer_(Clock::now()) {}

void StreamCall::Close(const absl::Status& status) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    state_ = State::kOver;
  }
  End(status);
}

void StreamCall::Drained() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (state_ != State::kReading) return;  // ReadNext will see it
    state_ = State::kOver;
  }
  End(Stopping());
}

void StreamCall::ReadNext() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!host_->open.draining()) {
      state_ = State::kReading;
      if (method_->policy.duration == MethodPolicy::Duration::kTransfer) ExpectSent();
      // Under the lock: once it is left, the stream may be finished by others.
      StartRead(&message_);
      return;
    }
  }
  Close(Stopping());
}

void StreamCall::OnReadDone(bool ok) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (state_ == State::kOver) return;
    state_ = State::kBusy;
  }
  NeverExpire();
  if (cancelled()) return Close(Gone());
  if (ok) {
    absl::StatusOr<MemoryBudget::Share> memory = TakeArrived(&host_->services.memory, message_);
    if (!memory.ok()) {
      message_.Clear();
      return Close(memory.status());
    }
    message_memory_ = *std::move(memory);
  }
  HandleOnThread(ok ? Event::kMessage : Event::kEndOfMessages);
}

void StreamCall::HandleOnThread(Event event) {
  host_->calls_gate.Enter(call_.tenant, call_.role == Role::kViewer, [this, event](CallGate::Place place) {
    place_ = std::move(place);
    RunOnThread([this, event] { HandleNow(event); },
                [this](const absl::Status& status) {
                  place_.Leave();
                  Close(status);
                });
  });
}

void StreamCall::HandleNow(Event event) {
  const SolveSlots::LateRelease answered_first;
  Turn turn;
  const absl::Status status = Guarded([&]() -> absl::Status {
    if (cancelled()) return Gone();
    if (!admission_.StillIn()) {
      return absl::UnauthenticatedError("UNAUTHENTICATED: these credentials are not known here any more");
    }
    turn = Handle(event, &message_);
    return turn.status;
  });
  turn.status = status;
  message_.Clear();
  message_memory_ = {};
  place_.Leave();
  if (turn.refused) {
    const Clock::duration pause = host_->services.refusals.Begin(call_.budget, last_answer_);
    if (pause > Clock::duration::zero()) {
      return RunLater(pause, [this, turn] {
        host_->services.refusals.End();
        Proceed(turn);
      });
    }
  }
  Proceed(std::move(turn));
}

void StreamCall::Proceed(Turn turn) {
  if (!turn.status.ok()) return Close(turn.status);
  if (!turn.has_answer) return turn.last ? Close(absl::OkStatus()) : ReadNext();
  answer_.Swap(&turn.answer);
  answer_memory_ = host_->services.memory.Record(static_cast<int64_t>(answer_.Length()));
  answer_room_.SetTo(static_cast<int64_t>(answer_.Length()));
  if (turn.last) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      state_ = State::kOver;
    }
    return StartWriteAndFinish(&answer_, grpc::WriteOptions(), Conclude(absl::OkStatus()));
  }
  more_answers_ = turn.more_answers;
  ExpectTaken();
  // Before it is written: who writes may have to wait for the processor until after the client has it.
  last_answer_ = Clock::now();
  StartWrite(&answer_);
}

void StreamCall::OnWriteDone(bool ok) {
  NeverExpire();
  answer_memory_ = MemoryBudget::Share();
  answer_room_.SetTo(0);
  if (!ok || cancelled() || Clock::now() >= call_.budget.deadline) return Close(Gone());
  if (more_answers_) return HandleOnThread(Event::kAnswerTaken);
  ReadNext();
}

}  // namespace eipc::rpc
