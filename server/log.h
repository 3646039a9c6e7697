#ifndef EIPC_SERVER_LOG_H_
#define EIPC_SERVER_LOG_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "server/rpc/telemetry/event.h"
#include "server/rpc/telemetry/line_writer.h"

namespace eipc {

// Where events go: one JSON object a line with "time" (RFC 3339, UTC), "level", "event" and the event's fields. Nothing waits for
// its reader; lost lines are counted, and an event says so where they are missing. Thread-safe.
class Log {
 public:
  // The most bytes of lines that wait to be written.
  static constexpr size_t kMaxQueueBytes = size_t{4} << 20;

  // Takes over the descriptor `file`. `level` is the least urgent one that is written: debug, info, warning, error or off.
  Log(int file, const std::string& level);

  void SetLevel(const std::string& level);
  // Where the rest of the program sends its events, as long as the log lives.
  rpc::EventSink Sink();
  // A line for people, outside of the events and whatever the level.
  void Say(const std::string& line) { writer_.Push(line); }
  // Messages of Protobuf and gRPC, too, become events. For good: the log must live as long as the process.
  void TakeLibraryMessages();
  void Flush() { writer_.Flush(); }
  int64_t lines_lost() const { return writer_.counts().lost; }

 private:
  void Write(const rpc::Event& event);

  std::atomic<int> level_;
  rpc::LineWriter writer_;
};

}  // namespace eipc

#endif  // EIPC_SERVER_LOG_H_
