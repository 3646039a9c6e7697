#include "sim/linalg/factor_plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sim/linalg/spd_solver.h"
#include "tests/sim/linalg/random_blocks.h"

namespace eipc {
namespace {

using testing::MakeRandomSpd;
using testing::Random;

// Of a ring with chords, by any number of threads.
class FactorPlanTest : public ::testing::TestWithParam<int> {
 protected:
  FactorPlanTest() : random_(21), matrix_(MakeRandomSpd(600, 60, &random_)) {
    solver_.Analyze(matrix_.sparse);
    plan_.SetStructure(structure());
    changed_.assign(structure().supernodes.size(), 1);
  }
  const SupernodalStructure& structure() const { return solver_.structure(); }

  Random random_;
  testing::RandomSpd matrix_;
  SpdSolver solver_;
  FactorPlan plan_;
  std::vector<uint8_t> changed_;
};

TEST_P(FactorPlanTest, EveryChangedSupernodeHasOnePlaceAndAllThatItNeedsComesBefore) {
  plan_.Split(changed_, GetParam());
  ASSERT_GT(plan_.subtrees().size(), 1U);
  ASSERT_FALSE(plan_.rest().empty());
  constexpr int kNone = -2, kRest = -1;
  std::vector<int> place(changed_.size(), kNone);
  for (size_t k = 0; k < plan_.subtrees().size(); ++k) {
    for (int32_t s = plan_.subtrees()[k].first; s <= plan_.subtrees()[k].last; ++s) {
      EXPECT_EQ(place[s], kNone) << "in two subtrees";
      place[s] = static_cast<int>(k);
    }
  }
  for (const int32_t s : plan_.rest()) {
    EXPECT_EQ(place[s], kNone) << "in a subtree too";
    place[s] = kRest;
  }
  EXPECT_TRUE(std::is_sorted(plan_.rest().begin(), plan_.rest().end()));
  for (size_t s = 0; s < place.size(); ++s) {
    ASSERT_NE(place[s], kNone) << s;
    for (const SupernodalStructure::Update& u : structure().UpdatesOf(static_cast<int32_t>(s))) {
      EXPECT_TRUE(place[u.source] == place[s] || place[s] == kRest) << u.source << " is needed by " << s;
    }
  }
}

// What has not changed is not among the rest, and costs nothing in a subtree.
TEST_P(FactorPlanTest, OnlyChangedSupernodesCount) {
  plan_.Split(changed_, GetParam());
  const double all = plan_.Flops(changed_);
  std::fill(changed_.begin(), changed_.end(), 0);
  for (int32_t s = 0; s >= 0; s = structure().supernodes[s].parent) changed_[s] = 1;
  plan_.Split(changed_, GetParam());
  double path = 0;
  for (int32_t s = 0; s >= 0; s = structure().supernodes[s].parent) path += plan_.FlopsOf(s);
  EXPECT_NEAR(plan_.Flops(changed_), path, 1e-9 * path);
  double planned = plan_.subtree_flops();
  for (const int32_t s : plan_.rest()) planned += plan_.FlopsOf(s);
  EXPECT_NEAR(planned, path, 1e-9 * path);
  EXPECT_LT(path, all);
  for (const int32_t s : plan_.rest()) EXPECT_TRUE(changed_[s]);
}

// Bodies that do not touch: a tree each.
TEST(FactorPlan, AForestHasSubtreesOfAllItsTrees) {
  constexpr int kBodies = 5, kNodes = 80;
  std::vector<std::pair<int32_t, int32_t>> pairs;
  for (int b = 0; b < kBodies; ++b) {
    for (int i = 0; i < kNodes; ++i) {
      for (int d = 1; d <= 8; ++d) pairs.emplace_back(b * kNodes + i, b * kNodes + (i + d) % kNodes);
    }
  }
  BlockMatrix h;
  h.SetPattern(kBodies * kNodes, &pairs);
  SpdSolver solver;
  solver.Analyze(h);
  const std::vector<SupernodalStructure::Supernode>& nodes = solver.structure().supernodes;
  FactorPlan plan;
  plan.SetStructure(solver.structure());
  plan.Split(std::vector<uint8_t>(nodes.size(), 1), 2);
  std::vector<int> places(nodes.size(), 0);
  for (const FactorPlan::Subtree& subtree : plan.subtrees()) {
    for (int32_t s = subtree.first; s <= subtree.last; ++s) ++places[s];
  }
  for (const int32_t s : plan.rest()) ++places[s];
  EXPECT_EQ(std::count(places.begin(), places.end(), 1), static_cast<long>(nodes.size()));
  const auto root = [](const SupernodalStructure::Supernode& node) { return node.parent < 0; };
  EXPECT_EQ(std::count_if(nodes.begin(), nodes.end(), root), kBodies);
}

INSTANTIATE_TEST_SUITE_P(Threads, FactorPlanTest, ::testing::Values(2, 3, 16));

}  // namespace
}  // namespace eipc
