#ifndef EIPC_SERVER_RPC_HANDLERS_CALL_CONTEXT_H_
#define EIPC_SERVER_RPC_HANDLERS_CALL_CONTEXT_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "server/rpc/telemetry/trace_context.h"
#include "server/session/access.h"
#include "server/session/answer_room.h"
#include "server/session/solve_slots.h"
#include "sim/solver/step_budget.h"

namespace eipc::rpc {

// Who calls, and how long they will wait.
struct CallContext {
  CallContext() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a call of no particular caller.
  CallContext(StepBudget call_budget) : budget(std::move(call_budget)) {}

  StepBudget budget;
  // Owns what the call makes, and sees nothing else. Empty where callers are not distinguished.
  std::string tenant;
  // What the caller may do, and which line of the access file let it in (Caller::identity).
  Role role = Role::kOperator;
  std::string identity;
  bool identified = false;  // there is an access file, so the role says something
  // What logs and the audit log keep of the call: the client's address, and the call's name.
  std::string peer;
  std::string request_id;
  SolvePriority priority = SolvePriority::kNormal;
  // Spans of what the call does belong to it; not sampled unless the server traces.
  TraceContext trace;

  // Room of the call's answer; null where nobody reads one.
  AnswerRoom::Share* answer = nullptr;

  // Before an answer of this length is made: it is in memory as a message and serialized. RESOURCE_EXHAUSTED (UNREAD_ANSWERS,
  // ANSWER_TOO_LARGE).
  absl::Status ReserveAnswer(int64_t wire_bytes) const {
    return answer == nullptr ? absl::OkStatus() : answer->Reserve(2 * wire_bytes);
  }
  // The same for pictures in an answer that was reserved, which count in the server's memory: RESOURCE_EXHAUSTED (MEMORY_BUDGET).
  absl::Status TakePictures(int64_t wire_bytes, MemoryBudget* budget) const {
    return answer == nullptr ? absl::OkStatus() : answer->Take(2 * wire_bytes, "an answer with pictures", budget);
  }
  Caller caller() const { return {tenant, role, identity}; }
  SolveClaim claim() const { return {tenant, priority}; }
};

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_HANDLERS_CALL_CONTEXT_H_
