#include "tests/support/allocations.h"

#include <malloc.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define EIPC_COUNTS_ALLOCATIONS 1
#endif

namespace {

std::atomic<int64_t> allocations{0};
std::atomic<int64_t> requested_bytes{0};
std::atomic<int64_t> in_use{0};
std::atomic<int64_t> peak{0};
std::atomic<int64_t> peak_from{0};
thread_local bool stop_at_allocation = false;
thread_local int64_t until_failure = 0;  // allocations; 0: none fails

}  // namespace

#ifdef EIPC_COUNTS_ALLOCATIONS
namespace {

// Whether it may have them.
bool Count(size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  requested_bytes.fetch_add(static_cast<int64_t>(bytes), std::memory_order_relaxed);
  if (stop_at_allocation) std::abort();
  if (until_failure == 0 || --until_failure > 0) return true;
  errno = ENOMEM;
  return false;
}

void* Taken(void* block) {
  if (block == nullptr) return block;
  const auto bytes = static_cast<int64_t>(malloc_usable_size(block));
  const int64_t now = in_use.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  int64_t most = peak.load(std::memory_order_relaxed);
  while (now > most && !peak.compare_exchange_weak(most, now, std::memory_order_relaxed)) continue;
  return block;
}

void Given(void* block) {
  if (block != nullptr) in_use.fetch_sub(static_cast<int64_t>(malloc_usable_size(block)), std::memory_order_relaxed);
}

}  // namespace

// glibc's own, under the names that replacements may call.
extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* old, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
void __libc_free(void* block);

void* malloc(size_t size) { return Count(size) ? Taken(__libc_malloc(size)) : nullptr; }
void* calloc(size_t count, size_t size) { return Count(count * size) ? Taken(__libc_calloc(count, size)) : nullptr; }
void* realloc(void* old, size_t size) {
  if (!Count(size)) return nullptr;
  const auto before = static_cast<int64_t>(old == nullptr ? 0 : malloc_usable_size(old));
  void* const block = __libc_realloc(old, size);
  if (block != nullptr || size == 0) in_use.fetch_sub(before, std::memory_order_relaxed);
  return Taken(block);
}
void* memalign(size_t alignment, size_t size) { return Count(size) ? Taken(__libc_memalign(alignment, size)) : nullptr; }
void free(void* block) {
  Given(block);
  __libc_free(block);
}
void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void** out, size_t alignment, size_t size) {
  *out = memalign(alignment, size);
  return *out == nullptr ? ENOMEM : 0;
}
}
#endif

namespace eipc::testing {

bool AllocationsAreCounted() {
#ifdef EIPC_COUNTS_ALLOCATIONS
  return true;
#else
  return false;
#endif
}

int64_t AllocationCount() { return allocations.load(std::memory_order_relaxed); }

int64_t RequestedBytes() { return requested_bytes.load(std::memory_order_relaxed); }

int64_t AllocatedBytes() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<int64_t>(info.uordblks + info.hblkhd);
}

void StartPeak() {
  peak_from = in_use.load();
  peak = peak_from.load();
}

int64_t PeakBytes() { return peak.load() - peak_from.load(); }

StopAtAllocation::StopAtAllocation() { stop_at_allocation = std::getenv("EIPC_STOP_AT_ALLOCATION") != nullptr; }
StopAtAllocation::~StopAtAllocation() { stop_at_allocation = false; }

FailAllocation::FailAllocation(int64_t at) { until_failure = at; }
FailAllocation::~FailAllocation() { until_failure = 0; }
bool FailAllocation::failed() const { return until_failure == 0; }

}  // namespace eipc::testing
