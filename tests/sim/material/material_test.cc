#include "sim/material/material.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace eipc {
namespace {

TEST(Materials, AreFoundByTheirNames) {
  std::set<absl::string_view> names;
  for (const MaterialModel material : Materials()) {
    EXPECT_TRUE(names.insert(material->name).second) << material->name;
    EXPECT_EQ(FindMaterial(material->name), material);
    EXPECT_FALSE(material->energy.empty());
    EXPECT_FALSE(material->parameters.empty());
  }
  EXPECT_EQ(FindMaterial("JELLY"), nullptr);
  EXPECT_EQ(FindMaterial(""), nullptr);
}

// The descriptor at each place of the variant makes the material of that place.
TEST(Materials, EveryDescriptorMakesItsOwn) {
  MaterialSpec spec;
  spec.youngs_modulus_pa = 1e5;
  spec.poissons_ratio = 0.3;
  for (size_t i = 0; i < Materials().size(); ++i) {
    const Material material = Materials()[i]->make(spec);
    EXPECT_EQ(material.index(), i) << Materials()[i]->name;
    std::visit([](const auto& m) { EXPECT_EQ(m.Psi(Mat3::Identity(), Mat3::Identity()), 0); }, material);
  }
  spec.mooney_second_share = 0.4;
  const Mat3 f = Eigen::DiagonalMatrix<double, 3>(1.1, 0.9, 1.3);
  EXPECT_EQ(std::get<MooneyRivlin>(MooneyRivlin::kDescriptor.make(spec)).Psi(f, f),
            MooneyRivlin::FromModuli(1e5, 0.3, 0.4).Psi(f, f));
}

TEST(Materials, BoundsSayWhatTheyContain) {
  EXPECT_EQ(kYoungsModulus.bounds.Text(), "> 0");
  EXPECT_EQ(kPoissonsRatio.bounds.Text(), "> -1 and < 0.5");
  EXPECT_EQ(Bounds::Within(0, 1).Text(), "in [0, 1]");
  EXPECT_EQ(Bounds::NotNegative().Text(), ">= 0");
  EXPECT_EQ(Bounds().Text(), "finite");
  EXPECT_TRUE(Bounds::Within(0, 1).Contains(0) && Bounds::Within(0, 1).Contains(1) && Bounds::NotNegative().Contains(0));
  EXPECT_FALSE(Bounds::Positive().Contains(0) || Bounds::Between(-1, 0.5).Contains(0.5) || Bounds::Within(0, 1).Contains(1.01));
  EXPECT_FALSE(Bounds().Contains(1.0 / 0.0) || Bounds().Contains(0.0 / 0.0));
}

}  // namespace
}  // namespace eipc
