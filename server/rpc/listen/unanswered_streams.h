#ifndef EIPC_SERVER_RPC_LISTEN_UNANSWERED_STREAMS_H_
#define EIPC_SERVER_RPC_LISTEN_UNANSWERED_STREAMS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace eipc::rpc {

// What gRPC's channelz counts for the connections to this process's servers. For one thread.
class UnansweredStreams {
 public:
  // How many of the streams that a client began on its connection the server has not answered to the end: those that are open, and
  // those that were reset (while many are, gRPC does not come to counting them as failed). `client`: "127.0.0.1:4711",
  // "[::1]:4711". Nothing while gRPC does not know the connection.
  std::optional<int64_t> Of(const std::string& client);

 private:
  void List();
  std::map<std::string, int64_t> sockets_;  // channelz' numbers by client
};

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_LISTEN_UNANSWERED_STREAMS_H_
