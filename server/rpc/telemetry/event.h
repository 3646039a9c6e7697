#ifndef EIPC_SERVER_RPC_TELEMETRY_EVENT_H_
#define EIPC_SERVER_RPC_TELEMETRY_EVENT_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace eipc::rpc {

// Something that happened, for the log: a name and fields. Never holds credentials.
struct Event {
  enum class Level { kDebug, kInfo, kWarning, kError };
  Level level = Level::kInfo;
  std::string name;
  std::vector<std::pair<std::string, std::string>> fields;
};

// Called from any thread.
using EventSink = std::function<void(const Event&)>;

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_TELEMETRY_EVENT_H_
