#ifndef EIPC_SERVER_RPC_LISTEN_UNARY_CALL_H_
#define EIPC_SERVER_RPC_LISTEN_UNARY_CALL_H_

#include <string>

#include "absl/status/statusor.h"
#include "server/rpc/listen/call.h"

namespace eipc::rpc {

// One message, one answer. The place among the calls and the thread are given back before the answer is written: one that no client
// reads costs only its memory, until the write timeout.
class UnaryCall final : public Call {
 public:
  UnaryCall(CallHost* host, const Method* method, Caller caller, CallGate::Place place,
            grpc::GenericCallbackServerContext* context);

  void OnReadDone(bool ok) override;

 private:
  struct Answer {
    absl::Status status;
    grpc::ByteBuffer bytes;  // when the status is OK
    // The client asked to wait for something that has not happened yet: the call is to be handled again a moment later. What has
    // been found so far is the answer all the same.
    bool pending = false;
    bool refused = false;  // for want of room: the answer waits (refusal_pause.h)
  };
  ~UnaryCall() override = default;
  void Read(absl::StatusOr<MessageRoom::Share> room);
  void Refuse(const absl::Status& status);
  void HandleOnThread();
  void Handle();
  Answer Serve();
  // Pending: polls again a moment later, as long as there is room for waiting calls.
  bool WaitForMore();
  void Reply(Answer answer);
  void Send(Answer answer);

  CallGate::Place place_;    // among the calls that are handled
  CallGate::Place waiting_;  // among those that wait for something to happen
  MessageRoom::Share room_;
  grpc::ByteBuffer request_;
  MemoryBudget::Share request_memory_;
  grpc::ByteBuffer answer_;
  MemoryBudget::Share answer_memory_;
  Clock::duration pause_{};
};

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_LISTEN_UNARY_CALL_H_
