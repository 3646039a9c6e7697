// Which material and which coarse space a body has whose message names none, and what is said of inverted elements.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "server/convert/name_defaults.h"
#include "server/convert/scene_digest.h"
#include "server/rpc/handlers/calls.h"
#include "tests/conformance/test_scenes.h"
#include "tests/server/rpc/handlers/must.h"

namespace eipc::rpc {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class MaterialCallsTest : public ::testing::Test {
 protected:
  MaterialCallsTest() : services_(ServerLimits(), MeshResolver({"", "", true})) {
    services_.events = [this](const Event& event) { events_.push_back(event.name); };
  }

  v1::SceneInfo Make(const v1::Scene& scene) {
    v1::CreateSceneRequest request;
    *request.mutable_scene() = scene;
    return Must(services_, CreateScene, request);
  }
  v1::Scene Stored(const std::string& name) {
    v1::GetSceneRequest request;
    request.set_name(name);
    request.set_include_scene(true);
    return Must(services_, GetScene, request).scene();
  }

  Services services_;
  std::vector<std::string> events_;
};

TEST_F(MaterialCallsTest, ScenesAreStoredWithTheirMaterialsNamed) {
  const v1::SceneInfo unnamed = Make(testing::FallingBlock());
  EXPECT_EQ(Stored(unnamed.name()).bodies(0).material().model(), v1::Material::STABLE_NEO_HOOKEAN);
  v1::Scene named = testing::FallingBlock();
  named.mutable_bodies(0)->mutable_material()->set_model(v1::Material::STABLE_NEO_HOOKEAN);
  EXPECT_EQ(Make(named).name(), unnamed.name()) << "the same content is the same scene";
  named.mutable_bodies(0)->mutable_material()->set_model(v1::Material::LINEAR_COROTATED);
  const v1::SceneInfo linear = Make(named);
  EXPECT_NE(linear.name(), unnamed.name());
  EXPECT_EQ(Stored(linear.name()).bodies(0).material().model(), v1::Material::LINEAR_COROTATED);
}

// What a build before stored: the scene's message as it came, under the digest of that.
TEST_F(MaterialCallsTest, ScenesThatWereStoredUnnamedAreReadAsTheyWereThen) {
  const v1::Scene before = testing::BlockOnTable();
  v1::Scene read = before;
  Problems problems;
  const auto stored = SpecOfStored(services_.meshes, &read, &problems);
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_EQ(stored->spec.bodies[0].material.model, &LinearCorotated::kDescriptor);
  EXPECT_EQ(stored->digest, SceneDigest(before, stored->spec));
  EXPECT_EQ(read.bodies(0).material().model(), v1::Material::LINEAR_COROTATED);
  EXPECT_FALSE(read.bodies(1).has_material()) << "a static body has none";

  v1::Scene named = read;
  EXPECT_THAT(FormerDigests(stored->spec, &named), ElementsAre(stored->digest));
  EXPECT_EQ(named.SerializeAsString(), read.SerializeAsString());
  named.mutable_bodies(0)->mutable_material()->set_model(v1::Material::STABLE_NEO_HOOKEAN);
  EXPECT_THAT(FormerDigests(stored->spec, &named), IsEmpty()) << "it had to be named then";
}

// The barrier's stiffness, which a mass gives, would not be finite: that says nothing of what is wrong.
TEST_F(MaterialCallsTest, NumbersOfResetsThatAreOutOfRangeAreNamed) {
  v1::CreateSessionRequest create;
  create.set_scene(Make(testing::FallingBlock()).name());
  v1::ResetRequest given, drawn;
  given.set_session(Must(services_, CreateSession, create).name());
  drawn.set_session(given.session());
  given.add_materials()->set_body("block");
  given.mutable_materials(0)->set_density_kg_m3(1e307);
  v1::MaterialRange& range = *drawn.mutable_randomize()->add_materials();
  range.set_body("block");
  range.mutable_youngs_modulus_pa()->set_min(1e5);
  range.mutable_youngs_modulus_pa()->set_max(1e31);
  v1::Observation observation;
  const absl::Status of_given = Reset(services_, {}, given, &observation), of_drawn = Reset(services_, {}, drawn, &observation);
  EXPECT_EQ(of_given.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(of_given.message(), HasSubstr("materials[0].density_kg_m3: must be at most 1e+30, got 1e+307"));
  EXPECT_EQ(of_drawn.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(of_drawn.message(), HasSubstr("randomize.materials[0].youngs_modulus_pa: what is drawn must be at most 1e+30, "
                                            "got 1e+31 at an end"));
  given.mutable_materials(0)->set_density_kg_m3(1e30);
  EXPECT_TRUE(Reset(services_, {}, given, &observation).ok());
}

// A block in a coarser cage.
v1::Scene CagedBlock() {
  v1::Scene scene = testing::FallingBlock();
  v1::EmbeddedBody* embedded = scene.mutable_bodies(0)->mutable_embedded();
  *embedded->mutable_surface() = testing::BlockMesh(2, 0.1);
  *embedded->mutable_cage_mesh() = testing::BlockMesh(1, 0.1);
  return scene;
}

TEST_F(MaterialCallsTest, ScenesAreStoredWithTheirCoarseSpacesNamed) {
  const auto stored = [&](const v1::Scene& scene) { return Stored(Make(scene).name()).bodies(0).embedded().coarse_space(); };
  v1::Scene scene = CagedBlock();
  EXPECT_EQ(stored(scene), v1::EmbeddedBody::CONDENSED);
  scene.mutable_bodies(0)->mutable_material()->set_model(v1::Material::LINEAR_COROTATED);
  EXPECT_EQ(stored(scene), v1::EmbeddedBody::PLAIN) << "the paper's";
  scene.mutable_bodies(0)->mutable_embedded()->set_coarse_space(v1::EmbeddedBody::CONDENSED);
  EXPECT_EQ(stored(scene), v1::EmbeddedBody::CONDENSED) << "what the author names is kept";
}

TEST_F(MaterialCallsTest, CagesThatWereStoredUnnamedStayPlain) {
  v1::Scene before = CagedBlock();
  before.mutable_bodies(0)->mutable_material()->set_model(v1::Material::STABLE_NEO_HOOKEAN);
  v1::Scene read = before;
  Problems problems;
  const auto stored = SpecOfStored(services_.meshes, &read, &problems);
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_EQ(stored->spec.bodies[0].coarse_space, CoarseSpace::kPlain);
  EXPECT_EQ(read.bodies(0).embedded().coarse_space(), v1::EmbeddedBody::PLAIN);
  EXPECT_EQ(stored->digest, SceneDigest(before, stored->spec)) << "it keeps its name";
}

// Builds that named materials and no coarse spaces knew a plain cage by the digest of a message that names none.
TEST_F(MaterialCallsTest, SnapshotsOfCagesThatWereStoredUnnamedAreKnown) {
  for (const v1::Material::Model model : {v1::Material::LINEAR_COROTATED, v1::Material::STABLE_NEO_HOOKEAN}) {
    v1::Scene before = CagedBlock();
    before.mutable_bodies(0)->mutable_material()->set_model(model);
    Problems problems;
    const auto spec = SceneFromProto(before, services_.meshes, &problems);
    ASSERT_TRUE(spec.ok()) << spec.status();
    const std::string digest = SceneDigest(before, *spec);
    v1::Scene named = before;
    named.mutable_bodies(0)->mutable_embedded()->set_coarse_space(v1::EmbeddedBody::PLAIN);
    const v1::Scene kept = named;
    EXPECT_THAT(FormerDigests(*spec, &named), Contains(digest));
    EXPECT_EQ(named.SerializeAsString(), kept.SerializeAsString());
    named.mutable_bodies(0)->mutable_embedded()->set_coarse_space(v1::EmbeddedBody::CONDENSED);
    EXPECT_THAT(FormerDigests(*spec, &named), Not(Contains(digest))) << "it was no such scene";
  }
}

TEST_F(MaterialCallsTest, InvertedElementsAreInTheReportAndTheReceiptAndOnceInTheLog) {
  v1::Scene scene = testing::DrivenBlock();
  scene.mutable_contact()->set_self_contact(false);  // or its surface could not pass through itself
  v1::CreateSessionRequest create;
  create.set_scene(Make(scene).name());
  v1::StepRequest request;
  request.set_session(Must(services_, CreateSession, create).name());
  request.set_dt_s(0.01);
  request.mutable_observe()->set_step_receipt(true);
  request.mutable_observe()->set_solver_report(true);
  const v1::Observation upright = Must(services_, Step, request).observation();
  EXPECT_EQ(upright.solver_report().inverted_elements(), 0);
  EXPECT_EQ(upright.step_receipt().inverted_elements(), 0);
  EXPECT_THAT(events_, ElementsAre());

  v1::TargetPose& top = *request.add_targets();
  top.set_body("block");
  top.set_boundary_set("top");
  top.mutable_pose()->mutable_position_m()->set_z(-0.3);
  const v1::Observation through = Must(services_, Step, request).observation();
  EXPECT_GT(through.solver_report().inverted_elements(), 0);
  EXPECT_EQ(through.step_receipt().inverted_elements(), through.solver_report().inverted_elements());
  Must(services_, Step, request);
  EXPECT_THAT(events_, ElementsAre("elements_inverted"));
}

}  // namespace
}  // namespace eipc::rpc
