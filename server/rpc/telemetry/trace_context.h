#ifndef EIPC_SERVER_RPC_TELEMETRY_TRACE_CONTEXT_H_
#define EIPC_SERVER_RPC_TELEMETRY_TRACE_CONTEXT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace eipc::rpc {

// Which trace a call belongs to (W3C Trace Context, Recommendation of 2021).
struct TraceContext {
  uint64_t trace_high = 0, trace_low = 0;  // never both zero in a trace
  uint64_t parent = 0;                     // the caller's span; 0: none
  bool sampled = false;                    // whether the caller records; spans that it does not are not recorded here

  // 32 lower-case hex digits.
  std::string TraceId() const;
};

// What the header `traceparent` says; absent when it is not well-formed, and then to be ignored, as the recommendation has it.
std::optional<TraceContext> ParseTraceparent(absl::string_view header);

// A trace of its own, sampled, without a parent. Thread-safe.
TraceContext NewTrace();

// Of a span: not zero, and unique. Thread-safe.
uint64_t NewSpanId();

// 16 lower-case hex digits.
std::string SpanIdText(uint64_t id);

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_TELEMETRY_TRACE_CONTEXT_H_
