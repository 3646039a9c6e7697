#include "sim/dynamics/contact_ahead.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/sim/collision/soups.h"
#include "tests/support/random.h"
#include "tests/support/scenes.h"

namespace eipc {
namespace {

constexpr double kDhat = 2e-3;
constexpr double kGap = 1.9e-3;

// Three blocks that lie on one another, less than dhat apart. The more layers of cells they have, the fewer of their nodes are
// near.
SceneSpec Stack(int layers) {
  SceneSpec scene = testing::EmptyScene();
  scene.contact.dhat_m = kDhat;
  const MaterialSpec soft = testing::SoftMaterial(500, 5e4, 0.4);
  scene.bodies = {testing::FullSpaceBox("low", Vec3(0.06, 0.06, 0.03), {6, 6, layers}, soft),
                  testing::FullSpaceBox("middle", Vec3(0.05, 0.05, 0.03), {4, 4, layers}, soft),
                  testing::FullSpaceBox("high", Vec3(0.04, 0.04, 0.03), {5, 5, layers}, soft)};
  for (size_t b = 0; b < 3; ++b) scene.bodies[b].pose.position = Vec3(0.001 * b, 0.002 * b, (0.03 + kGap) * b);
  return scene;
}

// A surface that has been elsewhere, unless `moves` is 0, before it comes to q.
class Seen {
 public:
  Seen(const Model* model, const VecX& q, int moves, testing::Random* random)
      : surface_(model, false, nullptr), ahead_(model, &surface_) {
    VecX last = q;
    for (int i = 0; i < moves; ++i) {
      const VecX next = q + random->LogUniform(1e-5, 3e-3) * VecX::NullaryExpr(q.size(), [&] { return random->Uniform(-1, 1); });
      surface_.BeginStep(last, next, surface_.Displacement(last, next));
      surface_.SetPoint(next);
      last = next;
    }
    if (moves == 0) surface_.BeginStep(q, q, 0);
    surface_.SetPoint(q);
  }
  NodePairs Append(NodePairs pairs, const BlockMatrix* present = nullptr) {
    ahead_.Append(present, &pairs);
    SortPairs(&pairs);
    return pairs;
  }
  const SurfaceMap& map() const { return surface_.map(); }

 private:
  SurfaceState surface_;
  ContactAhead ahead_;
};

class ContactAheadTest : public ::testing::Test {
 protected:
  explicit ContactAheadTest(int layers = 8) : model_(testing::Compile(Stack(layers))), random_(5), q_(3 * model_->node_count) {
    for (int32_t n = 0; n < model_->node_count; ++n) q_.segment<3>(3 * n) = model_->initial_positions[n];
    // Tilted, so that not all is equally near.
    const IndexRange& middle = model_->bodies[1].nodes;
    for (int32_t n = middle.begin; n < middle.end; ++n) q_[3 * n + 2] += 0.03 * q_[3 * n] + random_.Uniform(0, 1e-4);
    start_ = {{Node(0), Node(1)}};
  }
  int32_t Node(int32_t body) const { return model_->bodies[body].nodes.begin; }

  // By comparing everything with everything.
  NodePairs Expected(const SurfaceMap& map) const {
    std::vector<Vec3> x;
    map.Positions(q_, &x);
    NodePairs pairs = start_;
    for (const Candidate& c : testing::AllPairs(model_->surface, kDhat)) {
      const std::vector<int32_t>& body = model_->surface.vertex_body;
      if (std::min(body[c.v[0]], body[c.v[2]]) != 0 || std::max(body[c.v[0]], body[c.v[2]]) != 1) continue;
      if (testing::CandidateDistance(c, x) < 1.2 * kDhat) map.AppendNodePairs(c.v, &pairs);
    }
    SortPairs(&pairs);
    return pairs;
  }

  std::shared_ptr<const Model> model_;
  testing::Random random_;
  VecX q_;
  NodePairs start_;
};

TEST_F(ContactAheadTest, CouplesAllThatIsNearOfBodiesThatAreCoupled) {
  Seen seen(model_.get(), q_, 0, &random_);
  const NodePairs expected = Expected(seen.map());
  EXPECT_GT(expected.size(), 200u) << "the test hardly tests";
  EXPECT_EQ(seen.Append(start_), expected);
}

class ContactAllOverTest : public ContactAheadTest {
 protected:
  ContactAllOverTest() : ContactAheadTest(2) {}
};

TEST_F(ContactAllOverTest, AddsNothing) {
  Seen seen(model_.get(), q_, 0, &random_);
  EXPECT_GT(Expected(seen.map()).size(), static_cast<size_t>(model_->node_count)) << "the test hardly tests";
  EXPECT_EQ(seen.Append(start_), start_);
}

// What the matrix has is not added again. Nothing is added where more pairs are missing than there are nodes.
TEST_F(ContactAheadTest, LeavesOutWhatThePatternHas) {
  Seen seen(model_.get(), q_, 0, &random_);
  NodePairs half = Expected(seen.map()), rest, expected;
  for (size_t i = 0; i < half.size(); ++i) (half[i] == start_[0] || i % 2 == 0 ? expected : rest).push_back(half[i]);
  BlockMatrix present;
  present.SetPattern(model_->node_count, &rest);
  EXPECT_EQ(seen.Append(start_, &present), expected);
  EXPECT_EQ(seen.Append(start_, &present), expected) << "again";
  NodePairs many;
  for (int32_t n = 0; n <= model_->node_count; ++n) many.emplace_back(n / 100, 200 + n % 100 + n / 100);
  EXPECT_EQ(seen.Append(many, &present), many);
}

TEST_F(ContactAheadTest, PaysWithLargeFactorsOnly) {
  Model model = *model_;
  model.solver.linear_solver = LinearSolverKind::kCholesky;
  EXPECT_TRUE(ContactAhead::Pays(model));
  model.solver.linear_solver = LinearSolverKind::kPcgIc0;
  EXPECT_FALSE(ContactAhead::Pays(model));
  model.solver.linear_solver = LinearSolverKind::kCholesky;
  model.surface.vertex_count = 2 * model.node_count + 1;
  EXPECT_FALSE(ContactAhead::Pays(model));
}

TEST_F(ContactAheadTest, HistoryDecidesNothing) {
  const NodePairs fresh = Seen(model_.get(), q_, 0, &random_).Append(start_);
  for (int round = 0; round < 40; ++round) EXPECT_EQ(Seen(model_.get(), q_, 1 + round % 4, &random_).Append(start_), fresh);
}

TEST_F(ContactAheadTest, AddsNothingWhereNoTwoBodiesAreCoupled) {
  const NodePairs within = {{Node(0), Node(0) + 1}, {Node(2), Node(2) + 5}};
  EXPECT_EQ(Seen(model_.get(), q_, 0, &random_).Append(within), within);
}

}  // namespace
}  // namespace eipc
