#include "sim/base/parallel.h"

#include "sim/base/crew.h"

namespace eipc {

void ThreadPool::Run(int64_t n, int64_t grain, void* context, ChunkFn fn) {
  Crew::OfProcess().Run(n, grain, helpers_, context, fn);
}

}  // namespace eipc
