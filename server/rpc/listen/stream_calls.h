#ifndef EIPC_SERVER_RPC_LISTEN_STREAM_CALLS_H_
#define EIPC_SERVER_RPC_LISTEN_STREAM_CALLS_H_

#include <string>

#include "eipc/v1/service.pb.h"
#include "server/rpc/handlers/calls.h"
#include "server/rpc/listen/stream_call.h"

namespace eipc::rpc {

// Answers every request with exactly one response, in order; a failed one with its status in the response.
class StepStreamCall final : public StreamCall {
 public:
  StepStreamCall(CallHost* host, const Method* method, Caller caller, CallGate::Place stream,
                 grpc::GenericCallbackServerContext* context);

 private:
  ~StepStreamCall() override = default;
  Turn Handle(Event event, grpc::ByteBuffer* message) override;
};

// Takes a mesh in pieces; answers when it has them all.
class UploadCall final : public StreamCall {
 public:
  UploadCall(CallHost* host, const Method* method, Caller caller, CallGate::Place stream,
             grpc::GenericCallbackServerContext* context);

 private:
  ~UploadCall() override = default;
  Turn Handle(Event event, grpc::ByteBuffer* message) override;
  MeshUpload upload_;
};

// Sends what a session has recorded in pieces, each when the client has taken the one before.
class RecordingCall final : public StreamCall {
 public:
  RecordingCall(CallHost* host, const Method* method, Caller caller, CallGate::Place stream,
                grpc::GenericCallbackServerContext* context);

 private:
  ~RecordingCall() override = default;
  Turn Handle(Event event, grpc::ByteBuffer* message) override;
  absl::Status Fetch(grpc::ByteBuffer* message);
  RecordingCopy recording_;
  v1::DataChunk piece_;
};

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_LISTEN_STREAM_CALLS_H_
