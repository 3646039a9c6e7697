#include "server/rpc/telemetry/span_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/os/files.h"

namespace eipc::rpc {
namespace {

using Json = nlohmann::ordered_json;

// How long a span may wait for others to be written with.
constexpr std::chrono::milliseconds kGather(200);
// A line's length is bounded, as readers bound it.
constexpr size_t kSpansALine = 512;
// OTLP's numbers.
constexpr int kServerSpan = 2;
constexpr int kError = 2;

Json Text(const char* key, const std::string& value) { return {{"key", key}, {"value", {{"stringValue", value}}}}; }
// 64-bit integers are strings in Protobuf's JSON.
Json Integer(const char* key, int64_t value) { return {{"key", key}, {"value", {{"intValue", absl::StrCat(value)}}}}; }
Json Real(const char* key, double value) { return {{"key", key}, {"value", {{"doubleValue", value}}}}; }

Json SpanJson(const StepSpan& span) {
  Json out;
  out["traceId"] = span.trace.TraceId();
  out["spanId"] = SpanIdText(span.id);
  if (span.trace.parent != 0) out["parentSpanId"] = SpanIdText(span.trace.parent);
  out["name"] = "eipc.step";
  out["kind"] = kServerSpan;
  out["startTimeUnixNano"] = absl::StrCat(span.start_unix_ns);
  out["endTimeUnixNano"] = absl::StrCat(span.start_unix_ns + span.duration_ns);
  out["attributes"] = {Text("eipc.session", span.session),
                       Integer("eipc.world", span.world),
                       Integer("eipc.first_step", span.first_step),
                       Integer("eipc.steps", span.steps),
                       Integer("eipc.newton_iterations", span.newton_iterations),
                       Text("eipc.outcome", span.outcome),
                       Real("eipc.slot_wait_s", span.slot_wait_s),
                       Integer("rpc.grpc.status_code", static_cast<int64_t>(span.code))};
  if (span.code != absl::StatusCode::kOk) out["status"] = {{"code", kError}, {"message", span.message}};
  return out;
}

}  // namespace

std::string OtlpLine(const std::vector<StepSpan>& spans) {
  Json list = Json::array();
  for (const StepSpan& span : spans) list.push_back(SpanJson(span));
  const Json scope = {{"scope", {{"name", "eipc.rpc"}}}, {"spans", std::move(list)}};
  const Json resource = {{"attributes", Json::array({Text("service.name", "eipc-server")})}};
  const Json line = {{"resourceSpans", Json::array({{{"resource", resource}, {"scopeSpans", Json::array({scope})}}})}};
  // What is not UTF-8 is replaced: a line is always JSON.
  return line.dump(-1, ' ', false, Json::error_handler_t::replace);
}

absl::StatusOr<std::unique_ptr<SpanLog>> SpanLog::Open(const std::string& path, size_t queue_size) {
  const int file = open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640);
  if (file < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("--trace-file ", path, ": ", std::strerror(errno), "; name a file that can be written"));
  }
  return std::unique_ptr<SpanLog>(new SpanLog(file, queue_size));
}

SpanLog::SpanLog(int file, size_t queue_size) : file_(file), queue_size_(queue_size), writer_([this] { Loop(); }) {}

SpanLog::~SpanLog() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  writer_.join();
  close(file_);
}

void SpanLog::Push(StepSpan span) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (queue_.size() >= queue_size_) {
    dropped_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  queue_.push_back(std::move(span));
  ++taken_;
}

void SpanLog::Flush() {
  std::unique_lock<std::mutex> lock(mutex_);
  flush_ = true;
  wake_.notify_all();
  handled_more_.wait(lock, [this, wanted = taken_] { return handled_ >= wanted; });
}

SpanLog::Counts SpanLog::counts() const { return {written_.load(), dropped_.load(), lost_.load()}; }

void SpanLog::Loop() {
  for (bool stopped = false; !stopped;) {
    std::vector<StepSpan> spans;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      wake_.wait_for(lock, kGather, [this] { return stop_ || flush_; });
      flush_ = false;
      stopped = stop_;
      spans.swap(queue_);
    }
    for (size_t first = 0; first < spans.size(); first += kSpansALine) {
      const auto begin = spans.begin() + static_cast<std::ptrdiff_t>(first);
      Write({begin, begin + static_cast<std::ptrdiff_t>(std::min(kSpansALine, spans.size() - first))});
    }
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      handled_ += static_cast<int64_t>(spans.size());
    }
    handled_more_.notify_all();
  }
}

// A line is there whole or not at all: when the disk fills up before its end, the written part is cut off again.
void SpanLog::Write(const std::vector<StepSpan>& spans) {
  struct stat before = {};
  const bool regular = fstat(file_, &before) == 0 && S_ISREG(before.st_mode);
  const auto count = static_cast<int64_t>(spans.size());
  if (WriteAll(file_, OtlpLine(spans) + "\n", "").ok()) {
    written_ += count;
    return;
  }
  lost_ += count;
  if (regular) (void)!ftruncate(file_, before.st_size);
}

}  // namespace eipc::rpc
