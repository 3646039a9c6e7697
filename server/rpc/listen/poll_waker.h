#ifndef EIPC_SERVER_RPC_LISTEN_POLL_WAKER_H_
#define EIPC_SERVER_RPC_LISTEN_POLL_WAKER_H_

#include <grpcpp/generic/generic_stub.h>

#include <chrono>
#include <memory>

namespace eipc::rpc {

// Keeps gRPC's threads awake. The threads of its callback interface share one completion queue, and in gRPC 1.51 each of them that
// has had no event for a second sleeps for 100 ms. Where all sleep at once, as they do on an idle server, a call that comes, or a
// client that cancels one, waits for the end of that. An event every kWakeInterval leaves those threads awake that had the last
// ones.
class PollWaker {
 public:
  static constexpr std::chrono::milliseconds kWakeInterval{300};

  PollWaker();
  // Makes one event for one of the threads: the end of a call on a channel that leads nowhere.
  void Wake();

 private:
  grpc::GenericStub nowhere_;
};

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_LISTEN_POLL_WAKER_H_
