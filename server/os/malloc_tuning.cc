#include "server/os/malloc_tuning.h"

#include <malloc.h>

namespace eipc {

HeapUse MeasureHeap() {
  const struct mallinfo2 info = mallinfo2();
  return {static_cast<int64_t>(info.uordblks + info.hblkhd), static_cast<int64_t>(info.arena + info.hblkhd)};
}

void CapArenas(int count) {
  if (count > 0) mallopt(M_ARENA_MAX, count);
}

void ReturnFreeMemory() { malloc_trim(0); }

bool TrimSchedule::Due(Clock::time_point now, bool busy) {
  if (interval_.count() <= 0 || now - last_ < (busy ? 2 : 1) * interval_) return false;
  last_ = now;
  return true;
}

}  // namespace eipc
