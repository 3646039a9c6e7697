// The Jacobian of friction at the end of the step, over a whole contact set: the lagged Hessian and the remainder are the
// derivative of the force that Lag makes there.

#include "sim/energy/friction_remainder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "sim/contact/contact_set.h"
#include "tests/sim/collision/moving_surface.h"
#include "tests/sim/contact/stencil_cases.h"
#include "tests/support/finite_difference.h"
#include "tests/support/random.h"

namespace eipc {
namespace {

constexpr double kDhat = 1e-3, kStiffness = 1e9, kSlipSpeed = 1e-3, kStep = 0.01, kMu = 0.4;

// A small tetrahedron stands with a vertex in a valley, whose two walls share the edge along y. The edge is then a feature of
// negative weight (sim/contact/nearest_features.h).
class PointInAValley {
 public:
  PointInAValley()
      : surface_(BuildCollisionSurface({kValley, kProbe}, {{{0, 1, 2}, {1, 0, 3}}, {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}}})) {
    surface_.pair_enabled = {0, 1, 1, 0};
    settings_.dhat_m = kDhat;
    settings_.form = BarrierForm::kAreaWeighted;
    weights_ = ContactWeights(surface_);
    contacts_ = std::make_unique<ContactSet>(&surface_, &weights_, settings_);
    moving_ = std::make_unique<testing::MovingSurface>(surface_);
    map_ = std::make_unique<SurfaceMap>(&moving_->rows, &moving_->offsets);
    term_ = std::make_unique<FrictionTerm>(map_.get(), &pairs_, kSlipSpeed, &pool_);
    x_ = testing::Stack(surface_.rest_positions);
    testing::Random random(3);
    x_tilde_ = surface_.rest_positions;
    for (Vec3& p : x_tilde_) p += random.Cube(3e-5);
    v_ = VecX::Zero(x_.size());
    term_->BeginStage({x_, x_, x_tilde_, v_, kStep});
  }

  const VecX& x() const { return x_; }

  const ContactSet& ContactsAt(const VecX& x) {
    BroadPhase broad_phase = moving_->Detection(kDhat);
    broad_phase.UpdateBounds(x, x, 0);
    contacts_->Update(broad_phase.candidates(), testing::Unstack(x), &pool_);
    return *contacts_;
  }

  // The gradient of friction lagged at x.
  VecX Gradient(const VecX& x) {
    term_->Lag(ContactsAt(x), testing::Unstack(x), potential_);
    VecX gradient = VecX::Zero(x.size());
    term_->AddGradient({x, testing::Unstack(x)}, &gradient);
    return gradient;
  }

  // With the contact forces, planes and closest points of x held.
  testing::MatX LaggedJacobian() {
    term_->Lag(ContactsAt(x_), testing::Unstack(x_), potential_);
    return testing::JacobianByDifferences(
        [&](const VecX& x) -> VecX {
          VecX gradient = VecX::Zero(x.size());
          term_->AddGradient({x, testing::Unstack(x)}, &gradient);
          return gradient;
        },
        x_, 1e-9);
  }

  testing::MatX Remainder() {
    FrictionRemainder remainder(map_.get(), &pairs_, &pool_);
    remainder.Prepare(ContactsAt(x_), testing::Unstack(x_), *term_, potential_);
    testing::MatX out(x_.size(), x_.size());
    for (int j = 0; j < x_.size(); ++j) {
      VecX column = VecX::Zero(x_.size());
      remainder.AddTimes(VecX::Unit(x_.size(), j), &column);
      out.col(j) = column;
    }
    return out;
  }

 private:
  static inline const std::vector<Vec3> kValley = {Vec3(0, -0.01, 0), Vec3(0, 0.01, 0), Vec3(-0.02, 0, 0.008),
                                                   Vec3(0.02, 0, 0.008)};
  static inline const std::vector<Vec3> kProbe = {Vec3(2e-5, 1e-4, 4e-4), Vec3(-2e-3, -2e-3, 0.02), Vec3(3e-3, -1e-3, 0.02),
                                                  Vec3(0, 2e-3, 0.021)};

  CollisionSurface surface_;
  ContactSettings settings_;
  ContactWeights weights_;
  std::unique_ptr<ContactSet> contacts_;
  std::unique_ptr<testing::MovingSurface> moving_;
  ThreadPool pool_{1};
  VecX x_, v_;
  std::vector<Vec3> x_tilde_;
  ContactPotential potential_{kStiffness};
  PairFriction pairs_{2, {{}, {kMu, kMu}, {kMu, kMu}, {}}};
  std::unique_ptr<SurfaceMap> map_;
  std::unique_ptr<FrictionTerm> term_;
};

TEST(FrictionRemainder, IsExactWhereAFeatureHasNegativeWeight) {
  PointInAValley scene;
  const auto& stencils = scene.ContactsAt(scene.x()).stencils();
  ASSERT_TRUE(std::any_of(stencils.begin(), stencils.end(), [](const ContactStencil& s) { return s.weight < 0; }));
  ASSERT_TRUE(std::any_of(stencils.begin(), stencils.end(), [](const ContactStencil& s) { return s.weight > 0; }));
  const testing::MatX numeric = testing::JacobianByDifferences([&](const VecX& x) { return scene.Gradient(x); }, scene.x(), 1e-9);
  const testing::MatX exact = scene.LaggedJacobian() + scene.Remainder();
  EXPECT_GT(numeric.norm(), 0);
  EXPECT_LT(testing::RelativeError(numeric, exact), 1e-4);
}

}  // namespace
}  // namespace eipc
