// A stage's contacts and free moves are those that comparing all pairs of primitives finds, whatever one problem has seen before:
// bodies that move, turn and deform over many steps, fall asleep and wake, and searches that were interrupted.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "sim/collision/collision_free_step.h"
#include "sim/dynamics/stage_problem.h"
#include "tests/sim/collision/soups.h"
#include "tests/support/random.h"
#include "tests/support/scenes.h"

namespace eipc {
namespace {

constexpr double kDhat = 2e-3;

SceneSpec Heap() {
  SceneSpec scene = testing::EmptyScene();
  scene.contact.dhat_m = kDhat;
  scene.contact.form = BarrierForm::kPerPair;
  const MaterialSpec soft = testing::SoftMaterial(500, 5e4, 0.4), stiff = testing::StiffMaterial(800, 1e6);
  scene.bodies = {testing::FullSpaceBox("full", Vec3(0.05, 0.05, 0.05), {2, 2, 2}, soft),
                  testing::FullSpaceBox("flat", Vec3(0.08, 0.05, 0.01), {3, 2, 1}, soft),
                  testing::EmbeddedBox("embedded", Vec3(0.05, 0.05, 0.04), {2, 2, 2}, soft),
                  testing::AffineBox("affine", Vec3(0.04, 0.04, 0.04), stiff),
                  testing::AffineBox("other", Vec3(0.03, 0.06, 0.02), stiff),
                  testing::StaticSheet("floor", 0.2, 2),
                  testing::KinematicBox("plate", Vec3(0.06, 0.06, 0.01))};
  for (size_t b = 0; b < scene.bodies.size(); ++b) {
    if (b != 5) scene.bodies[b].pose.position = Vec3(0.1 * b, 0, 0.06);
  }
  return scene;
}

class StageSurface : public ::testing::Test {
 protected:
  StageSurface() : model_(testing::Compile(Heap())), pool_(1), problem_(model_.get(), &pool_, &seconds_, &interrupt_), random_(11) {
    all_ = testing::AllPairs(model_->surface, kDhat);
    asleep_.assign(model_->bodies.size(), 0);
    q_.resize(3 * model_->node_count);
    for (int32_t n = 0; n < model_->node_count; ++n) q_.segment<3>(3 * n) = model_->initial_positions[n];
    problem_.BeginStep(q_, q_, 1e6, {});
  }

  bool Rests(int32_t body) const { return asleep_[body] != 0 || !model_->bodies[body].traits.moves; }

  // Every body that is awake moves, turns and, some of them, deforms, and drifts to the middle: by about `by` m.
  VecX Moved(const VecX& q, double by) {
    VecX out = q;
    const Vec3 together = random_.Integer(0, 3) == 0 ? Vec3(random_.Cube(by)) : Vec3(Vec3::Zero());
    for (size_t b = 0; b < model_->bodies.size(); ++b) {
      const IndexRange& nodes = model_->bodies[b].nodes;
      if (asleep_[b] != 0 || nodes.size() == 0 || random_.Integer(0, 3) == 0) continue;
      Vec3 centre = Vec3::Zero();
      for (int32_t n = nodes.begin; n < nodes.end; ++n) centre += q.segment<3>(3 * n) / nodes.size();
      const Quat turn(Eigen::AngleAxisd(random_.Uniform(-1, 1) * by / 0.03, random_.Direction()));
      const Vec3 home = (Vec3(0, 0, 0.03) - centre) * std::min(1.0, by / 0.1);
      const Vec3 shift = together + random_.Cube(by) + home;
      const double noise = random_.Integer(0, 1) == 0 ? 0 : 0.2 * std::min(by, 5e-3);
      for (int32_t n = nodes.begin; n < nodes.end; ++n) {
        out.segment<3>(3 * n) = centre + shift + turn * (q.segment<3>(3 * n) - centre) + random_.Cube(noise);
      }
    }
    return out;
  }

  std::vector<Vec3> Positions(const VecX& q) const {
    std::vector<Vec3> x(model_->surface.vertex_count);
    problem_.map().Positions(q, &x);
    return x;
  }

  std::set<testing::PairName> Names(const ContactSet& contacts) const {
    std::set<testing::PairName> names;
    for (const auto* list : {&contacts.stencils(), &contacts.prescribed_pairs()}) {
      for (const ContactStencil& s : *list) {
        for (const Candidate& c : Of(s)) EXPECT_TRUE(names.insert(testing::NameOf(c)).second) << "named twice";
      }
    }
    return names;
  }

  // The candidate among all that has these vertices.
  std::vector<Candidate> Of(const ContactStencil& s) const {
    const auto key = [](ContactKind kind, std::array<int32_t, 4> v) {
      if (kind == ContactKind::kEdgeEdge && std::minmax(v[0], v[1]) > std::minmax(v[2], v[3])) v = {v[2], v[3], v[0], v[1]};
      if (kind == ContactKind::kEdgeEdge)
        v = {std::min(v[0], v[1]), std::max(v[0], v[1]), std::min(v[2], v[3]), std::max(v[2], v[3])};
      if (kind == ContactKind::kPointTriangle) std::sort(v.begin() + 1, v.end());
      return std::pair(kind, v);
    };
    if (by_vertices_.empty()) {
      for (const Candidate& c : all_) by_vertices_[key(c.kind, c.v)] = c;
    }
    const auto found = by_vertices_.find(key(s.kind, s.v));
    EXPECT_NE(found, by_vertices_.end());
    return {found->second};
  }

  bool ApartFor(const Candidate& c, const std::vector<Vec3>& x0, const std::vector<Vec3>& x1, double by) const {
    const int split = c.kind == ContactKind::kPointTriangle ? 1 : 2;
    Box a, b;
    for (int k = 0; k < 4; ++k) {
      Box& side = k < split ? a : b;
      side.Include(x0[c.v[k]]);
      side.Include(x1[c.v[k]]);
    }
    return (a.lo - b.hi).max(b.lo - a.hi).maxCoeff() > by;
  }

  // Those that may do something on the way.
  std::vector<Candidate> NearOnPath(const std::vector<Vec3>& x0, const std::vector<Vec3>& x1) const {
    std::vector<Candidate> out;
    for (const Candidate& c : all_) {
      if (Rests(model_->surface.vertex_body[c.v[0]]) && Rests(model_->surface.vertex_body[c.v[2]])) continue;
      if (!ApartFor(c, x0, x1, 1.1 * kDhat)) out.push_back(c);
    }
    return out;
  }

  void ExpectContactsComplete(const VecX& q) {
    const std::vector<Vec3> x = Positions(q);
    ContactSet expected(&model_->surface, &model_->contact_weights, model_->contact);
    expected.Update(NearOnPath(x, x), x, &pool_);
    const std::set<testing::PairName> names = Names(expected);
    ASSERT_EQ(Names(problem_.contacts()), names);
    if (!names.empty()) {
      ASSERT_NEAR(problem_.contacts().min_distance(), expected.min_distance(), 1e-12);
    }
    for (const auto* list : {&problem_.contacts().stencils(), &problem_.contacts().prescribed_pairs()}) {
      for (const ContactStencil& s : *list) {
        for (const int32_t v : s.v) ASSERT_EQ(problem_.x()[v], x[v]);
      }
    }
    found_ += static_cast<int>(names.size());
  }

  // The same list, in the same order, from a problem that has seen nothing else.
  void ExpectTheListOfAFreshProblem(const VecX& q) {
    StageProblem fresh(model_.get(), &pool_, &seconds_);
    fresh.SetAsleep(asleep_);
    fresh.BeginStep(q, q, 1e6, {});
    fresh.SetPoint(q);
    ASSERT_EQ(fresh.contacts().stencils().size(), problem_.contacts().stencils().size());
    for (size_t i = 0; i < fresh.contacts().stencils().size(); ++i) {
      const ContactStencil &a = fresh.contacts().stencils()[i], &b = problem_.contacts().stencils()[i];
      ASSERT_EQ(a.v, b.v) << i;
      ASSERT_EQ(a.distance, b.distance) << i;
    }
    EXPECT_EQ(fresh.contacts().min_distance(), problem_.contacts().min_distance());
  }

  double Rounding(const VecX& from, const VecX& to) const {
    double extent = 0, fixed = 0;
    for (const Vec3& offset : model_->surface_offset) fixed = std::max(fixed, offset.cwiseAbs().maxCoeff());
    for (const int32_t n : model_->summaries.nodes) {
      extent = std::max({extent, from.segment<3>(3 * n).cwiseAbs().maxCoeff(), to.segment<3>(3 * n).cwiseAbs().maxCoeff()});
    }
    return 8 * 1.2e-16 * std::max(fixed, model_->summaries.largest_weight_sum * extent);
  }

  // The free part of a short move.
  double ExpectMoveIsExamined(const VecX& q, const VecX& dq) {
    const double free = problem_.MaxStep(dq);
    if (problem_.MaxStepLimit() == StepLimit::kInversion || problem_.MaxStepLimit() == StepLimit::kIterations) return free;
    const VecX there = q + dq;
    const std::vector<Vec3> x0 = Positions(q), x1 = Positions(there);
    const double expected = CollisionFreeStep(NearOnPath(x0, x1), {x0, x1, Rounding(q, there)}, &pool_, nullptr);
    EXPECT_NEAR(free, expected, 1e-9);
    stopped_ += expected < 1;
    ++moves_;
    return free;
  }

  void TakeStep();

  std::shared_ptr<const Model> model_;
  ThreadPool pool_;
  PhaseSeconds seconds_ = {};
  Interrupt interrupt_;
  StageProblem problem_;
  testing::Random random_;
  std::vector<Candidate> all_;
  mutable std::map<std::pair<ContactKind, std::array<int32_t, 4>>, Candidate> by_vertices_;
  std::vector<uint8_t> asleep_;
  VecX q_;
  int found_ = 0, moves_ = 0, stopped_ = 0, interrupted_ = 0;
};

void StageSurface::TakeStep() {
  if (random_.Integer(0, 4) == 0) {
    for (size_t b = 0; b < asleep_.size(); ++b) {
      asleep_[b] = model_->bodies[b].traits.reacts && random_.Integer(0, 2) == 0;
    }
  }
  problem_.SetAsleep(asleep_);
  const double by = random_.LogUniform(1e-6, random_.Integer(0, 9) == 0 ? 0.1 : 0.01);
  const VecX guess = Moved(q_, by);
  const int allowed = random_.Integer(0, 2) == 0 ? random_.Integer(0, 60) : 1 << 30;
  int polls = 0;
  const Interrupt::Watch watch(&interrupt_, [&] { return ++polls > allowed ? absl::CancelledError("") : absl::OkStatus(); });
  problem_.BeginStep(q_, guess, 1e6, {});
  VecX at = q_;
  problem_.SetPoint(at);
  for (int point = 0; point < 4; ++point) {
    if (Raised(&interrupt_)) break;
    const VecX before = at;
    ASSERT_NO_FATAL_FAILURE(ExpectContactsComplete(at));
    if (point == 1) {
      ASSERT_NO_FATAL_FAILURE(ExpectTheListOfAFreshProblem(at));
    }
    VecX dq = point == 0 ? VecX(guess - at) : VecX(Moved(at, std::min(by, random_.LogUniform(1e-6, 0.01))) - at);
    const double most = model_->summaries.largest_weight_sum * dq.cwiseAbs().maxCoeff() * 1.8;
    if (most > 15 * kDhat) dq *= 15 * kDhat / most;
    double free = 1;
    if (allowed < 1000) {
      free = problem_.MaxStep(dq);
    } else {
      free = ExpectMoveIsExamined(at, dq);
      ASSERT_NO_FATAL_FAILURE(ExpectContactsComplete(at));
    }
    if (Raised(&interrupt_)) break;
    at = at + (random_.Integer(0, 1) == 0 ? 1 : random_.Uniform(0, 1)) * free * dq;
    problem_.SetPoint(at);
    if (random_.Integer(0, 2) == 0 && !Raised(&interrupt_)) {  // a line search that goes back
      problem_.SetPoint(before);
      if (Raised(&interrupt_)) break;
      ASSERT_NO_FATAL_FAILURE(ExpectContactsComplete(before));
      problem_.SetPoint(at);
    }
  }
  interrupted_ += Raised(&interrupt_);
  if (!Raised(&interrupt_)) q_ = at;
}

TEST_F(StageSurface, HasWhatAllPairsHave) {
  for (int step = 0; step < 400; ++step) {
    ASSERT_NO_FATAL_FAILURE(TakeStep()) << step;
    if (HasFailure()) FAIL() << "step " << step;
  }
  EXPECT_GT(found_, 2000);
  EXPECT_GT(moves_, 300);
  EXPECT_GT(stopped_, 50);
  EXPECT_GT(interrupted_, 20);
}

}  // namespace
}  // namespace eipc
