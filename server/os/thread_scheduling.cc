#include "server/os/thread_scheduling.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace eipc {
namespace {

// struct sched_attr of linux/sched/types.h, which glibc 2.36 does not have.
struct Attributes {
  uint32_t size = sizeof(Attributes);
  uint32_t policy = SCHED_OTHER;
  uint64_t flags = 0;
  int32_t nice = 0;
  uint32_t priority = 0;
  uint64_t runtime = 0;  // of a time slice, ns; 0: the kernel's
  uint64_t deadline = 0;
  uint64_t period = 0;
};
static_assert(sizeof(Attributes) == 48, "the kernel's first version");

constexpr uint64_t kShortNs = 100'000;

// Whether the process has asked for short slices: only then solves ask for batch scheduling.
std::atomic<bool> wanted = false;

void Ask(uint32_t policy, uint64_t runtime_ns) {
  Attributes attributes;
  attributes.policy = policy;
  attributes.nice = getpriority(PRIO_PROCESS, 0);  // as it is
  attributes.runtime = runtime_ns;
  (void)syscall(SYS_sched_setattr, 0, &attributes, 0);
}

}  // namespace

void UseShortTimeSlices() {
  wanted = true;
  Ask(SCHED_OTHER, kShortNs);
}

BatchScheduling::BatchScheduling() {
  if (wanted) Ask(SCHED_BATCH, 0);
}

BatchScheduling::~BatchScheduling() {
  if (wanted) Ask(SCHED_OTHER, kShortNs);
}

}  // namespace eipc
