// What `eipc run --compare-full` compares: a scene with cages and the same scene in the objects' own spaces.

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "tests/support/scenes.h"
#include "tools/full_space_comparison.h"
#include "tools/full_space_scene.h"
#include "tools/surface_deflection.h"

namespace eipc {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kStep = 0.02;
constexpr int kSteps = 10;

// A soft block on the ground; a plate smaller than the block comes down on it.
SceneSpec Press(MeshData cage) {
  SceneSpec scene = testing::EmptyScene();
  scene.solver.newton_tolerance_m_s = 1e-6;
  const MaterialSpec rubber = testing::SoftMaterial(1000, 5e4, 0.4, &StableNeoHookean::kDescriptor);
  BodySpec block = testing::EmbeddedBox("block", Vec3(0.1, 0.1, 0.08), {1, 1, 1}, rubber);
  block.mesh = testing::BoxTetGrid(-0.5 * Vec3(0.1, 0.1, 0.08), 0.5 * Vec3(0.1, 0.1, 0.08), {6, 6, 5});
  block.cage = std::move(cage);
  BodySpec ground = testing::StaticBox("ground", Vec3(0.3, 0.3, 0.02));
  ground.pose.position.z() = -0.0512;
  BodySpec plate = testing::KinematicBox("plate", Vec3(0.04, 0.04, 0.02));
  plate.pose.position.z() = 0.0515;
  Pose down = plate.pose;
  down.position.z() -= 0.012;
  plate.trajectory.keys = {{0, plate.pose}, {kSteps * kStep, down}};
  scene.bodies = {block, ground, plate};
  return scene;
}

MeshData OwnMesh() { return testing::BoxTetGrid(-0.5 * Vec3(0.1, 0.1, 0.08), 0.5 * Vec3(0.1, 0.1, 0.08), {6, 6, 5}); }
MeshData CoarseCage() { return testing::BoxTetGrid(-0.55 * Vec3(0.1, 0.1, 0.08), 0.55 * Vec3(0.1, 0.1, 0.08), {2, 2, 1}); }

Json Compare(const SceneSpec& scene) {
  const auto model = testing::Compile(scene);
  auto comparison = FullSpaceComparison::Create(scene, model, 1);
  EXPECT_TRUE(comparison.ok()) << comparison.status();
  if (!comparison.ok()) return {};
  World world(model);
  for (int i = 0; i < kSteps; ++i) {
    EXPECT_TRUE(world.Step({kStep, {}}, {}).ok());
    (*comparison)->Step(world, kStep);
  }
  const absl::StatusOr<Json> report = (*comparison)->Report();
  EXPECT_TRUE(report.ok()) << report.status();
  return report.ok() ? *report : Json();
}

TEST(CompareFull, ACondensedCageIsCloserToTheObject) {
  const Json plain = Compare(Press(CoarseCage()));
  SceneSpec scene = Press(CoarseCage());
  scene.bodies[0].coarse_space = CoarseSpace::kCondensed;
  const Json condensed = Compare(scene);
  const auto error = [](const Json& report) { return std::abs(report["contacts"]["block/plate"]["error"]["end"].get<double>()); };
  EXPECT_LT(error(condensed), error(plain)) << plain.dump(2) << condensed.dump(2);
}

TEST(CompareFull, ACageOfTheObjectsOwnTetsHasNoError) {
  const Json report = Compare(Press(OwnMesh()));
  EXPECT_GT(report["contacts"]["block/plate"]["peak_n"]["full"], 1.0) << report.dump(2);
  for (const char* figure : {"rms", "max", "end"}) EXPECT_NEAR(report["force_error"][figure].get<double>(), 0, 1e-3) << figure;
  EXPECT_NEAR(report["bodies"]["block"]["deflection"]["error"]["max"].get<double>(), 0, 1e-3);
  EXPECT_EQ(report["bodies"]["block"]["vertices"]["coarse"], report["bodies"]["block"]["vertices"]["full"]);
}

TEST(CompareFull, ACoarseCageResistsMoreAndDeflectsOtherwise) {
  const Json report = Compare(Press(CoarseCage()));
  const Json& contact = report["contacts"]["block/plate"];
  EXPECT_GT(contact["end_n"]["coarse"], 1.1 * contact["end_n"]["full"].get<double>()) << report.dump(2);
  const double end = contact["end_n"]["coarse"].get<double>() / contact["peak_n"]["full"].get<double>() -
                     contact["end_n"]["full"].get<double>() / contact["peak_n"]["full"].get<double>();
  EXPECT_NEAR(contact["error"]["end"].get<double>(), end, 1e-12);
  EXPECT_GE(contact["error"]["max"], contact["error"]["rms"]);
  EXPECT_GE(report["force_error"]["end"], contact["error"]["end"]);
  EXPECT_GT(report["bodies"]["block"]["deflection"]["error"]["rms"], 0.02);
  EXPECT_EQ(report["bodies"]["block"]["reference"], "the object's own tets");
}

TEST(CompareFull, ASurfaceWithoutTetsIsComparedWithAFinerCage) {
  SceneSpec scene = Press(CoarseCage());
  scene.bodies[0].mesh = testing::BoxSurfaceGrid(-0.5 * Vec3(0.1, 0.1, 0.08), 0.5 * Vec3(0.1, 0.1, 0.08), {2, 2, 2});
  scene.bodies[0].calibration = CageCalibration{0.4, 0.3};
  const auto full = InFullSpace(scene);
  ASSERT_TRUE(full.ok()) << full.status();
  ASSERT_EQ(full->compared.size(), 1u);
  EXPECT_FALSE(full->compared[0].own_tets);
  const BodySpec& body = full->spec.bodies[0];
  EXPECT_EQ(body.kind, BodyKind::kEmbedded);
  EXPECT_FALSE(body.cage.has_value());
  EXPECT_FALSE(body.calibration.has_value()) << "the object has its own material";
  EXPECT_EQ(body.cage_vertices, 1000);
}

TEST(CompareFull, WhatCannotBeComparedIsRefused) {
  SceneSpec scene = Press(CoarseCage());
  scene.bodies[0].boundary_sets.push_back({"grip", {0, 1, 2}, {}, {}, {}});
  EXPECT_NE(InFullSpace(scene).status().message().find("bodies[block].boundary_sets[grip].vertices"), std::string::npos);
  scene.bodies[0].boundary_sets.clear();
  EXPECT_TRUE(InFullSpace(scene).ok());
  scene.bodies.erase(scene.bodies.begin());
  EXPECT_NE(InFullSpace(scene).status().message().find("no embedded body"), std::string::npos);
}

TEST(SurfaceDeflection, RigidMotionsAreNoneAndAStretchIsItsOwn) {
  const auto model = testing::Compile(Press(CoarseCage()));
  const SurfaceDeflection deflection(*model, 0);
  World world(model);
  std::vector<Vec3> x;
  world.SurfacePositions(&x);
  const Mat3 turn = Eigen::AngleAxisd(2.5, Vec3(1, 2, -1).normalized()).toRotationMatrix();
  std::vector<Vec3> moved = x, stretched = x;
  for (Vec3& p : moved) p = turn * p + Vec3(3, -1, 2);
  EXPECT_LT(deflection.Rms(deflection.Of(moved)), 1e-14);
  for (Vec3& p : stretched) p = turn * Vec3(p.x(), p.y(), 1.1 * p.z());
  // No rigid motion fits better than the one found, and next to none is needed here.
  std::vector<Vec3> stretch;
  for (const Vec3& p : deflection.rest()) stretch.emplace_back(0, 0, 0.1 * p.z());
  const std::vector<Vec3> u = deflection.Of(stretched);
  EXPECT_LE(deflection.Rms(u), deflection.Rms(stretch) * (1 + 1e-12));
  EXPECT_GT(deflection.Rms(u), 0.99 * deflection.Rms(stretch));
  EXPECT_LT(deflection.RmsDifference(u, stretch), 0.02 * deflection.Rms(stretch));
}

}  // namespace
}  // namespace eipc
