#include "tools/describe_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace eipc {
namespace {

using ::testing::HasSubstr;

TEST(DescribeParts, TheDocumentationIsWhatTheDescriptorsSay) {
  std::ifstream in(EIPC_PARTS_PAGE);
  const std::string page((std::istreambuf_iterator<char>(in)), {});
  EXPECT_EQ(page, DescribeParts()) << "run `build/release/bin/eipc describe > docs/reference/parts.md`";
}

TEST(DescribeParts, HasASectionForEachKindOfPart) {
  const auto materials = DescribePart("materials");
  ASSERT_TRUE(materials.ok()) << materials.status();
  EXPECT_THAT(*materials, HasSubstr("| `MOONEY_RIVLIN` |"));
  EXPECT_THAT(*materials, HasSubstr("| `poissons_ratio` | – | > -1 and < 0.5 | Poisson's ratio |"));
  EXPECT_THAT(*DescribePart("bodies"), HasSubstr("| `affine` | yes |  | yes |"));
  EXPECT_THAT(*DescribePart("linear-solvers"), HasSubstr("| `PCG_IC0` |"));
  EXPECT_THAT(*DescribePart("friction-modes"), HasSubstr("| `IMPLICIT` |"));
  EXPECT_THAT(*DescribePart("mesh-formats"), HasSubstr("| Medit | `.mesh` | yes | yes |"));
  EXPECT_THAT(*DescribePart("friction"), HasSubstr("| `stribeck_velocity_m_s` | m/s | >= 0 |"));
  EXPECT_THAT(*DescribePart("integrators"), HasSubstr("| `TR_BDF2` | 2 | 2 |"));
  EXPECT_EQ(DescribePart("shells").status().message(),
            "no section 'shells'; there are bodies, mesh-formats, materials, fabrics, friction, friction-modes, integrators, "
            "linear-solvers");
}

}  // namespace
}  // namespace eipc
