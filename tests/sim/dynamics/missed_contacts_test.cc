#include "sim/dynamics/missed_contacts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "sim/contact/barrier_function.h"
#include "sim/dynamics/stage_problem.h"
#include "tests/support/scenes.h"

namespace eipc {
namespace {

constexpr double kDhat = 2e-3, kStiffness = 1e6;
constexpr size_t kAll = 1000;

// Two blocks one above the other; the nodes of the lower one's bottom are fixed.
class MissedContactsTest : public ::testing::Test {
 protected:
  void Place(double gap) {
    SceneSpec scene = testing::EmptyScene();
    scene.contact.dhat_m = kDhat;
    const MaterialSpec soft = testing::SoftMaterial(500, 5e4, 0.4);
    scene.bodies = {testing::FullSpaceBox("low", Vec3(0.06, 0.06, 0.03), {2, 2, 1}, soft),
                    testing::FullSpaceBox("high", Vec3(0.04, 0.04, 0.03), {2, 2, 1}, soft)};
    scene.bodies[1].pose.position = Vec3(0.005, 0.007, 0.03 + gap);
    model_ = testing::Compile(scene);
    q_.resize(3 * model_->node_count);
    direction_.setZero(q_.size());
    fixed_.assign(model_->node_count, 0);
    for (int32_t n = 0; n < model_->node_count; ++n) {
      q_.segment<3>(3 * n) = model_->initial_positions[n];
      fixed_[n] = q_[3 * n + 2] < 0;
      if (q_[3 * n + 2] > 0.015 + gap / 2) direction_[3 * n + 2] = -1;
    }
    problem_.emplace(model_.get(), &pool_, &seconds_);
    problem_->SetFixed(&fixed_);
    problem_->SetAsleep({});
    problem_->BeginStep(q_, q_, kStiffness, {});
    problem_->SetPoint(q_);
  }
  void Find(double closing, double fraction, size_t most) {
    const VecX dq = closing * direction_;
    problem_->FindContactsMet(dq, q_ + fraction * dq, fraction, most, &met_);
  }

  double GapAt(const std::array<int32_t, 4>& v, double closing) {
    problem_->SetPoint(q_ + closing * direction_);
    double gap = kDhat;  // or more
    for (const ContactStencil& s : problem_->contacts().stencils()) {
      if (std::is_permutation(s.v.begin(), s.v.end(), v.begin())) gap = s.gap();
    }
    problem_->SetPoint(q_);
    return gap;
  }

  std::shared_ptr<const Model> model_;
  ThreadPool pool_{1};
  PhaseSeconds seconds_ = {};
  std::optional<StageProblem> problem_;
  VecX q_, direction_;
  std::vector<uint8_t> fixed_;
  MetContacts met_;
};

TEST_F(MissedContactsTest, AreWhatTheModelDoesNotKnow) {
  constexpr double kGap = 1.5 * kDhat, kClosing = 2 * kDhat;
  Place(kGap);
  ASSERT_TRUE(problem_->contacts().stencils().empty());
  Find(kClosing, 0.6, kAll);
  ASSERT_GT(met_.size(), 3u);
  for (size_t i = 0; i < met_.size(); ++i) {
    const MetContact& contact = met_[i];
    EXPECT_EQ(contact.force, 0);
    EXPECT_EQ(contact.stiffness, 0);
    EXPECT_LT(contact.gradient.dot(direction_), 0) << "it closes";
    EXPECT_NEAR(contact.gap + 0.6 * kClosing * contact.gradient.dot(direction_), GapAt(contact.v, 0.6 * kClosing), 1e-15);
    EXPECT_GT(contact.scale, 0);
    EXPECT_EQ(problem_->ForceOfMet(contact, 0.5 * kDhat), -contact.scale * BarrierFirst(0.5 * kDhat, kDhat));
    for (int32_t n = 0; n < model_->node_count; ++n) {
      EXPECT_TRUE(!fixed_[n] || contact.gradient.segment<3>(3 * n).isZero(0)) << n;
    }
  }
  EXPECT_TRUE(problem_->contacts().stencils().empty()) << "the point is the start again";
}

TEST_F(MissedContactsTest, CountWhatTheModelKnowsOfThem) {
  constexpr double kGap = 0.9 * kDhat;
  Place(kGap);
  ASSERT_FALSE(problem_->contacts().stencils().empty());
  Find(0.02 * kGap, 1, kAll);
  EXPECT_EQ(met_.size(), 0u) << "a fiftieth nearer, the quadratic model holds";
  Find(1.2 * kGap, 0.5, kAll);
  ASSERT_GT(met_.size(), 0u);
  for (size_t i = 0; i < met_.size(); ++i) {
    const double gap = GapAt(met_[i].v, 0);
    EXPECT_NEAR(met_[i].force, -met_[i].scale * BarrierFirst(gap, kDhat), 1e-9 * met_[i].force);
    EXPECT_NEAR(met_[i].stiffness, met_[i].scale * BarrierSecond(gap, kDhat), 1e-9 * met_[i].stiffness);
  }
}

TEST_F(MissedContactsTest, ComeInPartsThatHaveNothingInCommon) {
  Place(1.5 * kDhat);
  Find(2 * kDhat, 0.6, kAll);
  const size_t all = met_.size();
  met_.Clear();
  for (size_t most = 2; met_.size() < all; ++most) {
    const size_t before = met_.size();
    Find(2 * kDhat, 0.6, most);
    ASSERT_EQ(met_.size(), std::min(all, before + most));
    for (size_t i = before; i < met_.size(); ++i) {
      for (size_t j = 0; j < i; ++j) EXPECT_NE(met_[i].v, met_[j].v);
    }
  }
  Find(2 * kDhat, 0.6, kAll);
  EXPECT_EQ(met_.size(), all);
}

TEST_F(MissedContactsTest, AreNotWhatOpens) {
  Place(0.9 * kDhat);
  Find(-0.05 * kDhat, 1, kAll);
  EXPECT_EQ(met_.size(), 0u);
}

}  // namespace
}  // namespace eipc
