#include "server/rpc/listen/stream_calls.h"

#include <utility>

#include "google/protobuf/arena.h"
#include "server/rpc/handlers/audit_call.h"
#include "server/rpc/listen/message_codec.h"
#include "sim/base/status_macros.h"

namespace eipc::rpc {
namespace {

StreamCall::Turn Ended(absl::Status status) {
  StreamCall::Turn turn;
  turn.status = std::move(status);
  turn.last = true;
  return turn;
}

// The many parts of an answer lie together, and go together.
google::protobuf::ArenaOptions AnswerArena() {
  google::protobuf::ArenaOptions options;
  options.start_block_size = 8 << 10;
  options.max_block_size = 64 << 10;
  return options;
}

StreamCall::Turn Answered(const google::protobuf::Message& message) {
  StreamCall::Turn turn;
  turn.has_answer = true;
  turn.status = SerializeMessage(message, &turn.answer);
  return turn;
}

}  // namespace

StepStreamCall::StepStreamCall(CallHost* host, const Method* method, Caller caller, CallGate::Place stream,
                               grpc::GenericCallbackServerContext* context)
    : StreamCall(host, method, std::move(caller), std::move(stream), context) {
  Opened();
  // The client then knows that the stream is open: before that it cannot cancel it safely (docs/howto/operations.md, Proxy).
  StartSendInitialMetadata();
  Begin();
}

StreamCall::Turn StepStreamCall::Handle(Event event, grpc::ByteBuffer* message) {
  if (event != Event::kMessage) return Ended(absl::OkStatus());
  Parsed<v1::StepRequest> request;
  if (absl::Status status = request.Parse(&host_->services.memory, message); !status.ok()) return Ended(std::move(status));
  google::protobuf::Arena arena(AnswerArena());
  auto* response = google::protobuf::Arena::CreateMessage<v1::StepResponse>(&arena);
  const bool admitted = AnswerStep(host_->services, call_, *request, response);
  Turn turn = Answered(*response);
  turn.refused = !admitted;
  return turn;
}

UploadCall::UploadCall(CallHost* host, const Method* method, Caller caller, CallGate::Place stream,
                       grpc::GenericCallbackServerContext* context)
    : StreamCall(host, method, std::move(caller), std::move(stream), context), upload_(&host->services, call_.tenant) {
  Opened();
  Begin();
}

StreamCall::Turn UploadCall::Handle(Event event, grpc::ByteBuffer* message) {
  if (event == Event::kMessage) {
    Parsed<v1::UploadMeshRequest> piece;
    absl::Status status = piece.Parse(&host_->services.memory, message);
    if (status.ok()) status = upload_.Add(*piece);
    if (!status.ok()) return Ended(std::move(status));
    return Turn();
  }
  v1::MeshInfo info;
  absl::Status status = upload_.Finish(&info);
  if (host_->audit != nullptr) KeepForAudit(AuditedCall(method_->audit, method_->label, nullptr, &info));
  if (!status.ok()) return Ended(std::move(status));
  Turn turn = Answered(info);
  turn.last = true;
  return turn;
}

RecordingCall::RecordingCall(CallHost* host, const Method* method, Caller caller, CallGate::Place stream,
                             grpc::GenericCallbackServerContext* context)
    : StreamCall(host, method, std::move(caller), std::move(stream), context) {
  Opened();
  Begin();
}

absl::Status RecordingCall::Fetch(grpc::ByteBuffer* message) {
  Parsed<v1::GetRecordingRequest> request;
  EIPC_RETURN_IF_ERROR(request.Parse(&host_->services.memory, message));
  EIPC_ASSIGN_OR_RETURN(recording_, GetRecording(host_->services, call_, *request));
  return absl::OkStatus();
}

StreamCall::Turn RecordingCall::Handle(Event event, grpc::ByteBuffer* message) {
  if (event == Event::kEndOfMessages) {
    return Ended(absl::InvalidArgumentError("INVALID_REQUEST: the call ended without a message"));
  }
  if (event == Event::kMessage) {
    if (absl::Status status = Fetch(message); !status.ok()) return Ended(std::move(status));
  }
  if (!NextPiece(recording_.bytes, &piece_)) return Ended(absl::OkStatus());
  Turn turn = Answered(piece_);
  turn.more_answers = true;
  return turn;
}

}  // namespace eipc::rpc
