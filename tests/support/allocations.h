#ifndef EIPC_TESTS_SUPPORT_ALLOCATIONS_H_
#define EIPC_TESTS_SUPPORT_ALLOCATIONS_H_

#include <cstdint>

namespace eipc::testing {

// Counts what a program takes from the heap, through malloc and everything built on it (operator new, Eigen, libraries). Linking
// eipc_test_allocations replaces malloc and its relatives; the sanitizers have their own, and then nothing is counted.
bool AllocationsAreCounted();
// By all threads since the program began.
int64_t AllocationCount();
// Bytes that were asked for since the program began, whether or not they were given back: an upper bound of what was ever held.
int64_t RequestedBytes();
// Bytes that are in use now, the heap's own bookkeeping included.
int64_t AllocatedBytes();
// The most that was in use at once since the last StartPeak, beyond what was in use then.
void StartPeak();
int64_t PeakBytes();
// While one lives, the first allocation of its thread ends the program: a debugger then shows who asked
// (EIPC_STOP_AT_ALLOCATION=1).
class StopAtAllocation {
 public:
  StopAtAllocation();
  ~StopAtAllocation();
};

// While one lives, one allocation of its thread gets no memory: number `at`, counted from 1. One at a time for each thread.
class FailAllocation {
 public:
  explicit FailAllocation(int64_t at);
  ~FailAllocation();
  FailAllocation(const FailAllocation&) = delete;
  FailAllocation& operator=(const FailAllocation&) = delete;
  // Whether there were so many.
  bool failed() const;
};

}  // namespace eipc::testing

#endif  // EIPC_TESTS_SUPPORT_ALLOCATIONS_H_
