#ifndef EIPC_SERVER_RPC_STREAM_SET_H_
#define EIPC_SERVER_RPC_STREAM_SET_H_

#include <functional>
#include <list>
#include <mutex>
#include <utility>

namespace eipc::rpc {

// The open streams of a server, so that it can stop without waiting for clients that keep one open.
//
// Invariant: after Drain no stream waits for a request: those that did were interrupted, the others end after the response they are
// working on.
class StreamSet {
 private:
  struct Entry {
    std::function<void()> interrupt;
    bool waiting = false;
  };

 public:
  class Stream {
   public:
    // `interrupt` makes a pending read return.
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

   private:
    bool BeginWait();
    void EndWait();
    StreamSet* const set_;
    std::list<Entry>::iterator entry_;
  };

  void Drain();
  bool draining() const;

 private:
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::list<Entry> streams_;
  bool draining_ = false;
};

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_STREAM_SET_H_
