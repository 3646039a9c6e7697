#include "sim/contact/friction_law.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace eipc {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;

TEST(FrictionLaw, FillsInDefaults) {
  const FrictionLaw none = ToFrictionLaw({}, 1e-4);
  EXPECT_EQ(none.dynamic_coefficient, 0);
  EXPECT_EQ(none.static_coefficient, 0);
  const FrictionLaw coulomb = ToFrictionLaw({.dynamic_coefficient = 0.4}, 1e-4);
  EXPECT_EQ(coulomb.dynamic_coefficient, 0.4);
  EXPECT_EQ(coulomb.static_coefficient, 0.4);
  EXPECT_EQ(coulomb.stribeck_velocity_m_s, 10 * 1e-4);
  EXPECT_EQ(coulomb.viscous_s_m, 0);
  const FrictionLaw stribeck = ToFrictionLaw({0.4, 0.6, 0.02, 0.1}, 1e-4);
  EXPECT_EQ(stribeck.static_coefficient, 0.6);
  EXPECT_EQ(stribeck.stribeck_velocity_m_s, 0.02);
  EXPECT_EQ(stribeck.viscous_s_m, 0.1);
}

// The static coefficient belongs to the dynamic one beside which it was given.
TEST(FrictionLaw, APairOverridesTheScene) {
  const FrictionSpec scene = {0.4, 0.6, 0.02, 0.1};
  const FrictionSpec same = Overridden(scene, {});
  EXPECT_EQ(same.static_coefficient, 0.6);
  const FrictionSpec other = Overridden(scene, {.dynamic_coefficient = 0.5});
  EXPECT_EQ(other.dynamic_coefficient, 0.5);
  EXPECT_FALSE(other.static_coefficient);
  EXPECT_EQ(other.stribeck_velocity_m_s, 0.02);
  EXPECT_EQ(other.viscous_s_m, 0.1);
  EXPECT_EQ(Overridden(scene, {.static_coefficient = 0.9}).dynamic_coefficient, 0.4);
  EXPECT_EQ(Overridden(scene, {.dynamic_coefficient = 0.5, .static_coefficient = 0.7}).static_coefficient, 0.7);
}

TEST(FrictionLaw, NamesWhatIsWrong) {
  EXPECT_THAT(FrictionProblems({0.4, 0.6, 0, 0.1}, {}), IsEmpty());
  EXPECT_THAT(FrictionProblems({.static_coefficient = 0.5}, {.dynamic_coefficient = 0.4}), IsEmpty());
  const auto problem = [](const FrictionSpec& spec) {
    const std::vector<FrictionProblem> problems = FrictionProblems(spec, {});
    return problems.size() == 1 ? problems[0].parameter + ": " + problems[0].message : "not one problem";
  };
  EXPECT_EQ(problem({.dynamic_coefficient = -1}), "friction_coefficient: must be >= 0, got -1");
  EXPECT_EQ(problem({.dynamic_coefficient = 1, .stribeck_velocity_m_s = std::nan("")}),
            "stribeck_velocity_m_s: must be >= 0, got nan");
  EXPECT_EQ(problem({.dynamic_coefficient = 0.4, .static_coefficient = 0.3}),
            "static_friction_coefficient: must be at least friction_coefficient (0.4), got 0.3");
  EXPECT_EQ(problem({.viscous_s_m = 0.1}), "friction_coefficient: must be > 0 for static or viscous friction");
}

}  // namespace
}  // namespace eipc
