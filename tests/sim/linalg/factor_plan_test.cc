#include "sim/linalg/factor_plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sim/linalg/spd_solver.h"
#include "tests/sim/linalg/random_blocks.h"

namespace eipc {
namespace {

using testing::Grid;
using testing::Random;

// Of a block of cubes, by any number of threads.
class FactorPlanTest : public ::testing::TestWithParam<int> {
 protected:
  FactorPlanTest() : random_(21), matrix_(Grid(9, &random_)) {
    solver_.Analyze(matrix_);
    plan_.SetStructure(structure());
    changed_.assign(structure().supernodes.size(), 1);
  }
  const SupernodalStructure& structure() const { return solver_.structure(); }

  Random random_;
  BlockMatrix matrix_;
  SpdSolver solver_;
  FactorPlan plan_;
  std::vector<uint8_t> changed_;
};

// Marks the rows of the panels that are ready after a task, and expects that what the task needs was so before.
class Ready {
 public:
  explicit Ready(const SupernodalStructure& structure) : structure_(structure), loaded_(structure.supernodes.size(), 0) {
    for (const SupernodalStructure::Supernode& node : structure.supernodes) {
      updated_.emplace_back(node.row_count, 0);
      factored_.emplace_back(node.row_count, 0);
    }
  }
  void Take(const FactorPlan::Task& task) {
    using Kind = FactorPlan::Task::Kind;
    const int32_t s = task.supernode;
    if (task.kind == Kind::kSubtree || task.kind == Kind::kWhole) {
      for (int32_t each = task.first; each <= s; ++each) {
        Load(each);
        Update(each, 0, RowsOf(each));
        Factor(each, 0, RowsOf(each));
      }
    } else if (task.kind == Kind::kLoad) {
      Load(s);
    } else {
      EXPECT_EQ(task.begin % 4, 0);
      if (task.kind != Kind::kSquare) Update(s, task.begin, task.end);
      if (task.kind != Kind::kUpdate) Factor(s, task.begin, task.end);
    }
  }
  bool All(int32_t s) const { return std::count(factored_[s].begin(), factored_[s].end(), 1) == RowsOf(s); }

 private:
  int32_t RowsOf(int32_t s) const { return structure_.supernodes[s].row_count; }
  void Load(int32_t s) { EXPECT_EQ(loaded_[s]++, 0); }
  void Update(int32_t s, int32_t begin, int32_t end) {
    EXPECT_TRUE(loaded_[s]);
    for (const SupernodalStructure::Update& u : structure_.UpdatesOf(s)) EXPECT_TRUE(All(u.source)) << s << " needs " << u.source;
    for (int32_t row = begin; row < end; ++row) EXPECT_EQ(updated_[s][row]++, 0) << "row " << row << " of " << s << " twice";
  }
  // From the first row on the square, or rows below the square when that is ready.
  void Factor(int32_t s, int32_t begin, int32_t end) {
    const int32_t columns = structure_.supernodes[s].columns();
    if (begin == 0) {
      EXPECT_GE(end, columns);
    } else {
      EXPECT_EQ(std::count(factored_[s].begin(), factored_[s].begin() + columns, 1), columns);
    }
    for (int32_t row = begin; row < end; ++row) {
      EXPECT_EQ(updated_[s][row], 1);
      EXPECT_EQ(factored_[s][row]++, 0) << "row " << row << " of " << s << " twice";
    }
  }

  const SupernodalStructure& structure_;
  std::vector<std::vector<int>> updated_, factored_;
  std::vector<int> loaded_;
};

TEST_P(FactorPlanTest, EveryRowIsComputedOnceAfterAllThatItNeeds) {
  plan_.Split(changed_, GetParam());
  Ready ready(structure());
  int kinds[6] = {};
  for (const FactorPlan::Task& task : plan_.tasks()) {
    ready.Take(task);
    ++kinds[static_cast<int>(task.kind)];
  }
  for (int32_t s = 0; s < static_cast<int32_t>(changed_.size()); ++s) EXPECT_TRUE(ready.All(s)) << s;
  using Kind = FactorPlan::Task::Kind;
  for (const Kind kind : {Kind::kSubtree, Kind::kLoad, Kind::kUpdate, Kind::kSquare, Kind::kRows}) {
    EXPECT_GT(kinds[static_cast<int>(kind)], 1) << static_cast<int>(kind);
  }
}

TEST_P(FactorPlanTest, PiecesAreThoseOfTheirRows) {
  plan_.Split(changed_, GetParam());
  using Kind = FactorPlan::Task::Kind;
  for (const FactorPlan::Task& task : plan_.tasks()) {
    if (task.kind != Kind::kUpdate && task.kind != Kind::kRows) continue;
    for (int32_t row = task.begin; row < task.end; ++row) EXPECT_EQ(plan_.PieceOfRow(task.supernode, row), task.piece);
    EXPECT_LT(task.piece, plan_.PiecesOf(task.supernode));
    EXPECT_EQ(task.kind == Kind::kUpdate, task.piece < plan_.SquarePiecesOf(task.supernode));
  }
}

// What has not changed is in no task, and costs nothing in a subtree.
TEST_P(FactorPlanTest, OnlyChangedSupernodesCount) {
  plan_.Split(changed_, GetParam());
  const double all = plan_.Flops(changed_);
  std::fill(changed_.begin(), changed_.end(), 0);
  for (int32_t s = 0; s >= 0; s = structure().supernodes[s].parent) changed_[s] = 1;
  plan_.Split(changed_, GetParam());
  double path = 0;
  for (int32_t s = 0; s >= 0; s = structure().supernodes[s].parent) path += plan_.FlopsOf(s);
  EXPECT_NEAR(plan_.Flops(changed_), path, 1e-9 * path);
  double planned = 0;
  for (const FactorPlan::Task& task : plan_.tasks()) {
    planned += task.flops;
    EXPECT_TRUE(changed_[task.supernode]);
  }
  EXPECT_NEAR(planned, path, 1e-9 * path);
  EXPECT_LT(path, all);
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
  Ready ready(solver.structure());
  for (const FactorPlan::Task& task : plan.tasks()) ready.Take(task);
  for (int32_t s = 0; s < static_cast<int32_t>(nodes.size()); ++s) EXPECT_TRUE(ready.All(s)) << s;
  const auto root = [](const SupernodalStructure::Supernode& node) { return node.parent < 0; };
  EXPECT_EQ(std::count_if(nodes.begin(), nodes.end(), root), kBodies);
}

INSTANTIATE_TEST_SUITE_P(Threads, FactorPlanTest, ::testing::Values(2, 3, 16));

}  // namespace
}  // namespace eipc
