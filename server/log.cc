#include "server/log.h"

#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"

namespace eipc {
namespace {

using rpc::Event;

constexpr const char* kLevelNames[] = {"debug", "info", "warning", "error"};
constexpr int kOff = static_cast<int>(std::size(kLevelNames));

// "trace" is the same as "debug": everything.
int LevelOf(const std::string& name) {
  for (int level = 0; level < kOff; ++level) {
    if (name == kLevelNames[level]) return level;
  }
  return name == "off" ? kOff : 0;
}

std::string JsonLine(const Event& event) {
  nlohmann::ordered_json line;
  line["time"] = rpc::TimeNow();
  line["level"] = kLevelNames[static_cast<int>(event.level)];
  line["event"] = event.name;
  for (const auto& [name, value] : event.fields) line[name] = value;
  // What is not UTF-8 is replaced: a log is always JSON.
  return line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

rpc::LineWriter::Options WriterOptions() {
  rpc::LineWriter::Options options;
  options.max_queue_bytes = Log::kMaxQueueBytes;
  options.gap = [](int64_t count) {
    return JsonLine({Event::Level::kWarning, "log_lines_lost", {{"count", absl::StrCat(count)}}});
  };
  return options;
}

// Where TakeLibraryMessages sends them. Their handlers are plain functions.
std::atomic<Log*> library_log = nullptr;

void SayForLibrary(const char* library, Event::Level level, const std::string& where, const std::string& message) {
  library_log.load()->Sink()({level, "library_message", {{"library", library}, {"where", where}, {"message", message}}});
}

void TakeProtobufMessage(google::protobuf::LogLevel level, const char* file, int line, const std::string& message) {
  const Event::Level urgency = level >= google::protobuf::LOGLEVEL_ERROR     ? Event::Level::kError
                               : level == google::protobuf::LOGLEVEL_WARNING ? Event::Level::kWarning
                                                                             : Event::Level::kInfo;
  SayForLibrary("protobuf", urgency, absl::StrCat(file, ":", line), message);
}

void TakeGrpcMessage(gpr_log_func_args* message) {
  const Event::Level urgency = message->severity == GPR_LOG_SEVERITY_ERROR  ? Event::Level::kError
                               : message->severity == GPR_LOG_SEVERITY_INFO ? Event::Level::kInfo
                                                                            : Event::Level::kDebug;
  SayForLibrary("grpc", urgency, absl::StrCat(message->file, ":", message->line), message->message);
}

}  // namespace

Log::Log(int file, const std::string& level) : level_(LevelOf(level)), writer_(file, WriterOptions()) {}

void Log::SetLevel(const std::string& level) { level_ = LevelOf(level); }

rpc::EventSink Log::Sink() {
  return [this](const Event& event) { Write(event); };
}

void Log::Write(const Event& event) {
  if (static_cast<int>(event.level) >= level_.load(std::memory_order_relaxed)) writer_.Push(JsonLine(event));
}

void Log::TakeLibraryMessages() {
  library_log = this;
  google::protobuf::SetLogHandler(TakeProtobufMessage);
  gpr_set_log_function(TakeGrpcMessage);
}

}  // namespace eipc
