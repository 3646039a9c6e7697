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

// Three blocks that lie on one another, less than dhat apart.
SceneSpec Stack() {
  constexpr int kLayers = 8;
  SceneSpec scene = testing::EmptyScene();
  scene.contact.dhat_m = kDhat;
  const MaterialSpec soft = testing::SoftMaterial(500, 5e4, 0.4);
  scene.bodies = {testing::FullSpaceBox("low", Vec3(0.06, 0.06, 0.03), {6, 6, kLayers}, soft),
                  testing::FullSpaceBox("middle", Vec3(0.05, 0.05, 0.03), {4, 4, kLayers}, soft),
                  testing::FullSpaceBox("high", Vec3(0.04, 0.04, 0.03), {5, 5, kLayers}, soft)};
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
  NodePairs Append(const std::vector<ContactStencil>& contacts, NodePairs pairs, const BlockMatrix* present = nullptr) {
    ahead_.Append(contacts, present, &pairs);
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
  ContactAheadTest() : model_(testing::Compile(Stack())), random_(5), q_(3 * model_->node_count) {
    for (int32_t n = 0; n < model_->node_count; ++n) q_.segment<3>(3 * n) = model_->initial_positions[n];
    // Tilted, so that not all is equally near.
    const IndexRange& middle = model_->bodies[1].nodes;
    for (int32_t n = middle.begin; n < middle.end; ++n) q_[3 * n + 2] += 0.03 * q_[3 * n] + random_.Uniform(0, 1e-4);
    start_ = {{Node(0), Node(1)}};
    touching_ = Touching(1000);
  }
  int32_t Node(int32_t body) const { return model_->bodies[body].nodes.begin; }

  // `count` contacts of the two lower blocks, in either order, and 100 of the two upper ones.
  std::vector<ContactStencil> Touching(int count) const {
    std::vector<ContactStencil> contacts(count + 100);
    const auto vertex = [this](int body) { return model_->bodies[body].vertices.begin; };
    for (int i = 0; i < count + 100; ++i) {
      const int low = i < count ? i % 2 : 1, high = i < count ? 1 - low : 2;
      contacts[i].v = {vertex(low), vertex(high), vertex(high), vertex(high)};
    }
    return contacts;
  }

  // By comparing everything with everything.
  NodePairs Expected(const SurfaceMap& map, int64_t* near = nullptr) const {
    std::vector<Vec3> x;
    map.Positions(q_, &x);
    NodePairs pairs = start_;
    for (const Candidate& c : testing::AllPairs(model_->surface, kDhat)) {
      const std::vector<int32_t>& body = model_->surface.vertex_body;
      if (std::min(body[c.v[0]], body[c.v[2]]) != 0 || std::max(body[c.v[0]], body[c.v[2]]) != 1) continue;
      if (testing::CandidateDistance(c, x) >= 1.2 * kDhat) continue;
      map.AppendNodePairs(c.v, &pairs);
      if (near != nullptr) ++*near;
    }
    SortPairs(&pairs);
    return pairs;
  }

  std::shared_ptr<const Model> model_;
  testing::Random random_;
  VecX q_;
  NodePairs start_;
  std::vector<ContactStencil> touching_;
};

TEST_F(ContactAheadTest, CouplesAllThatIsNearOfBodiesThatAreCoupled) {
  Seen seen(model_.get(), q_, 0, &random_);
  const NodePairs expected = Expected(seen.map());
  EXPECT_GT(expected.size(), 200u) << "the test hardly tests";
  EXPECT_EQ(seen.Append(touching_, start_), expected);
}

// What is near all over but hardly touches is left alone.
TEST_F(ContactAheadTest, AddsNothingWhereManyTimesMoreIsNearThanTouches) {
  Seen seen(model_.get(), q_, 0, &random_);
  int64_t near = 0;
  const NodePairs expected = Expected(seen.map(), &near);
  EXPECT_GT(near, 300) << "the test hardly tests";
  const int enough = static_cast<int>((near + 5) / 6);
  EXPECT_EQ(seen.Append(Touching(enough), start_), expected);
  EXPECT_EQ(seen.Append(Touching(enough - 1), start_), start_);
  EXPECT_EQ(seen.Append(Touching(0), start_), start_);
  EXPECT_EQ(seen.Append({}, start_), start_);
}

// What the matrix has is not added again.
TEST_F(ContactAheadTest, LeavesOutWhatThePatternHas) {
  Seen seen(model_.get(), q_, 0, &random_);
  NodePairs half = Expected(seen.map()), rest, expected;
  for (size_t i = 0; i < half.size(); ++i) (half[i] == start_[0] || i % 2 == 0 ? expected : rest).push_back(half[i]);
  BlockMatrix present;
  present.SetPattern(model_->node_count, &rest);
  EXPECT_EQ(seen.Append(touching_, start_, &present), expected);
  EXPECT_EQ(seen.Append(touching_, start_, &present), expected) << "again";
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
  const NodePairs fresh = Seen(model_.get(), q_, 0, &random_).Append(touching_, start_);
  for (int round = 0; round < 40; ++round)
    EXPECT_EQ(Seen(model_.get(), q_, 1 + round % 4, &random_).Append(touching_, start_), fresh);
}

TEST_F(ContactAheadTest, AddsNothingWhereNoTwoBodiesAreCoupled) {
  const NodePairs within = {{Node(0), Node(0) + 1}, {Node(2), Node(2) + 5}};
  EXPECT_EQ(Seen(model_.get(), q_, 0, &random_).Append(touching_, within), within);
}

}  // namespace
}  // namespace eipc
