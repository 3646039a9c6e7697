#ifndef EIPC_SERVER_RPC_LISTEN_CALL_HOST_H_
#define EIPC_SERVER_RPC_LISTEN_CALL_HOST_H_

#include <algorithm>
#include <chrono>
#include <memory>

#include "server/rpc/handlers/services.h"
#include "server/rpc/listen/call_gate.h"
#include "server/rpc/listen/call_threads.h"
#include "server/rpc/listen/delay_queue.h"
#include "server/rpc/listen/health_state.h"
#include "server/rpc/listen/message_room.h"
#include "server/rpc/listen/open_calls.h"
#include "server/rpc/telemetry/audit_log.h"
#include "server/rpc/telemetry/event.h"
#include "server/session/access.h"

namespace eipc::rpc {

// What all calls of a server share. Outlives them.
struct CallHost {
  struct Options {
    int max_calls = 0;
    // Bounds of one tenant, where tenants are distinguished.
    int max_calls_per_tenant = 0;
    // Streams and waiting clients, which hold no thread.
    int max_streams = 0;
    int max_streams_per_tenant = 0;
    int64_t max_message_bytes = 0;
    int64_t message_room_bytes = 0;
    std::chrono::milliseconds message_timeout{0};
    std::chrono::milliseconds write_timeout{0};
    // Health checks need no credentials.
    bool open_health = true;
    bool reflection = true;
    EventSink events;  // may be empty
  };

  CallHost(Services* shared, Options o)
      : options(std::move(o)),
        services(*shared),
        calls_gate(options.max_calls, options.max_calls_per_tenant),
        streams_gate(options.max_streams, options.max_streams_per_tenant),
        strangers_gate(kMostStrangers, kMostStrangers),
        room(options.message_room_bytes),
        threads(options.max_calls) {}

  // Health checks without credentials that are read at once.
  static constexpr int kMostStrangers = 256;

  const Options options;
  Services& services;
  // Who may call; null: everyone, as one tenant without a name.
  std::shared_ptr<const AccessSource> access;
  // Keeps who changed what; may be null.
  AuditLog* audit = nullptr;
  OpenCalls open;
  CallGate calls_gate;
  CallGate streams_gate;
  CallGate strangers_gate;
  MessageRoom room;
  HealthState health;
  // Last: what runs on them uses the others.
  CallThreads threads;
  DelayQueue delays;
};

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_LISTEN_CALL_HOST_H_
