#include "sim/solver/time_limit.h"

#include <gtest/gtest.h>

#include <limits>

namespace eipc {
namespace {

using Clock = SolveLimit::Clock;

SolveLimit At(int64_t check) {
  SolveLimit limit;
  limit.ends_at_check = check;
  return limit;
}

TEST(TimeLimit, WithoutALimitNothingEnds) {
  TimeLimit limit;
  limit.BeginStep({});
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(limit.Ended());
  limit.EndStep();
  EXPECT_EQ(limit.ended_at(), -1);
  EXPECT_FALSE(limit.late());
}

// A step has one iteration in any case.
TEST(TimeLimit, ATimeThatHasPassedEndsAtTheSecondCheck) {
  TimeLimit limit;
  limit.BeginStep(SolveLimit::After(1e-9, Clock::time_point::min()));
  EXPECT_FALSE(limit.Ended());
  EXPECT_TRUE(limit.Ended());
  limit.EndStep();
  EXPECT_EQ(limit.ended_at(), 1);
  EXPECT_TRUE(limit.late());
}

TEST(TimeLimit, ATimeFarAheadEndsNothing) {
  TimeLimit limit;
  limit.BeginStep(SolveLimit::After(1e5, Clock::now()));
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(limit.Ended());
  limit.EndStep();
  EXPECT_EQ(limit.ended_at(), -1);
  EXPECT_FALSE(limit.late());
}

// As long as it lately was: an iteration that would begin in time but not end in time does not begin.
TEST(TimeLimit, AnIterationThatWouldEndLateDoesNotBegin) {
  TimeLimit limit;
  const Clock::time_point begin = Clock::now();
  limit.BeginStep(SolveLimit::After(2e-3, begin));
  while (!limit.Ended()) {
    const Clock::time_point started = Clock::now();
    while (Clock::now() - started < std::chrono::microseconds(300)) continue;
  }
  EXPECT_GE(limit.ended_at(), 0);
  limit.BeginStep(SolveLimit::After(2e-4, Clock::now()));
  EXPECT_FALSE(limit.Ended());
  EXPECT_TRUE(limit.Ended()) << "the last iterations took longer than all the time that there is";
}

// The machine stands still for a while in one iteration: the next steps have their iterations all the same.
TEST(TimeLimit, APauseDoesNotShortenTheNextSteps) {
  TimeLimit limit;
  const auto work = [&](std::chrono::microseconds each, int most) {
    limit.BeginStep(SolveLimit::After(1e4, Clock::now()));
    for (int i = 0; i < most && !limit.Ended(); ++i) {
      const Clock::time_point started = Clock::now();
      while (Clock::now() - started < each) continue;
    }
    limit.EndStep();
  };
  work(std::chrono::microseconds(100), 50);
  work(std::chrono::microseconds(100000), 3);
  limit.BeginStep(SolveLimit::After(0.05, Clock::now()));
  EXPECT_FALSE(limit.Ended());
  EXPECT_FALSE(limit.Ended()) << "an iteration of 100 us is expected to be far shorter than 50 ms";
}

// A line search asks before each of its trials.
TEST(TimeLimit, AnIterationMayEndWithinButNotTheFirst) {
  TimeLimit limit;
  limit.BeginStep(SolveLimit::After(1e-9, Clock::time_point::min()));
  EXPECT_FALSE(limit.Ended());
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(limit.EndedWithin()) << "a step has one iteration in any case";
  EXPECT_TRUE(limit.Ended());
  EXPECT_EQ(limit.ended_at(), 6) << "checks of both kinds count";
  limit.BeginStep(SolveLimit::After(1e5, Clock::now()));
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(limit.Ended());
    EXPECT_FALSE(limit.EndedWithin());
  }
  limit.BeginStep(SolveLimit::After(2e-3, Clock::now()));
  EXPECT_FALSE(limit.Ended());
  EXPECT_FALSE(limit.Ended());
  while (!limit.EndedWithin()) continue;
  EXPECT_TRUE(limit.Ended()) << "it stays ended";
}

// Trials are a part of an iteration: they do not make it look short.
TEST(TimeLimit, TrialsDoNotShortenTheExpectedIteration) {
  TimeLimit limit;
  limit.BeginStep(SolveLimit::After(1e5, Clock::now()));
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(limit.Ended());
    for (int trial = 0; trial < 4; ++trial) {
      const Clock::time_point started = Clock::now();
      while (Clock::now() - started < std::chrono::microseconds(250)) continue;
      EXPECT_FALSE(limit.EndedWithin());
    }
  }
  limit.BeginStep(SolveLimit::After(6e-4, Clock::now()));
  EXPECT_FALSE(limit.Ended());
  EXPECT_TRUE(limit.Ended()) << "an iteration takes 1 ms";
}

TEST(TimeLimit, ARecordedEndIsRepeatedWithoutAClock) {
  for (const int64_t end : {0, 1, 7}) {
    TimeLimit limit;
    limit.BeginStep(At(end));
    for (int64_t i = 0; i < end; ++i) EXPECT_FALSE(limit.Ended()) << i;
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(limit.Ended()) << "it stays ended";
    EXPECT_EQ(limit.ended_at(), end);
    limit.BeginStep({});
    EXPECT_FALSE(limit.Ended()) << "the next step has a limit of its own";
  }
}

TEST(TimeLimit, SecondsThatAreNoneOrTooManyAreNoLimit) {
  for (const double seconds :
       {0.0, -1.0, 1e6, 1e300, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_FALSE(SolveLimit::After(seconds, Clock::now()).timed()) << seconds;
  }
  EXPECT_TRUE(SolveLimit::After(0.02, Clock::now()).timed());
}

}  // namespace
}  // namespace eipc
