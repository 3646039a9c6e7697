#include "sim/base/watch.h"

#include <gtest/gtest.h>

namespace eipc {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;

struct Record {
  nanoseconds now{0};
  nanoseconds yield{0};  // how long others have a core that is offered
  int yields = 0;
};

// Passes by being looked at.
struct TestTime {
  std::chrono::steady_clock::time_point Now() const {
    record->now += nanoseconds(100);
    return std::chrono::steady_clock::time_point(record->now);
  }
  void Yield() const {
    record->now += record->yield;
    ++record->yields;
  }

  Record* record;
};

using TestWatch = Watch<TestTime>;

const auto kNever = [] { return false; };

// How long a wait in vain lasts.
nanoseconds WaitsInVain(TestWatch* watch, Record* record) {
  const nanoseconds start = record->now;
  EXPECT_FALSE(watch->Until(kNever));
  return record->now - start;
}

TEST(Watch, WaitsBetweenTheLoopsOfAStep) {
  Record record;
  TestWatch watch(TestWatch::kSpin, TestTime{&record});
  for (const microseconds at : {microseconds(0), microseconds(20), microseconds(200), microseconds(450)}) {
    const nanoseconds start = record.now;
    EXPECT_TRUE(watch.Until([&] { return record.now - start >= at; }));
    EXPECT_LT(record.now - start, at + microseconds(1));
  }
  const nanoseconds vain = WaitsInVain(&watch, &record);
  EXPECT_GE(vain, TestWatch::kSpin + TestWatch::kLonger);
  EXPECT_LT(vain, TestWatch::kSpin + TestWatch::kLonger + microseconds(2));
}

// A short yield is one that nobody took.
TEST(Watch, OffersTheCoreAfterAWhile) {
  Record record;
  record.yield = microseconds(1);
  TestWatch watch(TestWatch::kSpin, TestTime{&record});
  EXPECT_TRUE(watch.Until([&] { return record.now > microseconds(45); }));
  EXPECT_EQ(record.yields, 0);
  EXPECT_GE(WaitsInVain(&watch, &record), TestWatch::kLonger);
  EXPECT_GT(record.yields, 100);
  EXPECT_GE(WaitsInVain(&watch, &record), TestWatch::kLonger) << "and is not wary";
}

TEST(Watch, IsWaryWhereOthersTakeTheCore) {
  Record record;
  record.yield = microseconds(60);
  TestWatch watch(TestWatch::kSpin, TestTime{&record});
  EXPECT_LT(WaitsInVain(&watch, &record), 2 * TestWatch::kSpin + microseconds(20)) << "one yield";
  EXPECT_EQ(record.yields, 1);
  for (int k = 0; k < TestWatch::kWary; ++k) EXPECT_LT(WaitsInVain(&watch, &record), TestWatch::kSpin + microseconds(2)) << k;
  EXPECT_EQ(record.yields, 1);
  record.yield = microseconds(0);
  EXPECT_GE(WaitsInVain(&watch, &record), TestWatch::kLonger);
}

// What came while others had the core is seen.
TEST(Watch, LooksOnceMoreBeforeItEnds) {
  Record record;
  record.yield = microseconds(60);
  TestWatch watch(TestWatch::kSpin, TestTime{&record});
  EXPECT_TRUE(watch.Until([&] { return record.yields > 0; }));
}

TEST(Watch, SpinsWithoutOfferingTheCore) {
  Record record;
  const TestWatch watch(TestWatch::kSpin, TestTime{&record});
  EXPECT_TRUE(watch.Spin([&] { return record.now > microseconds(45); }));
  EXPECT_FALSE(watch.Spin(kNever));
  EXPECT_EQ(record.yields, 0);
  EXPECT_LT(record.now, microseconds(45) + TestWatch::kSpin + microseconds(2));
}

}  // namespace
}  // namespace eipc
