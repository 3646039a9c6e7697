#ifndef EIPC_SERVER_LOG_H_
#define EIPC_SERVER_LOG_H_

#include <string>

#include "server/rpc/telemetry/event.h"

namespace eipc {

// Where events go: standard error, one JSON object a line with "time" (RFC 3339, UTC), "level", "event" and the event's fields.
// `level` is the least urgent one that is written: debug, info, warning, error or off.
rpc::EventSink JsonLog(const std::string& level);

}  // namespace eipc

#endif  // EIPC_SERVER_LOG_H_
