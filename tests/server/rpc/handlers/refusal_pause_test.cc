#include "server/rpc/handlers/refusal_pause.h"

#include <gtest/gtest.h>

#include <chrono>

namespace eipc::rpc {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using Clock = RefusalPause::Clock;

TEST(RefusalPause, LastsUntilThePauseHasPassedSinceTheLastAnswer) {
  RefusalPause refusals(hours(2), 9);
  const RefusalPause::Duration whole = refusals.Begin({});
  EXPECT_LE(whole, hours(2));
  EXPECT_GT(whole, hours(1));
  EXPECT_LE(refusals.Begin({}, Clock::now() - hours(1)), hours(1));
  EXPECT_EQ(refusals.holding(), 2);
  EXPECT_EQ(refusals.Begin({}, Clock::now() - hours(3)), hours(0)) << "a client that asks so rarely is answered at once";
  EXPECT_EQ(refusals.holding(), 2) << "there is nothing to end";
}

TEST(RefusalPause, EndsWithTheCallersDeadline) {
  RefusalPause refusals(hours(2), 9);
  StepBudget late;
  late.deadline = Clock::now() - milliseconds(1);
  EXPECT_EQ(refusals.Begin(late), hours(0));
  StepBudget soon;
  soon.deadline = Clock::now() + hours(1);
  const RefusalPause::Duration pause = refusals.Begin(soon);
  EXPECT_GT(pause, hours(0));
  EXPECT_LE(pause, hours(1));
}

TEST(RefusalPause, HoldsOnlySoManyAtOnce) {
  RefusalPause refusals(hours(1), 2);
  EXPECT_GT(refusals.Begin({}), hours(0));
  EXPECT_GT(refusals.Begin({}), hours(0));
  EXPECT_EQ(refusals.Begin({}), hours(0)) << "the third is answered at once";
  EXPECT_EQ(refusals.holding(), 2);
  refusals.End();
  EXPECT_GT(refusals.Begin({}), hours(0));
}

TEST(RefusalPause, NoneOfZero) {
  RefusalPause refusals(milliseconds(0), 9);
  EXPECT_EQ(refusals.Begin({}), hours(0));
}

}  // namespace
}  // namespace eipc::rpc
