#ifndef EIPC_SERVER_RPC_TELEMETRY_LINE_WRITER_H_
#define EIPC_SERVER_RPC_TELEMETRY_LINE_WRITER_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>

namespace eipc::rpc {

// The time now, RFC 3339 in UTC with milliseconds.
std::string TimeNow();

// Writes lines to a file or pipe on a thread of its own. Push never waits for the reader or the disk: when the queue is full, its
// oldest lines are dropped, and counted like those that cannot be written. Thread-safe.
//
// A writer that is blocked (a pipe without a reader) keeps nothing else from ending: the destructor gives it `patience` and then
// leaves its thread behind, which ends with the process or when its reader continues.
class LineWriter {
 public:
  struct Options {
    size_t max_queue_bytes = size_t{4} << 20;
    std::chrono::milliseconds patience{1000};
    // The line that stands in place of `count` lines that are missing; empty: nothing stands there.
    std::function<std::string(int64_t count)> gap;
    // Called once when lines begin to be lost, from any thread, and again only after writing has resumed; may be empty.
    std::function<void()> on_loss;
    // Called once a line is written again after `count` lines were lost; may be empty.
    std::function<void(int64_t count)> on_resume;
  };
  struct Counts {
    int64_t written = 0;
    int64_t lost = 0;  // dropped, or could not be written
  };

  // Takes over the descriptor.
  LineWriter(int file, Options options);
  // Writes what is left, for `patience` at most.
  ~LineWriter();
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;

  // `line` without its line break.
  void Push(std::string line);
  // Lines that are not written yet go to this file. Takes over the descriptor.
  void SwitchTo(int file);
  // Waits for what has been pushed to be written, for `patience` at most.
  void Flush();
  Counts counts() const;

 private:
  struct State;
  // Shared with the thread, which may be left behind.
  const std::shared_ptr<State> state_;
  std::thread thread_;
};

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_TELEMETRY_LINE_WRITER_H_
