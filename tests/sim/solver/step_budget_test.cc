#include "sim/solver/step_budget.h"

#include <gtest/gtest.h>

namespace eipc {
namespace {

TEST(StepBudget, WithoutLimitsItNeverTrips) { EXPECT_TRUE(StepBudget().Poll().ok()); }

TEST(StepBudget, SaysWhyItTrips) {
  StepBudget cancelled;
  cancelled.cancelled = [] { return true; };
  EXPECT_EQ(cancelled.Poll().code(), absl::StatusCode::kCancelled);
  StepBudget late;
  late.deadline = std::chrono::steady_clock::time_point::min();  // has passed on any clock
  EXPECT_EQ(late.Poll().code(), absl::StatusCode::kDeadlineExceeded);
  late.cancelled = [] { return false; };
  EXPECT_EQ(late.Poll().code(), absl::StatusCode::kDeadlineExceeded);
}

}  // namespace
}  // namespace eipc
