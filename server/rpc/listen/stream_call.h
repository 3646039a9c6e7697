#ifndef EIPC_SERVER_RPC_LISTEN_STREAM_CALL_H_
#define EIPC_SERVER_RPC_LISTEN_STREAM_CALL_H_

#include <mutex>

#include "server/rpc/listen/call.h"

namespace eipc::rpc {

// A stream: reads a message, handles it on a thread of the pool, answers it, then reads the next. While it waits for its client it
// holds neither a thread nor a place among the calls that are handled, only one among the open streams; a message that finds all of
// those places taken waits for one in order of arrival.
class StreamCall : public Call {
 public:
  enum class Event { kMessage, kEndOfMessages, kAnswerTaken };
  // What follows an event. A status that is not OK ends the stream.
  struct Turn {
    absl::Status status;
    bool has_answer = false;
    grpc::ByteBuffer answer;
    bool last = false;          // the stream ends after it
    bool more_answers = false;  // once it is taken, Handle is asked for the next with kAnswerTaken
    bool refused = false;       // for want of room: the answer waits (refusal_pause.h)
  };

  void OnReadDone(bool ok) final;
  void OnWriteDone(bool ok) final;

 protected:
  StreamCall(CallHost* host, const Method* method, Caller caller, CallGate::Place stream,
             grpc::GenericCallbackServerContext* context);
  ~StreamCall() override = default;

  // Right after Opened: reads the first message.
  void Begin() { ReadNext(); }
  // On a thread of the pool. `message` is the client's, with kMessage.
  virtual Turn Handle(Event event, grpc::ByteBuffer* message) = 0;

 private:
  enum class State { kReading, kBusy, kOver };
  void Drained() final;
  void ReadNext();
  void HandleOnThread(Event event);
  void HandleNow(Event event);
  void Proceed(Turn turn);
  void Close(const absl::Status& status);

  const CallGate::Place stream_;
  Admission admission_;
  CallGate::Place place_;  // while it is handled
  grpc::ByteBuffer message_;
  MemoryBudget::Share message_memory_;
  grpc::ByteBuffer answer_;
  MemoryBudget::Share answer_memory_;
  bool more_answers_ = false;
  Clock::time_point last_answer_;
  std::mutex mutex_;
  State state_ = State::kBusy;  // guarded by mutex_; kOver: finished, or about to be by the thread that set it
};

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_LISTEN_STREAM_CALL_H_
