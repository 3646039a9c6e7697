#include "server/convert/robot_check.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "eipc/v1/scene.pb.h"

namespace eipc {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// A base, an arm that turns and two fingers, of which one follows the other.
constexpr char kGripper[] = R"pb(
  bodies { name: "base" }
  bodies { name: "left" }
  bodies { name: "right" }
  joints { name: "hinge" }
  robots {
    name: "gripper"
    links {
      name: "world"
      bodies { body: "base" }
    }
    links { name: "arm" }
    links {
      name: "left"
      bodies { body: "left" }
    }
    links {
      name: "right"
      bodies { body: "right" }
    }
    joints {
      name: "turn"
      type: REVOLUTE
      parent: 0
      axis { z: 1 }
      lower: -1
      upper: 1
      scene_joint: "hinge"
    }
    joints {
      name: "slide"
      type: PRISMATIC
      parent: 1
      axis { x: 1 }
    }
    joints {
      name: "follow"
      type: PRISMATIC
      parent: 1
      axis { x: -1 }
      mimic: 1
      multiplier: 1
    }
  }
)pb";

v1::Scene Gripper() {
  v1::Scene scene;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(kGripper, &scene));
  return scene;
}

std::vector<std::string> ProblemsOf(const v1::Scene& scene) {
  Problems problems;
  CheckRobots(scene, &problems);
  return problems.lines();
}

TEST(RobotCheck, ASoundRobotHasNoProblems) { EXPECT_THAT(ProblemsOf(Gripper()), IsEmpty()); }

TEST(RobotCheck, ProblemsNameTheField) {
  struct Case {
    std::function<void(v1::Robot*)> spoil;
    std::string problem;
  };
  const std::vector<Case> cases = {
      {[](v1::Robot* r) { r->clear_name(); }, "robots[0].name: must not be empty"},
      {[](v1::Robot* r) { r->set_name(std::string(257, 'x')); }, "robots[0].name: must have at most 256 bytes, has 257"},
      {[](v1::Robot* r) { r->mutable_base()->mutable_quaternion()->set_w(2); }, "robots[0].base.quaternion"},
      {[](v1::Robot* r) { r->mutable_joints()->RemoveLast(); }, "robots[0].links: must be one more than the joints, got 4 links"},
      {[](v1::Robot* r) { r->mutable_links(3)->set_name("left"); }, "robots[0].links[3].name: \"left\" is used by another link"},
      {[](v1::Robot* r) { r->mutable_joints(1)->set_name("turn"); }, "robots[0].joints[1].name: \"turn\" is used by another joint"},
      {[](v1::Robot* r) { r->mutable_links(2)->mutable_bodies(0)->set_body("none"); },
       "robots[0].links[2].bodies[0].body: no body is named \"none\""},
      {[](v1::Robot* r) { r->mutable_links(2)->mutable_bodies(0)->set_body("base"); },
       "robots[0].links[2].bodies[0].body: \"base\" is part of robots[0].links[0] already"},
      {[](v1::Robot* r) { r->mutable_joints(0)->set_parent(1); }, "robots[0].joints[0].parent: must be a link before 1, got 1"},
      {[](v1::Robot* r) { r->mutable_joints(2)->set_parent(-1); }, "robots[0].joints[2].parent: must be a link before 3, got -1"},
      {[](v1::Robot* r) { r->mutable_joints(0)->clear_type(); }, "robots[0].joints[0].type: must be FIXED"},
      {[](v1::Robot* r) { r->mutable_joints(0)->mutable_axis()->set_z(3); }, "robots[0].joints[0].axis: must have length 1, has 3"},
      {[](v1::Robot* r) { r->mutable_joints(0)->set_lower(2); }, "robots[0].joints[0].lower: must be at most upper, 1, got 2"},
      {[](v1::Robot* r) { r->mutable_joints(0)->set_max_speed(-1); }, "robots[0].joints[0].max_speed: must be >= 0, got -1"},
      {[](v1::Robot* r) { r->mutable_joints(0)->set_max_effort(-1); }, "robots[0].joints[0].max_effort: must be >= 0, got -1"},
      {[](v1::Robot* r) { r->mutable_joints(0)->set_scene_joint("none"); },
       "robots[0].joints[0].scene_joint: no joint of the scene is named \"none\""},
      {[](v1::Robot* r) { r->mutable_joints(2)->set_mimic(2); },
       "robots[0].joints[2].mimic: must be a joint that moves and follows none"},
      {[](v1::Robot* r) { r->mutable_joints(2)->clear_multiplier(); }, "robots[0].joints[2].multiplier: must not be 0"},
      {[](v1::Robot* r) { r->mutable_joints(2)->set_mimic(9); },
       "robots[0].joints[2].mimic: must be a joint that moves and follows none"},
      {[](v1::Robot* r) { r->mutable_joints(2)->set_type(v1::RobotJoint::FIXED); },
       "robots[0].joints[2].mimic: the joint is fixed, so it follows none"},
  };
  for (const Case& spoiled : cases) {
    v1::Scene scene = Gripper();
    spoiled.spoil(scene.mutable_robots(0));
    EXPECT_THAT(ProblemsOf(scene), ElementsAre(StartsWith(spoiled.problem)));
  }
}

TEST(RobotCheck, NamesOfRobotsAreUnique) {
  v1::Scene scene = Gripper();
  v1::Robot* other = scene.add_robots();
  other->set_name("gripper");
  other->add_links()->set_name("world");
  EXPECT_THAT(ProblemsOf(scene), ElementsAre(StartsWith("robots[1].name: \"gripper\" is used by another robot")));
}

}  // namespace
}  // namespace eipc
