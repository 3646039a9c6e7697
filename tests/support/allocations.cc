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
thread_local bool stop_at_allocation = false;

}  // namespace

#ifdef EIPC_COUNTS_ALLOCATIONS
namespace {

void Count(size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  requested_bytes.fetch_add(static_cast<int64_t>(bytes), std::memory_order_relaxed);
  if (stop_at_allocation) std::abort();
}

}  // namespace

// glibc's own, under the names that replacements may call.
extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* old, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

void* malloc(size_t size) {
  Count(size);
  return __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  Count(count * size);
  return __libc_calloc(count, size);
}
void* realloc(void* old, size_t size) {
  Count(size);
  return __libc_realloc(old, size);
}
void* memalign(size_t alignment, size_t size) {
  Count(size);
  return __libc_memalign(alignment, size);
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

StopAtAllocation::StopAtAllocation() { stop_at_allocation = std::getenv("EIPC_STOP_AT_ALLOCATION") != nullptr; }
StopAtAllocation::~StopAtAllocation() { stop_at_allocation = false; }

}  // namespace eipc::testing
