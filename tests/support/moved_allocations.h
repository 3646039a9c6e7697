#ifndef EIPC_TESTS_SUPPORT_MOVED_ALLOCATIONS_H_
#define EIPC_TESTS_SUPPORT_MOVED_ALLOCATIONS_H_

#include <cstdint>

namespace eipc::testing {

// Moves what a program takes from the heap, through malloc and everything built on it: the heap promises multiples of 16 bytes, and
// whether a block also begins at a multiple of 32 depends on what was allocated before. Linking eipc_test_moved_allocations
// replaces malloc and its relatives; the sanitizers have their own, and then nothing is moved.
bool AllocationsAreMoved();

// Blocks that are allocated from now on, by all threads, begin at a multiple of 32 bytes, at one plus 16, or at either by chance.
void AlignAllocations();
void ShiftAllocations();
void ScatterAllocations(uint64_t seed);

}  // namespace eipc::testing

#endif  // EIPC_TESTS_SUPPORT_MOVED_ALLOCATIONS_H_
