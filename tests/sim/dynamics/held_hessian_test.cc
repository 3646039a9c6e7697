#include "sim/dynamics/held_hessian.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "sim/base/types.h"

namespace eipc {
namespace {

// Between nodes 1 and 3: blocks that count how often they were asked for.
class CountingTerm : public EnergyTerm {
 public:
  void BeginStage(const StageContext&) override {}
  double Value(const Point&) override { return 0; }
  void AddGradient(const Point&, VecX*) override {}
  void AddHessian(const Point&, BlockMatrix* hessian) override {
    ++asked;
    hessian->Add(1, 1, asked * Mat3::Identity());
    hessian->Add(3, 3, asked * Mat3::Identity());
    hessian->Add(3, 1, -asked * Mat3::Ones());
  }
  void AppendPattern(std::vector<std::pair<int32_t, int32_t>>* pairs) const override { pairs->emplace_back(3, 1); }
  bool HessianHolds(const Point&) override { return holds; }
  bool may_hold_hessian() const override { return true; }

  int asked = 0;
  bool holds = true;
};

class HeldHessianTest : public ::testing::Test {
 protected:
  HeldHessianTest() { SetPattern({{0, 1}, {1, 3}}); }
  void SetPattern(std::vector<std::pair<int32_t, int32_t>> pairs) {
    sum_.SetPattern(4, &pairs);
    held_.BindPattern(sum_);
  }
  // The block (3, 1) of the sum that it is added to.
  Mat3 Added() {
    sum_.SetZero();
    sum_.Add(0, 0, Mat3::Identity());
    const int asked = term_.asked;
    const bool held = held_.Add({q_, x_}, &sum_);
    EXPECT_EQ(held, term_.asked == asked);
    EXPECT_EQ(At(0, 0), Mat3::Identity());
    EXPECT_EQ(At(1, 0), Mat3::Zero());
    EXPECT_EQ(At(1, 1)(0, 0), -At(3, 1)(0, 0));
    return At(3, 1);
  }
  Mat3 At(int32_t row, int32_t column) { return Eigen::Map<const Mat3>(sum_.values().data() + 9 * sum_.Find(row, column)); }

  VecX q_ = VecX::Zero(12);
  std::vector<Vec3> x_;
  CountingTerm term_;
  HeldHessian held_{&term_};
  BlockMatrix sum_;
};

TEST_F(HeldHessianTest, ItIsAskedForAgainOnceItDoesNotHold) {
  EXPECT_EQ(Added(), -Mat3::Ones());
  EXPECT_EQ(Added(), -Mat3::Ones());
  term_.holds = false;
  EXPECT_EQ(Added(), -2 * Mat3::Ones());
  term_.holds = true;
  EXPECT_EQ(Added(), -2 * Mat3::Ones());
}

TEST_F(HeldHessianTest, NothingIsHeldFromOneStageToTheNext) {
  EXPECT_EQ(Added(), -Mat3::Ones());
  held_.Drop();
  EXPECT_EQ(Added(), -2 * Mat3::Ones());
}

TEST_F(HeldHessianTest, ItIsAddedAgainAFewTimesInARow) {
  for (int round = 1; round <= 3; ++round) {
    for (int use = 0; use <= HeldHessian::kMostUses; ++use) EXPECT_EQ(Added(), -round * Mat3::Ones());
  }
}

TEST_F(HeldHessianTest, TheSumsPatternMayChange) {
  EXPECT_EQ(Added(), -Mat3::Ones());
  SetPattern({{0, 1}, {0, 2}, {1, 2}, {2, 3}, {1, 3}});
  EXPECT_EQ(Added(), -Mat3::Ones());
  EXPECT_EQ(term_.asked, 1);
}

}  // namespace
}  // namespace eipc
