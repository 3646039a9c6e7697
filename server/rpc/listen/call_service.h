#ifndef EIPC_SERVER_RPC_LISTEN_CALL_SERVICE_H_
#define EIPC_SERVER_RPC_LISTEN_CALL_SERVICE_H_

#include <grpcpp/generic/async_generic_service.h>

#include "absl/status/statusor.h"
#include "server/rpc/handlers/method_table.h"
#include "server/rpc/listen/call_host.h"

namespace eipc::rpc {

// Takes every call of the server when its headers have arrived, before its message is read, and decides in this order: whether
// there is such a method, who calls and whether they may, whether the server stops, whether there is room. Only then the message is
// read.
class CallService final : public grpc::CallbackGenericService {
 public:
  explicit CallService(CallHost* host) : host_(host) {}
  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* context) override;

 private:
  struct Known {
    Caller caller;
    bool stranger = false;  // may do what needs no credentials
  };
  // Fills in who calls, where that is known, whether they may or not.
  absl::Status Admit(const Method& method, const grpc::GenericCallbackServerContext& context, Known* known) const;
  absl::StatusOr<CallGate::Place> MakeRoom(const Method& method, const Known& known);
  CallHost* const host_;
};

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_LISTEN_CALL_SERVICE_H_
