#include "sim/base/loop_cost.h"

#include <gtest/gtest.h>

namespace eipc {
namespace {

constexpr double kUs = 1e3;

// A loop of one length on a machine where it takes `alone_ns` alone and `shared_ns` by several threads.
class Machine {
 public:
  Machine(double alone_ns, double shared_ns) : alone_ns_(alone_ns), shared_ns_(shared_ns) {}
  void Becomes(double alone_ns, double shared_ns) { alone_ns_ = alone_ns, shared_ns_ = shared_ns; }
  // How many of so many runs were shared. The first run after the other way takes half as much again.
  int Shared(int runs) {
    int shared = 0;
    for (int k = 0; k < runs; ++k) {
      const bool pays = cost_.Pays(1);
      const double factor = pays == last_ ? 1 : 1.5;
      if (pays) {
        cost_.RanShared(1, factor * shared_ns_);
        ++shared;
      } else {
        cost_.RanAlone(1, factor * alone_ns_);
      }
      last_ = pays;
    }
    return shared;
  }

 private:
  LoopCost cost_;
  double alone_ns_, shared_ns_;
  bool last_ = false;
};

constexpr int kRound = LoopCost::kRound, kMostRound = LoopCost::kMostRound, kTries = LoopCost::kTries;

TEST(LoopCost, FirstRunsAloneThenTries) {
  LoopCost cost;
  for (int k = 0; k < 4; ++k) {
    EXPECT_FALSE(cost.Pays(1));
    cost.RanAlone(1, 100 * kUs);
  }
  EXPECT_DOUBLE_EQ(cost.ExpectedNs(3), 300 * kUs);
  EXPECT_TRUE(cost.Pays(1));
}

// Runs that were held up, by a hundredfold, one way or the other.
TEST(LoopCost, IsNotMisledByWhatWasHeldUp) {
  for (const double ratio : {0.6, 2.0}) {
    Machine machine(300 * kUs, ratio * 300 * kUs);
    for (const double alone : {1.0, 100.0}) {
      machine.Becomes(alone * 300 * kUs, 100 * ratio * 300 * kUs);
      machine.Shared(1);
      machine.Becomes(300 * kUs, ratio * 300 * kUs);
      machine.Shared(kRound);
    }
    const int shared = machine.Shared(4 * kMostRound);
    EXPECT_NEAR(shared, ratio < 1 ? 4 * kMostRound : 0, 10 * kTries) << ratio;
  }
}

TEST(LoopCost, IsSharedWhereThatTakesLess) {
  for (const double us : {9.0, 100.0, 1e4}) {
    Machine machine(us * kUs, 0.6 * us * kUs);
    EXPECT_GT(machine.Shared(kRound), kRound - 3 * kTries) << us;
    // Less and less often the other way is tried.
    EXPECT_NEAR(machine.Shared(4 * kMostRound), 4 * kMostRound - 6 * kTries, 2 * kTries) << us;
    EXPECT_NEAR(machine.Shared(4 * kMostRound), 4 * kMostRound - 4 * kTries, kTries) << us;
  }
}

// A second thread that takes as long, or nearly so, is tried now and then only.
TEST(LoopCost, IsAloneWhereSharingDoesNotPay) {
  for (const double ratio : {0.95, 1.0, 3.0}) {
    Machine machine(300 * kUs, ratio * 300 * kUs);
    EXPECT_LT(machine.Shared(kRound), 3 * kTries) << ratio;
    EXPECT_NEAR(machine.Shared(4 * kMostRound), 6 * kTries, 2 * kTries) << ratio;
    EXPECT_NEAR(machine.Shared(4 * kMostRound), 4 * kTries, kTries) << ratio;
  }
}

TEST(LoopCost, ShortRunsAreNotShared) {
  Machine machine(7 * kUs, 1 * kUs);
  EXPECT_EQ(machine.Shared(1000), 0);
}

// Other processes come and go.
TEST(LoopCost, FollowsTheMachine) {
  Machine machine(300 * kUs, 200 * kUs);
  machine.Shared(4 * kMostRound);
  machine.Becomes(300 * kUs, 400 * kUs);
  EXPECT_LT(machine.Shared(kRound), kRound / 2) << "what is slow is left soon";
  EXPECT_LE(machine.Shared(kMostRound), 4 * kTries);
  machine.Becomes(300 * kUs, 150 * kUs);
  machine.Shared(6 * kMostRound);
  EXPECT_GE(machine.Shared(kMostRound), kMostRound - 2 * kTries) << "what has become fast is found in time";
}

// A run that takes long says nothing about another: short ones wait for threads in vain.
TEST(LoopCost, KnowsRunsByTheirLength) {
  LoopCost cost;
  const auto run = [&cost](double work) {
    const bool pays = cost.Pays(work);
    const double alone = work * kUs;
    if (pays) {
      cost.RanShared(work, 30 * kUs + 0.5 * alone);
    } else {
      cost.RanAlone(work, alone);
    }
    return pays;
  };
  int small = 0, large = 0;
  for (int k = 0; k < 10 * kRound; ++k) {
    small += run(20) ? 1 : 0;
    large += run(1000) ? 1 : 0;
  }
  EXPECT_LT(small, 6 * kTries);
  EXPECT_GT(large, 10 * kRound - 6 * kTries);
}

}  // namespace
}  // namespace eipc
