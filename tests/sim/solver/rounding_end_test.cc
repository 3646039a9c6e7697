#include "sim/solver/rounding_end.h"

#include <gtest/gtest.h>

namespace eipc {
namespace {

const VecX kAtOneMetre = VecX::Constant(3, 1);
constexpr double kRounding = 1e-16;  // m, of a coordinate there

TEST(RoundingEnd, EndsWhereUpdatesFallNoMore) {
  RoundingEnd end;
  double update = kRounding;
  for (int k = 0; k < 5; ++k, update *= 0.4) EXPECT_FALSE(end.Observe(update, 1, 1, kAtOneMetre)) << "falls";
  EXPECT_TRUE(end.Observe(2 * update, 1, 1, kAtOneMetre)) << "by a fifth only";
}

// Half of an update leaves half of it, a sixteenth nearly all.
TEST(RoundingEnd, JudgesByThePartThatWasTaken) {
  RoundingEnd half, sixteenth;
  double update = kRounding;
  for (int k = 0; k < 5; ++k, update *= 0.5) EXPECT_FALSE(half.Observe(update, 1, 0.5, kAtOneMetre)) << "falls by what was taken";
  EXPECT_TRUE(half.Observe(2 * update, 1, 0.5, kAtOneMetre)) << "the same update again";
  EXPECT_FALSE(sixteenth.Observe(kRounding, 1, 1.0 / 16, kAtOneMetre));
  EXPECT_FALSE(sixteenth.Observe(kRounding * 15 / 16, 1, 1.0 / 16, kAtOneMetre));
  EXPECT_TRUE(sixteenth.Observe(kRounding, 1, 1.0 / 16, kAtOneMetre));
}

TEST(RoundingEnd, EndsWhereNoPartIsAnImprovement) { EXPECT_TRUE(RoundingEnd().Observe(kRounding, 1, 0, kAtOneMetre)); }

// A move that obstacles shorten is small for another reason, and so may be the next one.
TEST(RoundingEnd, DoesNotTakeABlockedMoveForRounding) {
  RoundingEnd end;
  for (const double limit : {0.0, 1e-9, 0.9}) {
    for (int k = 0; k < 5; ++k) EXPECT_FALSE(end.Observe(kRounding, limit, 0, kAtOneMetre)) << limit;
  }
  EXPECT_FALSE(end.Observe(kRounding, 1, 1, kAtOneMetre)) << "the first that is not blocked";
  EXPECT_TRUE(end.Observe(kRounding, 1, 1, kAtOneMetre));
}

TEST(RoundingEnd, DoesNotEndAboveRounding) {
  RoundingEnd end;
  for (int k = 0; k < 5; ++k) EXPECT_FALSE(end.Observe(1e-12, 1, k % 2, kAtOneMetre));
  EXPECT_TRUE(end.Observe(1e-12, 1, 0, 100 * kAtOneMetre)) << "of coordinates of 100 m it is";
}

constexpr double kEnergyRounding = 1e-13;

FlatEnd::Iteration Iteration(double energy, double update = 1, double part = 1, double promise = 1) {
  return {energy, kEnergyRounding, update, part, promise, false};
}

FlatEnd::Iteration Damped(FlatEnd::Iteration iteration) {
  iteration.damped = true;
  return iteration;
}

TEST(FlatEnd, EndsWhereNeitherEnergyNorUpdatesFall) {
  FlatEnd flat, falls, shrinks, edge;
  double energy = 1, update = 1;
  for (int k = 0; k < 8; ++k, energy -= 2 * kEnergyRounding, update *= 0.4) {
    EXPECT_FALSE(flat.Observe(Iteration(1 - 1e-14 * k))) << k;
    EXPECT_FALSE(falls.Observe(Iteration(energy, 1, 1e-3))) << k;
    EXPECT_FALSE(shrinks.Observe(Iteration(1, update))) << k;
    EXPECT_FALSE(edge.Observe(Iteration(energy, 1, k == 0 ? 1 : 1e-6))) << k;
  }
  EXPECT_TRUE(flat.Observe(Iteration(1)));
  EXPECT_FALSE(falls.Observe(Iteration(energy, 1, 1e-3))) << "by twice its rounding";
  EXPECT_FALSE(shrinks.Observe(Iteration(1, update))) << "as Newton does where energies no longer tell points apart";
  EXPECT_TRUE(edge.Observe(Iteration(energy, 1, 1e-6))) << "by twice its rounding, along a millionth of a move";
}

TEST(FlatEnd, WaitsLongerForWhatEnergiesCannotTell) {
  const FlatEnd::Iteration unseen = Iteration(1, 1, 1, 0.5 * kEnergyRounding);
  FlatEnd end, turned;
  for (int k = 0; k < 32; ++k) EXPECT_FALSE(end.Observe(unseen)) << k;
  EXPECT_TRUE(end.Observe(unseen));
  for (int k = 0; k < 24; ++k) EXPECT_FALSE(turned.Observe(unseen)) << k;
  EXPECT_FALSE(turned.Observe(Iteration(1))) << "one visible promise is not eight of them";
}

TEST(FlatEnd, DampedEnergiesMayFallAsSlowlyAsTheyAreRounded) {
  FlatEnd slow, unseen, flat;
  for (int k = 0; k < 100; ++k) EXPECT_FALSE(slow.Observe(Damped(Iteration(1 - 1e-15 * k)))) << k;
  for (int k = 0; k < 32; ++k) EXPECT_FALSE(unseen.Observe(Damped(Iteration(1, 1, 1, 0.5 * kEnergyRounding)))) << k;
  for (int k = 0; k < 8; ++k) EXPECT_FALSE(flat.Observe(Damped(Iteration(1)))) << k;
  EXPECT_TRUE(flat.Observe(Damped(Iteration(1)))) << "at an edge";
}

}  // namespace
}  // namespace eipc
