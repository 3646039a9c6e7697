#ifndef EIPC_TOOLS_CHILD_JOB_H_
#define EIPC_TOOLS_CHILD_JOB_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "sim/meshing/progress.h"

namespace eipc {

struct ChildLimits {
  double seconds = 300;                     // wall clock
  int64_t memory_bytes = int64_t{4} << 30;  // address space
};

// Runs `job` in a child process, so that whatever a mesh does to it (no end, no memory, a crash) ends with it: killed at its limit,
// and when this process is interrupted (SIGINT, SIGTERM) or dies. The child's output goes nowhere but its progress. Must be called
// while this process has one thread. OK, the job's own status, or DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED (memory), INTERNAL (crash),
// CANCELLED (interrupted), each with what to do in one line.
absl::Status RunInChild(const std::function<absl::Status(const MeshingProgress&)>& job, const ChildLimits& limits,
                        const MeshingProgress& progress);

}  // namespace eipc

#endif  // EIPC_TOOLS_CHILD_JOB_H_
