// Built from a copy of the sources in which planted_parts.py has planted a kind of body: nothing else is needed for it to be found,
// checked, described and compiled.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/scene/body_kinds.h"
#include "sim/scene/compile_scene.h"
#include "tests/support/scenes.h"
#include "tools/describe_parts.h"

namespace eipc {
namespace {

using ::testing::HasSubstr;

TEST(PlantedParts, ABodyKind) {
  ASSERT_NE(FindBodyKind("planted"), nullptr);
  SceneSpec scene = testing::EmptyScene();
  scene.bodies = {testing::StaticBox("corner", Vec3(2, 2, 2))};
  scene.bodies[0].kind = FindBodyKind("planted")->kind;
  const auto model = CompileScene(scene);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ((*model)->bodies[0].kind, "planted");
  EXPECT_EQ((*model)->bodies[0].vertices.size(), 4);
  scene.bodies[0].external_force = Vec3::UnitX();
  EXPECT_THAT(std::string(CompileScene(scene).status().message()), HasSubstr("a kinematic or static or planted body"));
  EXPECT_THAT(DescribeParts(), HasSubstr("| `planted` |  |  |  | a corner as large as its mesh |"));
}

}  // namespace
}  // namespace eipc
