#ifndef EIPC_SERVER_RPC_LISTEN_OPEN_CALLS_H_
#define EIPC_SERVER_RPC_LISTEN_OPEN_CALLS_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>

namespace eipc::rpc {

// The calls that a server has open, so that it can stop without waiting for clients that keep one open, and end those whose client
// neither sends its message nor takes its answer.
//
// Invariant: after Drain no call waits for a request: those that did were notified, the others ask `draining` before they wait
// again.
class OpenCalls {
 public:
  using Clock = std::chrono::steady_clock;

  class Entry {
   public:
    // The client has until then for what it has to do; Clock::time_point::max(): as long as it likes.
    void ExpireAt(Clock::time_point when) { expires_.store(when.time_since_epoch().count(), std::memory_order_relaxed); }
    void NeverExpire() { ExpireAt(Clock::time_point::max()); }

   protected:
    ~Entry() = default;

   private:
    friend class OpenCalls;
    // Both run under the lock of OpenCalls: they must not block, nor add or remove.
    virtual void Interrupt() = 0;  // ends the call, whatever it is doing
    virtual void Drained() = 0;    // ends the call if it waits for a request
    std::atomic<Clock::rep> expires_{Clock::time_point::max().time_since_epoch().count()};
    std::list<Entry*>::iterator place_;
  };

  void Add(Entry* entry);
  void Remove(Entry* entry);
  // Interrupts the calls whose time is over; returns how many.
  int InterruptExpired(Clock::time_point now);
  void Drain();
  // Waits until no call is open, at most until `until`; false when some still are.
  bool AwaitEmpty(Clock::time_point until);
  bool draining() const { return draining_.load(); }
  int size() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable empty_;
  std::list<Entry*> calls_;  // guarded by mutex_
  std::atomic<bool> draining_ = false;
};

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_LISTEN_OPEN_CALLS_H_
