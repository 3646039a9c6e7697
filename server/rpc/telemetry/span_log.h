#ifndef EIPC_SERVER_RPC_TELEMETRY_SPAN_LOG_H_
#define EIPC_SERVER_RPC_TELEMETRY_SPAN_LOG_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/rpc/telemetry/trace_context.h"

namespace eipc::rpc {

// One request of steps, as a span of a trace.
struct StepSpan {
  TraceContext trace;
  uint64_t id = 0;
  int64_t start_unix_ns = 0;
  int64_t duration_ns = 0;
  std::string session;
  int world = 0;
  int64_t first_step = 0;
  int steps = 0;  // taken
  int newton_iterations = 0;
  std::string outcome;     // the gravest of the steps
  double slot_wait_s = 0;  // for the processor, in all
  absl::StatusCode code = absl::StatusCode::kOk;
  std::string message;
};

// A line of JSON with these spans in the form of OpenTelemetry's protocol (OTLP 1.0, ExportTraceServiceRequest), the format of its
// file exporter. No line break at the end.
std::string OtlpLine(const std::vector<StepSpan>& spans);

// Writes spans to a file, a line for those of a fraction of a second. Push never waits for the file: what does not fit
// into the queue is dropped, what cannot be written is lost, and both are counted.
class SpanLog {
 public:
  struct Counts {
    int64_t written = 0;
    int64_t dropped = 0;  // the queue was full
    int64_t lost = 0;     // could not be written
  };

  // Appends to `path`, made if need be. INVALID_ARGUMENT when it cannot be opened.
  static absl::StatusOr<std::unique_ptr<SpanLog>> Open(const std::string& path, size_t queue_size = 16384);
  // Writes what is left.
  ~SpanLog();

  // Thread-safe.
  void Push(StepSpan span);
  // Returns when what was pushed before has been written or lost. Thread-safe.
  void Flush();
  Counts counts() const;

 private:
  SpanLog(int file, size_t queue_size);
  void Loop();
  void Write(const std::vector<StepSpan>& spans);

  const int file_;
  const size_t queue_size_;
  std::atomic<int64_t> written_ = 0, dropped_ = 0, lost_ = 0;
  std::mutex mutex_;
  std::condition_variable wake_, handled_more_;
  // Guarded by mutex_.
  std::vector<StepSpan> queue_;
  int64_t taken_ = 0, handled_ = 0;  // into the queue; out of it, and written or lost
  bool flush_ = false, stop_ = false;
  std::thread writer_;
};

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_TELEMETRY_SPAN_LOG_H_
