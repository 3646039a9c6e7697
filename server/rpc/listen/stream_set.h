#ifndef EIPC_SERVER_RPC_LISTEN_STREAM_SET_H_
#define EIPC_SERVER_RPC_LISTEN_STREAM_SET_H_

#include <chrono>
#include <functional>
#include <list>
#include <mutex>
#include <utility>

namespace eipc::rpc {

// The open streams of a server, so that it can stop without waiting for clients that keep one open, and end those whose client does
// not read.
//
// Invariant: after Drain no stream waits for a request: those that did were interrupted, the others end after the response they are
// working on.
class StreamSet {
 public:
  using Clock = std::chrono::steady_clock;

 private:
  struct Entry {
    std::function<void()> interrupt;
    bool waiting = false;
    Clock::time_point writing_since = Clock::time_point::max();
  };

 public:
  class Stream {
   public:
    // `interrupt` makes a pending read or write return.
    Stream(StreamSet* set, std::function<void()> interrupt);
    ~Stream();
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    // Runs `read` unless the server drains.
    template <typename Read>
    bool Wait(Read&& read) {
      if (!BeginWait()) return false;
      const bool got = read();
      EndWait();
      return got;
    }
    // Runs `write`, which blocks while the client does not read.
    template <typename Write>
    bool Send(Write&& write) {
      SetWriting(Clock::now());
      const bool sent = write();
      SetWriting(Clock::time_point::max());
      return sent;
    }

   private:
    bool BeginWait();
    void EndWait();
    void SetWriting(Clock::time_point since);
    StreamSet* const set_;
    std::list<Entry>::iterator entry_;
  };

  void Drain();
  bool draining() const;
  // Ends the streams that have been writing one response since before `since`; returns how many.
  int InterruptWritersSince(Clock::time_point since);
  int size() const;

 private:
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::list<Entry> streams_;
  bool draining_ = false;
};

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_LISTEN_STREAM_SET_H_
