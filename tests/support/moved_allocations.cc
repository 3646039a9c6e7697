#include "tests/support/moved_allocations.h"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define EIPC_MOVES_ALLOCATIONS 1
#endif

namespace {

constexpr uintptr_t kVector = 32;  // bytes of a vector register
constexpr uintptr_t kHeap = 16;    // what malloc aligns to

std::atomic<uint64_t> scatter{0};  // the seed of the next block; 0: all blocks begin at `offset`
std::atomic<uintptr_t> offset{0};

}  // namespace

#ifdef EIPC_MOVES_ALLOCATIONS
// glibc's own, under the names that replacements may call.
extern "C" {
void* __libc_malloc(size_t size);
void* __libc_memalign(size_t alignment, size_t size);
void __libc_free(void* block);
}

namespace {

// Stands before each block.
struct Header {
  void* taken;  // from glibc
  size_t size;
};
static_assert(sizeof(Header) == kHeap);

Header* HeaderOf(void* block) { return static_cast<Header*>(block) - 1; }

uintptr_t NextOffset() {
  if (scatter.load(std::memory_order_relaxed) == 0) return offset.load(std::memory_order_relaxed);
  // splitmix64
  uint64_t z = scatter.fetch_add(0x9e3779b97f4a7c15, std::memory_order_relaxed);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return kHeap * ((z >> 40) & 1);
}

void* Place(void* taken, uintptr_t begin, size_t size) {
  void* const block = reinterpret_cast<void*>(begin);
  *HeaderOf(block) = {taken, size};
  return block;
}

}  // namespace

extern "C" {
void* malloc(size_t size) {
  const size_t whole = size + sizeof(Header) + kVector;
  void* const taken = whole < size ? nullptr : __libc_malloc(whole);
  if (taken == nullptr) {
    errno = ENOMEM;
    return nullptr;
  }
  uintptr_t begin = reinterpret_cast<uintptr_t>(taken) + sizeof(Header);
  if (begin % kVector != NextOffset()) begin += kHeap;
  return Place(taken, begin, size);
}
void free(void* block) {
  if (block != nullptr) __libc_free(HeaderOf(block)->taken);
}
void* calloc(size_t count, size_t size) {
  size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  void* const block = malloc(bytes);
  return block == nullptr ? nullptr : std::memset(block, 0, bytes);
}
void* realloc(void* old, size_t size) {
  if (old == nullptr) return malloc(size);
  if (size == 0) {
    free(old);
    return nullptr;
  }
  void* const block = malloc(size);
  if (block == nullptr) return nullptr;
  std::memcpy(block, old, std::min(size, HeaderOf(old)->size));
  free(old);
  return block;
}
void* memalign(size_t alignment, size_t size) {
  if (alignment <= kHeap) return malloc(size);
  const size_t whole = size + alignment;
  void* const taken = whole < size ? nullptr : __libc_memalign(alignment, whole);
  if (taken == nullptr) {
    errno = ENOMEM;
    return nullptr;
  }
  return Place(taken, reinterpret_cast<uintptr_t>(taken) + alignment, size);
}
void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void** out, size_t alignment, size_t size) {
  *out = memalign(alignment, size);
  return *out == nullptr ? ENOMEM : 0;
}
size_t malloc_usable_size(void* block) { return block == nullptr ? 0 : HeaderOf(block)->size; }
}
#endif

namespace eipc::testing {

bool AllocationsAreMoved() {
#ifdef EIPC_MOVES_ALLOCATIONS
  return true;
#else
  return false;
#endif
}

void AlignAllocations() { scatter = 0, offset = 0; }
void ShiftAllocations() { scatter = 0, offset = kHeap; }
void ScatterAllocations(uint64_t seed) { scatter = 2 * seed + 1; }

}  // namespace eipc::testing
