#ifndef EIPC_SERVER_SESSION_TURNS_H_
#define EIPC_SERVER_SESSION_TURNS_H_

namespace eipc {

// How threads share a core. Those that read and answer calls ask for short turns (Linux 6.12 and later; others ignore it): the
// kernel lets them in between the long turns of a solve, and they get no more of the processor in all for it. Those that solve, or
// wait to, are batch work to the kernel: when they are woken they preempt no other thread. So a call is read and answered within
// some microseconds on a core that solves, not after the 3 or 4 ms of a solve's turn.

// This thread and those that it starts from now on ask for short turns. Until it is called nothing here does anything.
void TakeShortTurns();

// The calling thread, and those that it starts meanwhile, solve while this lives; then it asks for short turns again. Not to be
// nested.
class SolvingTurns {
 public:
  SolvingTurns();
  ~SolvingTurns();
  SolvingTurns(const SolvingTurns&) = delete;
  SolvingTurns& operator=(const SolvingTurns&) = delete;
};

}  // namespace eipc

#endif  // EIPC_SERVER_SESSION_TURNS_H_
