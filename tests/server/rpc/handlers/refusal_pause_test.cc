#include "server/rpc/handlers/refusal_pause.h"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

namespace eipc::rpc {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using Clock = RefusalPause::Clock;

TEST(RefusalPause, LastsUntilThePauseHasPassedSinceTheLastAnswer) {
  std::vector<RefusalPause::Duration> slept;
  RefusalPause refusals(hours(2), 1, [&](RefusalPause::Duration d) { slept.push_back(d); });
  refusals.Hold({});
  refusals.Hold({}, Clock::now() - hours(1));
  refusals.Hold({}, Clock::now() - hours(3));
  ASSERT_EQ(slept.size(), 2u) << "who asks that seldom is answered at once";
  EXPECT_LE(slept[0], hours(2));
  EXPECT_GT(slept[0], hours(1));
  EXPECT_LE(slept[1], hours(1));
  EXPECT_EQ(refusals.holding(), 0);
}

TEST(RefusalPause, EndsWithTheCallersDeadline) {
  std::vector<RefusalPause::Duration> slept;
  RefusalPause refusals(hours(2), 1, [&](RefusalPause::Duration d) { slept.push_back(d); });
  StepBudget late;
  late.deadline = Clock::now() - milliseconds(1);
  refusals.Hold(late);
  EXPECT_TRUE(slept.empty());
  StepBudget soon;
  soon.deadline = Clock::now() + hours(1);
  refusals.Hold(soon);
  ASSERT_EQ(slept.size(), 1u);
  EXPECT_LE(slept[0], hours(1));
}

TEST(RefusalPause, HoldsOnlySoManyAtOnce) {
  int slept = 0, deepest = 0;
  RefusalPause* self = nullptr;
  // Another refusal comes while one is held.
  RefusalPause refusals(hours(1), 2, [&](RefusalPause::Duration) {
    ++slept;
    deepest = std::max(deepest, self->holding());
    self->Hold({});
  });
  self = &refusals;
  refusals.Hold({});
  EXPECT_EQ(slept, 2) << "the third was answered at once";
  EXPECT_EQ(deepest, 2);
  EXPECT_EQ(refusals.holding(), 0);
}

TEST(RefusalPause, NoneOfZero) {
  RefusalPause refusals(milliseconds(0), 9, [](RefusalPause::Duration) { ADD_FAILURE(); });
  refusals.Hold({});
}

}  // namespace
}  // namespace eipc::rpc
