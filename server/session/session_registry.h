#ifndef EIPC_SERVER_SESSION_SESSION_REGISTRY_H_
#define EIPC_SERVER_SESSION_SESSION_REGISTRY_H_

#include "server/session/lease_table.h"
#include "server/session/server_limits.h"
#include "server/session/session.h"

namespace eipc {

inline constexpr char kSessionPrefix[] = "sessions/";

// The server's sessions. DeleteSession (Remove) while a step runs ends the step.
class SessionRegistry : public LeaseTable<Session> {
 public:
  explicit SessionRegistry(const ServerLimits& limits)
      : LeaseTable<Session>({"session", kSessionPrefix, "SESSION", limits.max_sessions, limits.max_waiting_calls}) {}
};

}  // namespace eipc

#endif  // EIPC_SERVER_SESSION_SESSION_REGISTRY_H_
