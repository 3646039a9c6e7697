#include "sim/base/parallel.h"

#include "sim/base/crew.h"

namespace eipc {
namespace {

// Loops that last less, all of their indices together, are not shared at all, or with no thread that sleeps: one comes some 35 to
// 75 us after it is called.
constexpr float kSharedNs = 8e3F;
constexpr float kWakingNs = 120e3F;

}  // namespace

void ThreadPool::Run(int64_t n, int64_t grain, IndexCost* cost, void* body, ChunkFn fn) {
  cost->Observe(RunExpected(cost->ExpectedNs(n), n, grain, body, fn));
}

LoopShare ThreadPool::RunExpected(float expected_ns, int64_t n, int64_t grain, void* body, ChunkFn fn) {
  if (sharing_ == Sharing::kAlways) {
    RunShared(n, grain, body, fn);
    return {};
  }
  const bool shared = expected_ns >= kSharedNs && !Pauses();  // not where nothing is known
  const Crew::Invite invite = expected_ns < kWakingNs ? Crew::Invite::kAwake : Crew::Invite::kAll;
  return Crew::OfProcess().Run(n, shared ? grain : n, helpers_, body, fn, invite);
}

void ThreadPool::RunShared(int64_t n, int64_t grain, void* body, ChunkFn fn) {
  Crew::OfProcess().Run(n, grain, helpers_, body, fn);
}

bool ThreadPool::Pauses() const { return sharing_ == Sharing::kWhereItPays && Crew::OfProcess().Pauses(); }

int ThreadPool::MostAtOnce() const { return helpers_ == 0 ? 1 : std::min(helpers_, Crew::OfProcess().workers()) + 1; }

}  // namespace eipc
