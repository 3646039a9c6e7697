#include "server/rpc/refusal_pause.h"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

namespace eipc::rpc {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

const absl::Status kFull = absl::ResourceExhaustedError("QUEUE_FULL: 1 calls wait for a solve slot already; try again later");

TEST(RefusalPause, HoldsWhatIsRefusedForWantOfRoomAndNothingElse) {
  std::vector<RefusalPause::Duration> slept;
  RefusalPause refusals(milliseconds(5), 1, [&](RefusalPause::Duration d) { slept.push_back(d); });
  EXPECT_FALSE(refusals.Hold(absl::OkStatus(), {}));
  EXPECT_FALSE(refusals.Hold(absl::ResourceExhaustedError("MEMORY_BUDGET: the session needs more"), {}));
  EXPECT_FALSE(refusals.Hold(absl::CancelledError("QUEUE_FULL: no"), {}));
  EXPECT_TRUE(slept.empty());
  EXPECT_TRUE(refusals.Hold(kFull, {}));
  EXPECT_EQ(slept, std::vector<RefusalPause::Duration>{milliseconds(5)});
  EXPECT_EQ(refusals.holding(), 0);
}

TEST(RefusalPause, EndsWithTheCallersDeadline) {
  std::vector<RefusalPause::Duration> slept;
  RefusalPause refusals(std::chrono::hours(2), 1, [&](RefusalPause::Duration d) { slept.push_back(d); });
  StepBudget late;
  late.deadline = steady_clock::now() - milliseconds(1);
  EXPECT_TRUE(refusals.Hold(kFull, late));
  EXPECT_TRUE(slept.empty());
  StepBudget soon;
  soon.deadline = steady_clock::now() + std::chrono::hours(1);
  EXPECT_TRUE(refusals.Hold(kFull, soon));
  ASSERT_EQ(slept.size(), 1u);
  EXPECT_LE(slept[0], std::chrono::hours(1));
}

TEST(RefusalPause, HoldsOnlySoManyAtOnce) {
  int slept = 0, deepest = 0;
  RefusalPause* self = nullptr;
  // Another refusal comes while one is held.
  RefusalPause refusals(milliseconds(5), 2, [&](RefusalPause::Duration) {
    ++slept;
    deepest = std::max(deepest, self->holding());
    self->Hold(kFull, {});
  });
  self = &refusals;
  EXPECT_TRUE(refusals.Hold(kFull, {}));
  EXPECT_EQ(slept, 2) << "the third was answered at once";
  EXPECT_EQ(deepest, 2);
  EXPECT_EQ(refusals.holding(), 0);
}

TEST(RefusalPause, NoneOfZero) {
  RefusalPause refusals(milliseconds(0), 9, [](RefusalPause::Duration) { ADD_FAILURE(); });
  EXPECT_TRUE(refusals.Hold(kFull, {}));
}

}  // namespace
}  // namespace eipc::rpc
