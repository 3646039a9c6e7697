#ifndef EIPC_SERVER_OS_THREAD_SCHEDULING_H_
#define EIPC_SERVER_OS_THREAD_SCHEDULING_H_

namespace eipc {

// How threads share a core. Threads that read and answer calls ask for short time slices (Linux 6.12 and later; others ignore it):
// the kernel schedules them between the long slices of a solve, and they get no more processor time in all for it. Threads that
// solve, or wait to, are batch work to the kernel: when they are woken they preempt no other thread. So a call is read and answered
// within some microseconds on a core that solves, not after the 3 or 4 ms of a slice of the solve.

// This thread and those that it starts from now on ask for short time slices. Until it is called nothing here does anything.
void UseShortTimeSlices();

// The calling thread, and those that it starts meanwhile, are batch work while this lives; then it asks for short slices again. Not
// to be nested.
class BatchScheduling {
 public:
  BatchScheduling();
  ~BatchScheduling();
  BatchScheduling(const BatchScheduling&) = delete;
  BatchScheduling& operator=(const BatchScheduling&) = delete;
};

}  // namespace eipc

#endif  // EIPC_SERVER_OS_THREAD_SCHEDULING_H_
