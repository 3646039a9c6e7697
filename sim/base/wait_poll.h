#ifndef EIPC_SIM_BASE_WAIT_POLL_H_
#define EIPC_SIM_BASE_WAIT_POLL_H_

#include "sim/base/interrupt.h"

namespace eipc {

// While this exists, the calling thread asks an interrupt about once a millisecond when it waits for the threads that share a loop
// of its (Crew): only the owner of an interrupt can ask its source, and another thread may have the longest part of the loop.
class WaitPoll {
 public:
  // `interrupt` may be null.
  explicit WaitPoll(Interrupt* interrupt) : before_(current_) { current_ = interrupt; }
  ~WaitPoll() { current_ = before_; }
  WaitPoll(const WaitPoll&) = delete;
  WaitPoll& operator=(const WaitPoll&) = delete;

  // Of the calling thread; null: none.
  static Interrupt* current() { return current_; }

 private:
  static inline thread_local Interrupt* current_ = nullptr;
  Interrupt* before_;
};

}  // namespace eipc

#endif  // EIPC_SIM_BASE_WAIT_POLL_H_
