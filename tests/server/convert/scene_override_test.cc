#include "server/convert/scene_override.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "absl/strings/str_cat.h"
#include "eipc/v1/scene.pb.h"
#include "sim/dynamics/integrators.h"

namespace eipc {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SceneOverrideTest : public ::testing::Test {
 protected:
  SceneOverrideTest() {
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(R"(
      display_name: "a scene"
      bodies { name: "teddy" embedded { surface { file: "t.obj" } cage_vertices: 34 } material { youngs_modulus_pa: 5e4 }
               boundary_sets { name: "grip" vertices: 1 } }
      bodies { name: "floor" static_body { surface { file: "f.obj" } } }
      contact { dhat_m: 1e-3 self_contact: true }
    )",
                                                              &scene_));
  }
  std::string Error(const std::string& assignment) {
    const std::string before = scene_.SerializeAsString();
    const absl::Status status = ApplyOverride(assignment, &scene_);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << assignment;
    EXPECT_EQ(scene_.SerializeAsString(), before) << assignment;
    return std::string(status.message());
  }
  v1::Scene scene_;
};

TEST_F(SceneOverrideTest, SetsNumbers) {
  ASSERT_TRUE(ApplyOverride("solver.newton_tolerance_m_s=1e-6", &scene_).ok());
  EXPECT_EQ(scene_.solver().newton_tolerance_m_s(), 1e-6);
  ASSERT_TRUE(ApplyOverride("bodies[0].material.youngs_modulus_pa=3e4", &scene_).ok());
  EXPECT_EQ(scene_.bodies(0).material().youngs_modulus_pa(), 3e4);
  ASSERT_TRUE(ApplyOverride("bodies[teddy].material.poissons_ratio = 0.45", &scene_).ok());
  EXPECT_EQ(scene_.bodies(0).material().poissons_ratio(), 0.45);
  ASSERT_TRUE(ApplyOverride("bodies[0].linear_velocity_m_s.z=-1", &scene_).ok());
  EXPECT_EQ(scene_.bodies(0).linear_velocity_m_s().z(), -1);
  ASSERT_TRUE(ApplyOverride("solver.max_newton_iterations=7", &scene_).ok());
  EXPECT_EQ(scene_.solver().max_newton_iterations(), 7);
  ASSERT_TRUE(ApplyOverride("contact.dhat_m=0", &scene_).ok());
  EXPECT_EQ(scene_.contact().dhat_m(), 0);
}

TEST_F(SceneOverrideTest, SetsEverythingElse) {
  ASSERT_TRUE(ApplyOverrides({"contact.barrier_form=PER_PAIR", "contact.self_contact=false", "display_name=another name",
                              "gravity_m_s2={x: 0 y: 0 z: -1.62}", "bodies[teddy].boundary_sets[grip].vertices=[4, 5]",
                              "bodies[floor].name=\"ground\""},
                             &scene_)
                  .ok());
  EXPECT_EQ(scene_.contact().barrier_form(), v1::ContactSettings::PER_PAIR);
  EXPECT_TRUE(scene_.contact().has_self_contact());
  EXPECT_FALSE(scene_.contact().self_contact());
  EXPECT_EQ(scene_.display_name(), "another name");
  EXPECT_EQ(scene_.gravity_m_s2().z(), -1.62);
  EXPECT_THAT(scene_.bodies(0).boundary_sets(0).vertices(), ElementsAre(4, 5));
  EXPECT_EQ(scene_.bodies(1).name(), "ground");
}

TEST_F(SceneOverrideTest, ReplacesAnAlternativeWholeOnly) {
  EXPECT_THAT(Error("bodies[0].embedded.cage_mesh.file=c.vtk"),
              HasSubstr("bodies[0].embedded.cage_mesh: 'cage_vertices' is in use there"));
  EXPECT_THAT(Error("bodies[0].full_space.mesh.file=c.vtk"), HasSubstr("'embedded' is in use there"));
  ASSERT_TRUE(ApplyOverride("bodies[0].embedded.cage_mesh={file: 'c.vtk'}", &scene_).ok());
  EXPECT_EQ(scene_.bodies(0).embedded().cage_mesh().file(), "c.vtk");
  EXPECT_EQ(scene_.bodies(0).embedded().surface().file(), "t.obj");
}

// Methods of the table that ordinary differential equations alone are given to are refused with those that serve scenes.
TEST_F(SceneOverrideTest, RefusesIntegratorsThatAreForReference) {
  int refused = 0;
  for (const Scheme& row : AllSchemes()) {
    const std::string assignment = absl::StrCat("solver.integrator=", row.name);
    if (row.reference_only.empty()) {
      EXPECT_TRUE(ApplyOverride(assignment, &scene_).ok()) << row.name;
      continue;
    }
    ++refused;
    EXPECT_THAT(Error(assignment), AllOf(HasSubstr("must be one of INTEGRATOR_UNSPECIFIED, BACKWARD_EULER"),
                                         HasSubstr(absl::StrCat("RUNGE_KUTTA_4, got '", row.name, "'"))));
  }
  EXPECT_EQ(refused, 6);
}

TEST_F(SceneOverrideTest, ExplainsMistakes) {
  EXPECT_THAT(Error("solver"), HasSubstr("must be path=value"));
  EXPECT_THAT(Error("=3"), HasSubstr("must be path=value"));
  EXPECT_THAT(Error("solvr.x=3"), HasSubstr("solvr: no such field; there are: display_name, description"));
  EXPECT_THAT(Error("solver.tolerance=3"), HasSubstr("solver.tolerance: no such field; there are: integrator"));
  EXPECT_THAT(Error("bodies[2].name=x"), HasSubstr("bodies[2]: index out of range, there are 2"));
  EXPECT_THAT(Error("bodies[-1].name=x"), HasSubstr("bodies[-1]: index out of range"));
  EXPECT_THAT(Error("bodies[tedy].name=x"), HasSubstr("bodies[tedy]: no element has that name; there are: teddy, floor"));
  EXPECT_THAT(Error("bodies.name=x"), HasSubstr("bodies: is a list"));
  EXPECT_THAT(Error("solver[0].integrator=x"), HasSubstr("solver: is not a list"));
  EXPECT_THAT(Error("bodies[0].material.youngs_modulus_pa=soft"),
              HasSubstr("bodies[0].material.youngs_modulus_pa: must be a number, got 'soft'"));
  EXPECT_THAT(Error("solver.max_newton_iterations=1.5"), HasSubstr("must be a whole number, got '1.5'"));
  EXPECT_THAT(Error("contact.self_contact=maybe"), HasSubstr("must be true or false"));
  EXPECT_THAT(Error("contact.barrier_form=NONE"), HasSubstr("must be one of BARRIER_FORM_UNSPECIFIED, AREA_WEIGHTED, PER_PAIR"));
  EXPECT_THAT(Error("contact.dhat_m="), HasSubstr("must be a number, got ''"));
  EXPECT_THAT(Error("contact.dhat_m=1 friction_coefficient: 2"), HasSubstr("one assignment sets one field"));
  EXPECT_THAT(Error("display_name.x=1"), HasSubstr("display_name: has no fields of its own"));
  EXPECT_THAT(Error("bodies[0=1"), HasSubstr("not a path"));
  EXPECT_THAT(Error("bodies[0]..name=1"), HasSubstr("not a path"));
  EXPECT_THAT(Error("bodies[0]={}"), HasSubstr("set a field of an element"));
}

}  // namespace
}  // namespace eipc
