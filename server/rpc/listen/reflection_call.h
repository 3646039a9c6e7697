#ifndef EIPC_SERVER_RPC_LISTEN_REFLECTION_CALL_H_
#define EIPC_SERVER_RPC_LISTEN_REFLECTION_CALL_H_

#include "server/rpc/listen/stream_call.h"

namespace eipc::rpc {

// grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo: which services there are, and the files that describe them.
class ReflectionCall final : public StreamCall {
 public:
  ReflectionCall(CallHost* host, const Method* method, Caller caller, CallGate::Place stream,
                 grpc::GenericCallbackServerContext* context);

 private:
  ~ReflectionCall() override = default;
  Turn Handle(Event event, grpc::ByteBuffer* message) override;
};

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_LISTEN_REFLECTION_CALL_H_
