#include "sim/linalg/factor_progress.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "sim/linalg/spd_solver.h"
#include "tests/sim/linalg/random_blocks.h"

namespace eipc {
namespace {

using testing::Grid;
using testing::Random;

class FactorProgressTest : public ::testing::Test {
 protected:
  FactorProgressTest() : random_(21), matrix_(Grid(9, &random_)) {
    solver_.Analyze(matrix_);
    plan_.SetStructure(solver_.structure());
    count_ = static_cast<int32_t>(solver_.structure().supernodes.size());
    progress_.SetStructure(plan_, count_);
    while (plan_.PiecesOf(cut_) < plan_.SquarePiecesOf(cut_) + 2) ++cut_;
  }
  int32_t RowsOf(int32_t s) const { return solver_.structure().supernodes[s].row_count; }

  Random random_;
  BlockMatrix matrix_;
  SpdSolver solver_;
  FactorPlan plan_;
  FactorProgress progress_;
  int32_t count_ = 0;
  int32_t cut_ = 0;  // a supernode of several pieces
};

TEST_F(FactorProgressTest, WhatHasNotChangedIsReady) {
  std::vector<uint8_t> changed(count_, 0);
  changed[cut_] = 1;
  progress_.Begin(changed);
  for (int32_t s = 0; s < count_; ++s) {
    if (s == cut_) continue;
    EXPECT_TRUE(progress_.AwaitRows(plan_, s, 0, RowsOf(s), nullptr));
  }
  progress_.GiveUp();
  EXPECT_FALSE(progress_.AwaitRows(plan_, cut_, 0, 1, nullptr));
}

// A thread that waits for rows goes on when the last of their pieces is ready, not before.
TEST_F(FactorProgressTest, RowsAreReadyWithTheLastOfTheirPieces) {
  progress_.Begin(std::vector<uint8_t>(count_, 1));
  const int32_t square = plan_.SquarePiecesOf(cut_), pieces = plan_.PiecesOf(cut_);
  ASSERT_GT(pieces, square);
  std::atomic<int> made = 0;
  std::thread waits([&] {
    EXPECT_TRUE(progress_.AwaitLoaded(cut_, nullptr));
    EXPECT_GE(made, 1);
    EXPECT_TRUE(progress_.AwaitSquareUpdates(cut_, nullptr));
    EXPECT_GE(made, 1 + square);
    EXPECT_TRUE(progress_.AwaitRows(plan_, cut_, 0, 1, nullptr));
    EXPECT_GE(made, 2 + square);
    EXPECT_TRUE(progress_.AwaitRows(plan_, cut_, 0, RowsOf(cut_), nullptr));
    EXPECT_EQ(made, 2 + pieces);
  });
  const auto next = [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ++made;
  };
  next();
  progress_.Loaded(cut_);
  for (int32_t piece = 0; piece < square; ++piece) {
    next();
    progress_.SquareUpdated(cut_, piece);
  }
  next();
  progress_.SquareReady(cut_);
  for (int32_t piece = square; piece < pieces; ++piece) {
    next();
    progress_.RowsReady(cut_, piece);
  }
  waits.join();
}

TEST_F(FactorProgressTest, GivingUpEndsEveryWaitUntilTheNextBegin) {
  progress_.Begin(std::vector<uint8_t>(count_, 1));
  std::thread waits([&] { EXPECT_FALSE(progress_.AwaitRows(plan_, cut_, 0, 1, nullptr)); });
  progress_.GiveUp();
  waits.join();
  EXPECT_TRUE(progress_.given_up());
  progress_.Begin(std::vector<uint8_t>(count_, 1));
  progress_.AllReady(cut_);
  EXPECT_TRUE(progress_.AwaitRows(plan_, cut_, 0, RowsOf(cut_), nullptr));
}

// The thread that owns an interrupt asks it while it waits.
TEST_F(FactorProgressTest, AnInterruptEndsAWait) {
  progress_.Begin(std::vector<uint8_t>(count_, 1));
  Interrupt interrupt;
  int asked = 0;
  const Interrupt::Watch watch(&interrupt, [&asked] { return ++asked > 3 ? absl::CancelledError("") : absl::OkStatus(); });
  EXPECT_FALSE(progress_.AwaitLoaded(cut_, &interrupt));
  EXPECT_EQ(asked, 4);
}

}  // namespace
}  // namespace eipc
