#ifndef EIPC_SERVER_OS_CHILD_PROCESS_H_
#define EIPC_SERVER_OS_CHILD_PROCESS_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/base/memory_meter.h"
#include "sim/solver/step_budget.h"

namespace eipc {

// What a child may take. The kernel holds it to memory, processor time and files; it writes no core file.
struct ChildLimits {
  // Memory of its own (RLIMIT_DATA), and with half a GiB for programs and libraries its address space. 0: no bound.
  int64_t memory_bytes = int64_t{4} << 30;
  // Its time by the clock, whatever the budget allows; its processors' time may be as long on each of the machine's cores.
  std::chrono::seconds time{3600};
  // The most bytes of its standard output.
  size_t max_output = size_t{256} << 20;
  // Asked for the output as it grows; may be null.
  MemoryMeter* meter = nullptr;
};

// The exit status of a child that ran out of memory.
inline constexpr int kOutOfMemoryExit = 77;

// Runs a program with `input` on its standard input and returns its standard output. When the budget or its own time ends it is
// killed at once, wherever it is: for work that does not poll. It dies with this process, even when that is killed; it has default
// signals, no files but its three, and does not stay behind when this returns. Errors:
//   CANCELLED, DEADLINE_EXCEEDED  the budget's; CHILD_TIME: its own time, or that of its processors
//   RESOURCE_EXHAUSTED            CHILD_OUTPUT: it wrote too much; CHILD_MEMORY: it needed more memory than it may have;
//   CHILD_FAILED: it
//                                 cannot be started; the meter's
//   INTERNAL                      CHILD_FAILED: it failed; the beginning of what it wrote to standard error is in the message
// `heard` gets whole lines of standard error as they come, and takes those for which it returns true out of it.
absl::StatusOr<std::string> RunChild(const std::vector<std::string>& arguments, absl::string_view input, const ChildLimits& limits,
                                     const StepBudget& budget, const std::function<bool(const std::string& line)>& heard = nullptr);

}  // namespace eipc

#endif  // EIPC_SERVER_OS_CHILD_PROCESS_H_
