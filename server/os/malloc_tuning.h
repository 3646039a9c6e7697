#ifndef EIPC_SERVER_OS_MALLOC_TUNING_H_
#define EIPC_SERVER_OS_MALLOC_TUNING_H_

#include <chrono>
#include <cstdint>

namespace eipc {

// What the allocator holds, bytes, over all its arenas. Where another allocator stands in for glibc's (sanitizers), next to
// nothing.
struct HeapUse {
  // Handed out and not given back: grows only when something is kept.
  int64_t in_use = 0;
  // Taken from the system: in use, free inside the arenas, and what it has given back but still has addresses for.
  int64_t held = 0;
};
HeapUse MeasureHeap();

// glibc gives threads up to eight arenas a core, each of which fills up to its own largest moment. Before the first thread starts;
// 0 leaves the choice to glibc.
void CapArenas(int count);

// Hands pages that nothing is on back to the system. Takes one arena's lock after the other, for as long as its free pages take.
void ReturnFreeMemory();

// When to do so: once an interval, in a moment without a solve; where there is none for another interval, in any.
class TrimSchedule {
 public:
  using Clock = std::chrono::steady_clock;
  // An interval of 0: never.
  TrimSchedule(std::chrono::milliseconds interval, Clock::time_point begin) : interval_(interval), last_(begin) {}
  // Whether now is the time; it is then taken to be done.
  bool Due(Clock::time_point now, bool busy);

 private:
  const std::chrono::milliseconds interval_;
  Clock::time_point last_;
};

}  // namespace eipc

#endif  // EIPC_SERVER_OS_MALLOC_TUNING_H_
