#include "server/convert/observation_convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "eipc/v1/observation.pb.h"
#include "server/convert/array_convert.h"
#include "sim/scene/compile_scene.h"

namespace eipc {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

MeshData Tetrahedron(double size) {
  MeshData mesh;
  mesh.vertices = {Vec3(0, 0, 0), Vec3(size, 0, 0), Vec3(0, size, 0), Vec3(0, 0, size)};
  mesh.tets = {{0, 1, 2, 3}};
  return mesh;
}

// A soft tetrahedron above a static one, and a kinematic one that moves to the side.
std::shared_ptr<const Model> Bodies() {
  SceneSpec spec;
  BodySpec soft;
  soft.name = "soft";
  soft.kind = BodyKind::kFullSpace;
  soft.mesh = Tetrahedron(0.1);
  soft.pose.position = Vec3(0, 0, 2);
  soft.material.density_kg_m3 = 1000;
  soft.material.youngs_modulus_pa = 1e5;
  soft.material.poissons_ratio = 0.4;
  BodySpec floor;
  floor.name = "floor";
  floor.kind = BodyKind::kStatic;
  floor.mesh = Tetrahedron(1);
  BodySpec plate;
  plate.name = "plate";
  plate.kind = BodyKind::kKinematic;
  plate.mesh = Tetrahedron(0.1);
  plate.pose.position = Vec3(3, 0, 0);
  Pose moved;
  moved.position = Vec3(3, 1, 0);
  plate.trajectory.keys = {{0, plate.pose}, {1, moved}};
  spec.bodies = {soft, floor, plate};
  auto model = CompileScene(spec);
  EXPECT_TRUE(model.ok()) << model.status();
  return *model;
}

absl::StatusOr<v1::Observation> ObservationToProto(const World& world, const v1::ObservationRequest& request) {
  const absl::StatusOr<ObservationPlan> plan = ObservationPlan::Create(world.model(), request);
  if (!plan.ok()) return plan.status();
  v1::Observation observation;
  plan->Observe(world, &observation);
  return observation;
}

v1::ObservationRequest Everything() {
  v1::ObservationRequest request;
  request.set_poses(true);
  request.set_twists(true);
  request.set_cage_positions(true);
  request.set_surface_positions(true);
  request.set_contact_wrenches(true);
  request.set_contact_counts(true);
  request.set_min_distance(true);
  request.set_energies(true);
  request.set_solver_report(true);
  request.set_boundary_poses(true);
  request.set_state_digest(true);
  request.set_contact_tractions(true);
  request.set_stresses(true);
  return request;
}

class ObservationTest : public ::testing::Test {
 protected:
  ObservationTest() : world_(Bodies()) {
    for (int i = 0; i < 10; ++i) EXPECT_TRUE(world_.Step({0.01, {}}, {}).ok());
  }
  World world_;
};

TEST_F(ObservationTest, WhatIsNotAskedForIsAbsent) {
  const auto seen = ObservationToProto(world_, v1::ObservationRequest());
  ASSERT_TRUE(seen.ok());
  EXPECT_EQ(seen->step(), 10);
  EXPECT_NEAR(seen->time_s(), 0.1, 1e-12);
  EXPECT_THAT(seen->bodies(), SizeIs(0));
  EXPECT_FALSE(seen->has_contact_counts() || seen->has_min_distance_m() || seen->has_energies() || seen->has_solver_report());
  EXPECT_EQ(seen->state_digest(), "");
}

// Contacts apart, of which there are none here.
TEST_F(ObservationTest, IsNoLongerThanWhatIsReservedForIt) {
  v1::ObservationRequest request = Everything();
  for (const v1::DataType type : {v1::FLOAT64, v1::FLOAT32}) {
    request.set_positions_dtype(type);
    const auto plan = ObservationPlan::Create(world_.model(), request);
    ASSERT_TRUE(plan.ok());
    EXPECT_LE(ObservationToProto(world_, request)->ByteSizeLong(), plan->MostBytes(world_.model()));
  }
}

TEST_F(ObservationTest, HoldsEverything) {
  const auto seen = ObservationToProto(world_, Everything());
  ASSERT_TRUE(seen.ok());
  ASSERT_THAT(seen->bodies(), SizeIs(3));
  const v1::BodyObservation& soft = seen->bodies(0);
  EXPECT_EQ(soft.name(), "soft");
  // Free fall by backward Euler: v = -g t, z = z0 - g h^2 n (n + 1) / 2; the centre of mass starts at 2.025 m.
  EXPECT_NEAR(soft.linear_velocity_m_s().z(), -0.981, 1e-6);
  EXPECT_NEAR(soft.pose().position_m().z(), 2.025 - 9.81e-4 * 55, 1e-6);
  EXPECT_NEAR(soft.pose().quaternion().w(), 1, 1e-9);
  const auto nodes = PointsFromProto(soft.cage_positions());
  const auto surface = PointsFromProto(soft.surface_positions());
  ASSERT_TRUE(nodes.ok() && surface.ok());
  EXPECT_THAT(*nodes, SizeIs(4));
  EXPECT_THAT(*surface, SizeIs(4));
  EXPECT_EQ(nodes->at(0), Vec3(world_.state().q.segment<3>(0)));
  EXPECT_EQ(PointsFromProto(seen->bodies(1).surface_positions())->size(), 4u);
  EXPECT_THAT(soft.von_mises_pa().shape(), ElementsAre(1));
  EXPECT_FALSE(seen->bodies(1).has_von_mises_pa() || seen->bodies(2).has_von_mises_pa());
  EXPECT_TRUE(seen->has_contact_counts());
  EXPECT_EQ(seen->contact_counts().point_triangle(), 0);
  EXPECT_GT(seen->energies().kinetic_j(), 0);
  EXPECT_EQ(seen->solver_report().outcome(), v1::CONVERGED);
  EXPECT_THAT(seen->solver_report().stage_seconds(), SizeIs(kPhaseCount));
  EXPECT_EQ(seen->state_digest(), world_.state().Digest());
  ASSERT_THAT(seen->boundary_poses(), SizeIs(1));
  EXPECT_EQ(seen->boundary_poses(0).body(), "plate");
  EXPECT_NEAR(seen->boundary_poses(0).commanded().position_m().y(), 0.1, 1e-12);
  EXPECT_NEAR(seen->boundary_poses(0).achieved().position_m().y(), 0.1, 1e-9);
  EXPECT_NEAR(seen->boundary_poses(0).achieved().quaternion().w(), 1, 1e-9);
}

// The soft tetrahedron after it has fallen onto a corner of the floor, every vertex of which is asked for.
TEST_F(ObservationTest, HoldsTractionsOnRequestOnly) {
  v1::ObservationRequest request;
  request.set_contact_tractions(true);
  request.set_positions_dtype(v1::FLOAT32);
  for (int i = 0; i < 100 && world_.contact_forces().stencils.empty(); ++i) EXPECT_TRUE(world_.Step({0.01, {}}, {}).ok());
  const auto seen = ObservationToProto(world_, request);
  ASSERT_TRUE(seen.ok());
  ASSERT_THAT(seen->bodies(), SizeIs(3));
  const v1::ContactTractions& soft = seen->bodies(0).contact_tractions();
  const auto force = PointsFromProto(soft.normal_force_n());
  ASSERT_TRUE(force.ok());
  ASSERT_GT(force->size(), 0u);
  EXPECT_EQ(soft.normal_force_n().dtype(), v1::FLOAT32);
  EXPECT_THAT(soft.vertices().shape(), ElementsAre(force->size()));
  EXPECT_THAT(soft.area_m2().shape(), ElementsAre(force->size()));
  EXPECT_EQ(soft.vertices().data().size(), 4 * force->size());
  EXPECT_EQ(soft.area_m2().data().size(), 4 * force->size());
  EXPECT_EQ(PointsFromProto(soft.friction_force_n())->size(), force->size());
  Vec3 sum = Vec3::Zero();
  for (const Vec3& f : *force) sum += f;
  EXPECT_GT(sum.z(), 0);
  EXPECT_TRUE(seen->bodies(2).has_contact_tractions());
  EXPECT_EQ(seen->bodies(2).contact_tractions().vertices().data().size(), 0u);
  EXPECT_FALSE(seen->bodies(0).has_pose());
  EXPECT_THAT(seen->slips(), SizeIs(0));
  request.set_contact_tractions(false);
  EXPECT_THAT(ObservationToProto(world_, request)->bodies(), SizeIs(0));
}

TEST_F(ObservationTest, HoldsSlipsOnRequestOnly) {
  for (int i = 0; i < 100 && world_.contact_forces().stencils.empty(); ++i) EXPECT_TRUE(world_.Step({0.01, {}}, {}).ok());
  v1::ObservationRequest request;
  request.set_slips(true);
  const auto seen = ObservationToProto(world_, request);
  ASSERT_THAT(seen->slips(), SizeIs(1));
  EXPECT_EQ(seen->slips(0).body(), "soft");
  EXPECT_EQ(seen->slips(0).other(), "floor");
  EXPECT_GT(seen->slips(0).normal_force_n(), 0);
  EXPECT_FALSE(seen->slips(0).has_since_contact());  // the scene does not track it
  request.add_bodies("plate");
  EXPECT_THAT(ObservationToProto(world_, request)->slips(), SizeIs(0));
}

TEST(ObservationOfGoals, HoldsTheirFiguresOnRequestOnly) {
  SceneSpec spec;
  BodySpec soft;
  soft.name = "soft";
  soft.kind = BodyKind::kFullSpace;
  soft.mesh = Tetrahedron(0.1);
  soft.material.density_kg_m3 = 1000;
  soft.material.youngs_modulus_pa = 1e5;
  soft.material.poissons_ratio = 0.4;
  spec.bodies = {soft};
  GoalSpec below;  // the centre of mass, at height 0.025, is to be 2 m deeper
  below.name = "below";
  below.body = "soft";
  below.measure = PositionMeasure{Vec3(-1, -1, -3), Vec3(1, 1, -2), {}};
  below.tolerance = 0.01;
  GoalSpec slow;
  slow.name = "slow";
  slow.body = "soft";
  slow.measure = SpeedMeasure{};
  slow.tolerance = 0.5;
  slow.from_s = 1;
  spec.goals = {below, slow};
  auto model = CompileScene(spec);
  ASSERT_TRUE(model.ok()) << model.status();
  World world(*model);
  ASSERT_TRUE(world.Step({0.01, {}}, {}).ok());
  v1::ObservationRequest request;
  EXPECT_THAT(ObservationToProto(world, request)->goals(), SizeIs(0));
  request.set_goals(true);
  const auto seen = ObservationToProto(world, request);
  ASSERT_THAT(seen->goals(), SizeIs(2));
  EXPECT_EQ(seen->goals(0).name(), "below");
  EXPECT_EQ(seen->goals(0).unit(), "m");
  // Implicit Euler falls by g h^2 in the first step.
  EXPECT_NEAR(seen->goals(0).value(), 2.025 - 9.81e-4, 1e-9);
  EXPECT_EQ(seen->goals(0).tolerance(), 0.01);
  EXPECT_FALSE(seen->goals(0).has_from_s());
  EXPECT_NEAR(seen->goals(1).value(), 0.0981, 1e-9);
  EXPECT_EQ(seen->goals(1).unit(), "m/s");
  EXPECT_EQ(seen->goals(1).from_s(), 1);
}

TEST_F(ObservationTest, RestrictsToBodies) {
  v1::ObservationRequest request = Everything();
  request.add_bodies("plate");
  request.set_positions_dtype(v1::FLOAT32);
  const auto seen = ObservationToProto(world_, request);
  ASSERT_TRUE(seen.ok());
  ASSERT_THAT(seen->bodies(), SizeIs(1));
  EXPECT_EQ(seen->bodies(0).name(), "plate");
  EXPECT_EQ(seen->bodies(0).surface_positions().dtype(), v1::FLOAT32);
  EXPECT_EQ(seen->bodies(0).surface_positions().data().size(), 48u);
}

TEST_F(ObservationTest, RefusesUnknownBodiesAndTypes) {
  v1::ObservationRequest request;
  request.add_bodies("sofa");
  const absl::Status unknown = ObservationPlan::Create(world_.model(), request).status();
  EXPECT_EQ(unknown.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(unknown.message(), "BODY_NOT_FOUND: observe.bodies[0]: no body 'sofa'; there are: soft, floor, plate");
  v1::ObservationRequest integers;
  integers.set_positions_dtype(v1::INT32);
  EXPECT_EQ(ObservationPlan::Create(world_.model(), integers).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace eipc
