#include "server/convert/scene_convert.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <limits>

#include "eipc/v1/scene.pb.h"
#include "server/convert/scene_digest.h"
#include "sim/contact/friction_law.h"
#include "sim/dynamics/integrators.h"
#include "sim/dynamics/world.h"
#include "sim/material/material.h"
#include "sim/scene/compile_scene.h"

namespace eipc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

v1::Scene Scene(const std::string& text) {
  v1::Scene scene;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &scene)) << text;
  return scene;
}

template <typename T>
void Fill(v1::DataType dtype, int64_t width, const std::vector<T>& values, v1::NdArray* out) {
  out->set_dtype(dtype);
  out->add_shape(static_cast<int64_t>(values.size()) / width);
  out->add_shape(width);
  out->set_data(std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)));
}

void FillTet(v1::Mesh* mesh) {
  Fill<double>(v1::FLOAT64, 3, {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}, mesh->mutable_arrays()->mutable_vertices());
  Fill<int32_t>(v1::INT32, 4, {0, 1, 2, 3}, mesh->mutable_arrays()->mutable_cells());
}

v1::Scene TetScene() {
  v1::Scene scene = Scene("bodies { name: 'tet' material { density_kg_m3: 1000 youngs_modulus_pa: 1e5 poissons_ratio: 0.4 } }");
  FillTet(scene.mutable_bodies(0)->mutable_full_space()->mutable_mesh());
  return scene;
}

const MeshResolver& NoFiles() {
  static const MeshResolver resolver({"", "", true});
  return resolver;
}

std::vector<std::string> ProblemsOf(const v1::Scene& scene, const MeshResolver& resolver = NoFiles()) {
  Problems problems;
  EXPECT_TRUE(SceneFromProto(scene, resolver, &problems).ok());
  return problems.lines();
}

SceneSpec Convert(const v1::Scene& scene) {
  Problems problems;
  auto spec = SceneFromProto(scene, NoFiles(), &problems);
  EXPECT_THAT(problems.lines(), IsEmpty());
  return *std::move(spec);
}

TEST(SceneFromProto, ReadsTheIntegrator) {
  v1::Scene scene = TetScene();
  EXPECT_EQ(Convert(scene).dynamics.integrator, IntegratorKind::kBackwardEuler);
  EXPECT_EQ(Convert(scene).dynamics.max_step_halvings, DynamicsSettings().max_step_halvings);
  const std::pair<v1::SolverSettings::Integrator, IntegratorKind> kinds[] = {
      {v1::SolverSettings::BACKWARD_EULER, IntegratorKind::kBackwardEuler},
      {v1::SolverSettings::TRAPEZOIDAL, IntegratorKind::kTrapezoidal},
      {v1::SolverSettings::BDF2, IntegratorKind::kBdf2},
      {v1::SolverSettings::TR_BDF2, IntegratorKind::kTrBdf2},
      {v1::SolverSettings::SDIRK2, IntegratorKind::kSdirk2},
      {v1::SolverSettings::IMPLICIT_MIDPOINT, IntegratorKind::kImplicitMidpoint},
      {v1::SolverSettings::TRAPEZOIDAL_UNSPLIT_CONTACT, IntegratorKind::kTrapezoidalUnsplitContact},
      {v1::SolverSettings::VARIATIONAL, IntegratorKind::kVariational},
      {v1::SolverSettings::VERLET, IntegratorKind::kVerlet},
      {v1::SolverSettings::RUNGE_KUTTA_4, IntegratorKind::kRungeKutta4}};
  for (const auto& [wire, kind] : kinds) {
    scene.mutable_solver()->set_integrator(wire);
    scene.mutable_solver()->set_substep_newton_iterations(12);
    scene.mutable_solver()->set_max_step_halvings(0);
    EXPECT_EQ(Convert(scene).dynamics.integrator, kind);
    EXPECT_EQ(Convert(scene).dynamics.substep_newton_iterations, 12);
    EXPECT_EQ(Convert(scene).dynamics.max_step_halvings, 0);
  }
}

// Materials, integrators and friction parameters are found in the message by their names: every enumerator has its descriptor, and
// every descriptor its place in the message.
TEST(SceneFromProto, EveryDescriptorHasItsPlaceInTheMessage) {
  const auto* models = v1::Material::Model_descriptor();
  EXPECT_EQ(static_cast<size_t>(models->value_count()), Materials().size() + 1);
  for (const MaterialModel material : Materials()) {
    ASSERT_NE(models->FindValueByName(std::string(material->name)), nullptr) << material->name;
    v1::Scene scene = TetScene();
    scene.mutable_bodies(0)->mutable_material()->set_model(
        static_cast<v1::Material::Model>(models->FindValueByName(std::string(material->name))->number()));
    EXPECT_EQ(Convert(scene).bodies[0].material.model, material);
    for (const absl::Span<const MaterialParameter> parameters : {CommonMaterialParameters(), material->parameters}) {
      for (const MaterialParameter& p : parameters) {
        v1::Material& message = *scene.mutable_bodies(0)->mutable_material();
        const auto* field = v1::Material::descriptor()->FindFieldByName(std::string(p.name));
        ASSERT_NE(field, nullptr) << p.name;
        message.GetReflection()->SetDouble(&message, field, 0.125);
        EXPECT_EQ(Convert(scene).bodies[0].material.*p.value, 0.125) << p.name;
      }
    }
  }
  const auto* integrators = v1::SolverSettings::Integrator_descriptor();
  EXPECT_EQ(static_cast<size_t>(integrators->value_count()), Integrators().size() + 1);
  for (const Scheme& row : Integrators()) EXPECT_NE(integrators->FindValueByName(std::string(row.name)), nullptr) << row.name;
  for (const auto* message : {v1::ContactSettings::descriptor(), v1::ContactPair::descriptor()}) {
    for (const FrictionParameter& p : FrictionParameters()) {
      const auto* field = message->FindFieldByName(std::string(p.name));
      ASSERT_NE(field, nullptr) << p.name;
      EXPECT_EQ(field->cpp_type(), google::protobuf::FieldDescriptor::CPPTYPE_DOUBLE) << p.name;
    }
  }
}

TEST(SceneFromProto, ReadsSleep) {
  v1::Scene scene = TetScene();
  EXPECT_EQ(Convert(scene).dynamics.sleep.after_s, 0);
  EXPECT_EQ(Convert(scene).dynamics.sleep.wake_acceleration_m_s2, SleepSettings().wake_acceleration_m_s2);
  scene.mutable_solver()->mutable_sleep()->set_after_s(0.5);
  scene.mutable_solver()->mutable_sleep()->set_speed_m_s(1e-3);
  scene.mutable_solver()->mutable_sleep()->set_wake_acceleration_m_s2(2);
  EXPECT_EQ(Convert(scene).dynamics.sleep.after_s, 0.5);
  EXPECT_EQ(Convert(scene).dynamics.sleep.speed_m_s, 1e-3);
  EXPECT_EQ(Convert(scene).dynamics.sleep.wake_acceleration_m_s2, 2);
}

TEST(SceneFromProto, ReadsTheLinearSolver) {
  v1::Scene scene = TetScene();
  EXPECT_EQ(Convert(scene).solver.linear_solver, LinearSolverKind::kAuto);
  EXPECT_FALSE(Convert(scene).solver.simplified_newton);
  const std::pair<v1::SolverSettings::LinearSolver, LinearSolverKind> kinds[] = {
      {v1::SolverSettings::AUTO, LinearSolverKind::kAuto},
      {v1::SolverSettings::CHOLESKY, LinearSolverKind::kCholesky},
      {v1::SolverSettings::PCG_DIAGONAL, LinearSolverKind::kPcgDiagonal},
      {v1::SolverSettings::PCG_BLOCK, LinearSolverKind::kPcgBlock},
      {v1::SolverSettings::PCG_IC0, LinearSolverKind::kPcgIc0}};
  scene.mutable_solver()->set_simplified_newton(true);
  for (const auto& [wire, kind] : kinds) {
    scene.mutable_solver()->set_linear_solver(wire);
    EXPECT_EQ(Convert(scene).solver.linear_solver, kind);
    EXPECT_TRUE(Convert(scene).solver.simplified_newton);
  }
}

TEST(SceneFromProto, ReadsFriction) {
  v1::Scene scene = TetScene();
  EXPECT_EQ(Convert(scene).dynamics.friction, FrictionMode::kLagged);
  EXPECT_FALSE(Convert(scene).dynamics.direct_root_solver);
  EXPECT_FALSE(Convert(scene).friction.static_coefficient.has_value());
  const std::pair<v1::ContactSettings::FrictionMode, FrictionMode> modes[] = {
      {v1::ContactSettings::LAGGED, FrictionMode::kLagged},
      {v1::ContactSettings::LAGGED_UNTIL_CONVERGED, FrictionMode::kLaggedUntilConverged},
      {v1::ContactSettings::IMPLICIT, FrictionMode::kImplicit}};
  for (const auto& [wire, mode] : modes) {
    scene.mutable_contact()->set_friction_mode(wire);
    EXPECT_EQ(Convert(scene).dynamics.friction, mode);
    EXPECT_EQ(Convert(scene).contact.friction_lag_iterations, mode == FrictionMode::kLaggedUntilConverged ? 50 : 1);
  }
  const SceneSpec spec = Convert(Scene(R"(
    contact { friction_coefficient: 0.4 static_friction_coefficient: 0.6 stribeck_velocity_m_s: 0.02 viscous_friction_s_m: 0.1
              friction_mode: LAGGED_UNTIL_CONVERGED friction_lag_iterations: 7 }
    contact_pairs { body_a: "a" body_b: "b" static_friction_coefficient: 0.9 stribeck_velocity_m_s: 0.03 viscous_friction_s_m: 0.2 }
    contact_pairs { body_a: "a" body_b: "c" }
    solver { direct_root_solver: true }
  )"));
  EXPECT_EQ(spec.friction.static_coefficient, 0.6);
  EXPECT_EQ(spec.friction.stribeck_velocity_m_s, 0.02);
  EXPECT_EQ(spec.friction.viscous_s_m, 0.1);
  EXPECT_EQ(spec.contact.friction_lag_iterations, 7);
  EXPECT_TRUE(spec.dynamics.direct_root_solver);
  EXPECT_EQ(spec.contact_pairs[0].friction.static_coefficient, 0.9);
  EXPECT_EQ(spec.contact_pairs[0].friction.stribeck_velocity_m_s, 0.03);
  EXPECT_EQ(spec.contact_pairs[0].friction.viscous_s_m, 0.2);
  EXPECT_FALSE(spec.contact_pairs[1].friction.static_coefficient || spec.contact_pairs[1].friction.stribeck_velocity_m_s ||
               spec.contact_pairs[1].friction.viscous_s_m);
}

TEST(SceneFromProto, ReadsWhatFillsBodies) {
  v1::Scene scene = TetScene();
  EXPECT_THAT(Convert(scene).bodies[0].enclosed_volumes, IsEmpty());
  ASSERT_TRUE(google::protobuf::TextFormat::MergeFromString(R"(
    enclosed_volumes {}
    enclosed_volumes { region: CAVITIES box { min_m { x: -1 } max_m { x: 2 } } law: NEARLY_INCOMPRESSIBLE overpressure_pa: 5
                       compressibility_per_pa: 4.6e-10 }
    enclosed_volumes { region: WHOLE law: SECOND_ORDER compressibility_per_pa: 1e-5 ambient_pressure_pa: 0 }
  )",
                                                            scene.mutable_bodies(0)));
  const std::vector<EnclosedVolumeSpec> volumes = Convert(scene).bodies[0].enclosed_volumes;
  ASSERT_EQ(volumes.size(), 3u);
  EXPECT_FALSE(volumes[0].cavities || volumes[0].box || volumes[2].cavities);
  EXPECT_EQ(volumes[0].filling.law, VolumeLaw::kIdealGas);
  EXPECT_EQ(volumes[0].filling.ambient_pressure_pa, 101325);
  EXPECT_TRUE(volumes[1].cavities);
  EXPECT_EQ(volumes[1].box->max, Vec3(2, 0, 0));
  EXPECT_EQ(volumes[1].filling.law, VolumeLaw::kNearlyIncompressible);
  EXPECT_EQ(volumes[1].filling.overpressure_pa, 5);
  EXPECT_EQ(volumes[1].filling.compressibility_per_pa, 4.6e-10);
  EXPECT_EQ(volumes[2].filling.law, VolumeLaw::kSecondOrder);
  EXPECT_EQ(volumes[2].filling.ambient_pressure_pa, 0);
}

TEST(SceneFromProto, FillsDefaults) {
  const SceneSpec spec = Convert(TetScene());
  EXPECT_EQ(spec.gravity, Vec3(0, 0, -9.81));
  EXPECT_EQ(spec.contact.dhat_m, 1e-3);
  EXPECT_EQ(spec.contact.form, BarrierForm::kAreaWeighted);
  EXPECT_EQ(spec.contact.stiffness, 0);
  EXPECT_EQ(spec.contact.friction_velocity_m_s, 1e-4);
  EXPECT_EQ(spec.contact.friction_lag_iterations, 1);
  EXPECT_TRUE(spec.self_contact && spec.rigid_contact);
  EXPECT_EQ(spec.solver.newton_tolerance_m_s, 0);  // scaled to the scene
  EXPECT_EQ(spec.solver.max_newton_iterations, 100);
  ASSERT_EQ(spec.bodies.size(), 1u);
  const BodySpec& body = spec.bodies[0];
  EXPECT_EQ(body.kind, BodyKind::kFullSpace);
  EXPECT_EQ(body.mesh.vertices.size(), 4u);
  EXPECT_EQ(body.mesh.tets.size(), 1u);
  EXPECT_EQ(body.material.model, &StableNeoHookean::kDescriptor);
  EXPECT_TRUE(body.pose.rotation.coeffs().isApprox(Quat::Identity().coeffs()));
}

TEST(SceneFromProto, ReadsEverySetting) {
  const SceneSpec spec = Convert(Scene(R"(
    display_name: "all"
    gravity_m_s2 { z: -1 }
    contact { dhat_m: 2e-3 barrier_form: PER_PAIR pair_stiffness_n_m: 1e4 friction_coefficient: 0.5 friction_velocity_m_s: 1e-4
              friction_lag_iterations: 3 self_contact: false rigid_contact: false }
    contact_pairs { body_a: "a" body_b: "b" enabled: false }
    contact_pairs { body_a: "a" body_b: "c" friction_coefficient: 0 }
    solver { newton_tolerance_m_s: 1e-5 max_newton_iterations: 7 unsafe_disable_ccd: true audit_every_n_steps: 2 }
    schedule { duration_s: 4 dt_s: 0.01 holding { body: "a" start_s: 3 end_s: 4 } }
  )"));
  EXPECT_EQ(spec.name, "all");
  EXPECT_EQ(spec.gravity, Vec3(0, 0, -1));
  EXPECT_EQ(spec.contact.dhat_m, 2e-3);
  EXPECT_EQ(spec.contact.form, BarrierForm::kPerPair);
  EXPECT_EQ(spec.contact.stiffness, 1e4);
  EXPECT_EQ(spec.contact.friction_velocity_m_s, 1e-4);
  EXPECT_EQ(spec.contact.friction_lag_iterations, 3);
  EXPECT_EQ(spec.friction.dynamic_coefficient, 0.5);
  EXPECT_FALSE(spec.self_contact || spec.rigid_contact);
  ASSERT_EQ(spec.contact_pairs.size(), 2u);
  EXPECT_EQ(spec.contact_pairs[0].enabled, false);
  EXPECT_FALSE(spec.contact_pairs[0].friction.dynamic_coefficient.has_value());
  EXPECT_EQ(spec.contact_pairs[1].friction.dynamic_coefficient, 0.0);
  EXPECT_EQ(spec.solver.newton_tolerance_m_s, 1e-5);
  EXPECT_EQ(spec.solver.max_newton_iterations, 7);
  EXPECT_TRUE(spec.solver.unsafe_disable_ccd && spec.solver.unsafe_disable_exact_check);
  EXPECT_EQ(spec.solver.audit_every_n_steps, 2);
  EXPECT_EQ(spec.schedule_duration_s, 4);
  EXPECT_EQ(spec.schedule_dt_s, 0.01);
  ASSERT_TRUE(spec.holding.has_value());
  EXPECT_EQ(spec.holding->end_s, 4);
}

TEST(SceneFromProto, ReadsGoals) {
  const SceneSpec spec = Convert(Scene(R"(
    goals { name: "there" body: "a" relative_to: "b" from_s: 0
            position { region { min_m { x: -1 } max_m { y: 2 } } tolerance_m: 0.1 point_m { z: 3 } } }
    goals { name: "up" body: "a" direction { axis { x: 1 } direction { z: 1 } tolerance_rad: 0.2 } }
    goals { name: "still" body: "a" speed { tolerance_m_s: 0.3 } from_s: 1.5 }
    goals { name: "middle" body: "a" position { region {} } }
    goals { name: "nothing" }
  )"));
  ASSERT_EQ(spec.goals.size(), 5u);
  const auto& there = std::get<PositionMeasure>(*spec.goals[0].measure);
  EXPECT_EQ(spec.goals[0].name, "there");
  EXPECT_EQ(spec.goals[0].body, "a");
  EXPECT_EQ(spec.goals[0].relative_to, "b");
  EXPECT_EQ(spec.goals[0].from_s, 0.0);
  EXPECT_EQ(spec.goals[0].tolerance, 0.1);
  EXPECT_EQ(there.region_min, Vec3(-1, 0, 0));
  EXPECT_EQ(there.region_max, Vec3(0, 2, 0));
  EXPECT_EQ(there.point, Vec3(0, 0, 3));
  const auto& up = std::get<DirectionMeasure>(*spec.goals[1].measure);
  EXPECT_EQ(up.axis, Vec3(1, 0, 0));
  EXPECT_EQ(up.direction, Vec3(0, 0, 1));
  EXPECT_EQ(spec.goals[1].tolerance, 0.2);
  EXPECT_FALSE(spec.goals[1].from_s.has_value());
  EXPECT_TRUE(std::holds_alternative<SpeedMeasure>(*spec.goals[2].measure));
  EXPECT_EQ(spec.goals[2].tolerance, 0.3);
  EXPECT_FALSE(std::get<PositionMeasure>(*spec.goals[3].measure).point.has_value());
  EXPECT_FALSE(spec.goals[4].measure.has_value());
}

TEST(SceneFromProto, ReadsBodies) {
  v1::Scene scene = Scene(R"(
    bodies { name: "e" embedded { cage_vertices: 12 } pose { position_m { x: 1 } rpy_rad { z: 1.5707963267948966 } }
             material { model: STABLE_NEO_HOOKEAN density_kg_m3: 3 rayleigh_alpha_per_s: 1 rayleigh_beta_s: 2 }
             linear_velocity_m_s { x: 1 } angular_velocity_rad_s { y: 2 } external_force_n { z: 4 }
             boundary_sets { name: "grip" vertices: [0, 2] box { min_m { x: -1 } max_m { x: 1 } }
                             frame { position_m { z: 3 } }
                             trajectory { keyframes { time_s: 0 } keyframes { time_s: 1 pose { position_m { y: 2 } } } } } }
    bodies { name: "k" kinematic { trajectory { keyframes { time_s: 0.5 } } } }
    bodies { name: "a" affine {} }
    bodies { name: "s" static_body {} pose { quaternion { w: 0 x: 2 } } }
  )");
  scene.mutable_bodies(3)->mutable_pose()->mutable_quaternion()->set_x(1);
  FillTet(scene.mutable_bodies(0)->mutable_embedded()->mutable_surface());
  scene.mutable_bodies(0)->mutable_embedded()->mutable_surface()->set_scale(0.5);
  FillTet(scene.mutable_bodies(1)->mutable_kinematic()->mutable_surface());
  FillTet(scene.mutable_bodies(2)->mutable_affine()->mutable_surface());
  FillTet(scene.mutable_bodies(3)->mutable_static_body()->mutable_surface());
  const SceneSpec spec = Convert(scene);
  ASSERT_EQ(spec.bodies.size(), 4u);
  const BodySpec& embedded = spec.bodies[0];
  EXPECT_EQ(embedded.kind, BodyKind::kEmbedded);
  EXPECT_EQ(embedded.cage_vertices, 12);
  EXPECT_FALSE(embedded.cage.has_value());
  EXPECT_EQ(embedded.mesh.vertices[1], Vec3(0.5, 0, 0));
  EXPECT_TRUE((embedded.pose.rotation * Vec3::UnitX()).isApprox(Vec3::UnitY(), 1e-12));
  EXPECT_EQ(embedded.material.model, &StableNeoHookean::kDescriptor);
  EXPECT_EQ(embedded.material.rayleigh_beta_s, 2);
  EXPECT_EQ(embedded.angular_velocity, Vec3(0, 2, 0));
  EXPECT_EQ(embedded.external_force, Vec3(0, 0, 4));
  ASSERT_EQ(embedded.boundary_sets.size(), 1u);
  EXPECT_THAT(embedded.boundary_sets[0].vertices, ElementsAre(0, 2));
  EXPECT_EQ(embedded.boundary_sets[0].box->max, Vec3(1, 0, 0));
  EXPECT_EQ(embedded.boundary_sets[0].frame->position, Vec3(0, 0, 3));
  EXPECT_EQ(embedded.boundary_sets[0].trajectory.keys[1].pose.position, Vec3(0, 2, 0));
  EXPECT_EQ(spec.bodies[1].trajectory.keys[0].time_s, 0.5);
  EXPECT_EQ(spec.bodies[2].material.model, &AbdOrthogonality::kDescriptor);
  EXPECT_EQ(spec.bodies[3].pose.rotation.x(), 1);
}

TEST(SceneFromProto, ReportsEveryProblemWithItsPath) {
  v1::Scene scene = Scene(R"(
    bodies { name: "a" full_space { mesh { file: "x.vtk" } } pose { quaternion { w: 2 } } }
    bodies { name: "b" }
    bodies { name: "c" static_body {} }
    contact { barrier_form: PER_PAIR area_stiffness_n_m3: 1 }
  )");
  scene.mutable_bodies(0)->mutable_material()->set_youngs_modulus_pa(kNan);
  scene.mutable_bodies(0)->mutable_material()->set_model(static_cast<v1::Material::Model>(99));
  scene.mutable_bodies(1)->add_boundary_sets()->mutable_trajectory()->add_keyframes()->set_time_s(
      std::numeric_limits<double>::infinity());
  EXPECT_THAT(
      ProblemsOf(scene),
      ElementsAre("bodies[0].material.model: unknown value 99 of Model",
                  "bodies[0].material.youngs_modulus_pa: must be finite, got nan",
                  "bodies[1].boundary_sets[0].trajectory.keyframes[0].time_s: must be finite, got inf",
                  "bodies[0].full_space.mesh.file: this server reads no files (--mesh-root); send the mesh as arrays or contents",
                  "bodies[0].pose.quaternion: must be a unit quaternion (or all zero for the identity), got norm 2",
                  "bodies[1]: must be one of full_space, embedded, affine, kinematic, static_body, shell",
                  "bodies[2].static_body.surface: must have a file, arrays, contents or a shared_file",
                  "contact.area_stiffness_n_m3: is set, but barrier_form is PER_PAIR (its stiffness is pair_stiffness_n_m)"));
}

TEST(SceneFromProto, QuaternionsNearOneAreNormalized) {
  v1::Scene scene = TetScene();
  v1::Quaternion& q = *scene.mutable_bodies(0)->mutable_pose()->mutable_quaternion();
  q.set_w(0.7072);
  q.set_z(0.7071);
  EXPECT_NEAR(Convert(scene).bodies[0].pose.rotation.norm(), 1, 1e-15);
}

TEST(SceneFromProto, InlineMeshProblems) {
  v1::Scene nan_vertex = TetScene();
  v1::MeshArrays& arrays = *nan_vertex.mutable_bodies(0)->mutable_full_space()->mutable_mesh()->mutable_arrays();
  arrays.mutable_vertices()->mutable_data()->replace(24, 8, reinterpret_cast<const char*>(&kNan), 8);
  EXPECT_THAT(ProblemsOf(nan_vertex),
              ElementsAre("bodies[0].full_space.mesh.arrays.vertices: row 1 must be finite, got (nan, 0, 0)"));

  v1::Scene wrong_size = TetScene();
  wrong_size.mutable_bodies(0)->mutable_full_space()->mutable_mesh()->mutable_arrays()->mutable_cells()->set_shape(0, 2);
  EXPECT_THAT(ProblemsOf(wrong_size), ElementsAre(HasSubstr("mesh.arrays.cells: data has 16 bytes, which is not shape [2,4]")));

  v1::Scene negative_scale = TetScene();
  negative_scale.mutable_bodies(0)->mutable_full_space()->mutable_mesh()->set_scale(-1);
  EXPECT_THAT(ProblemsOf(negative_scale), ElementsAre("bodies[0].full_space.mesh.scale: must be > 0, got -1"));
}

TEST(SceneFromProto, ReadsMeshFilesAndContents) {
  const std::string folder = ::testing::TempDir();
  const std::string tetrahedron = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
  std::ofstream(folder + "/scene_convert_test.obj") << tetrahedron;
  v1::Scene scene = Scene(R"(
    bodies { name: "a" static_body { surface { file: "scene_convert_test.obj" scale: 2 } } }
    bodies { name: "b" static_body { surface { file: "scene_convert_test.obj" } } }
    bodies { name: "c" static_body { surface { contents { file_name: "t.obj" } } } }
    bodies { name: "d" static_body { surface { contents { file_name: "t.obj" data: "f 1 2 9" } } } }
    bodies { name: "e" static_body { surface { file: "missing.obj" } } }
  )");
  scene.mutable_bodies(2)->mutable_static_body()->mutable_surface()->mutable_contents()->set_data(tetrahedron);
  Problems problems;
  const auto spec = SceneFromProto(scene, MeshResolver({folder, "", true}), &problems);
  std::remove((folder + "/scene_convert_test.obj").c_str());
  ASSERT_TRUE(spec.ok());
  ASSERT_EQ(problems.lines().size(), 2u);
  EXPECT_THAT(problems.lines()[0], StartsWith("bodies[3].static_body.surface.contents: t.obj:"));
  // Where the server keeps its files stays its own business.
  EXPECT_EQ(problems.lines()[1], "bodies[4].static_body.surface.file: missing.obj: no such file");
  EXPECT_EQ(spec->bodies[0].mesh.vertices[1], Vec3(2, 0, 0));
  EXPECT_EQ(spec->bodies[1].mesh.vertices[1], Vec3(1, 0, 0));
  EXPECT_EQ(spec->bodies[2].mesh.triangles.size(), 4u);
}

// Four corners of a tetrahedron in one order of the file, their Gmsh tags in another, first used in a third, and a node between
// them that no element uses (a point of the geometry).
constexpr char kMshOfMixedOrder[] =
    "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n5\n40 0 0 1\n10 0 1 0\n99 9 9 9\n30 1 0 0\n20 0 0 0\n$EndNodes\n"
    "$Elements\n2\n1 15 2 0 1 99\n2 4 2 0 1 20 30 10 40\n$EndElements\n";

// From the file to the motion: what `boundary_sets.vertices` names is the file's vertex, and that one moves.
TEST(SceneFromProto, BoundarySetsDriveTheVerticesOfAMshFile) {
  const Vec3 points[] = {Vec3(0, 0, 1), Vec3(0, 1, 0), Vec3(9, 9, 9), Vec3(1, 0, 0), Vec3(0, 0, 0)};
  for (const int vertex : {0, 1, 3, 4}) {
    SCOPED_TRACE(vertex);
    v1::Scene scene = Scene(R"(
      gravity_m_s2 {}
      bodies { name: 'tet' material { density_kg_m3: 1000 youngs_modulus_pa: 1e5 poissons_ratio: 0.4 }
        boundary_sets { name: 'grip' trajectory { keyframes { time_s: 0 pose {} }
                                                  keyframes { time_s: 1 pose { position_m { x: 0.5 } } } } } } )");
    v1::Body& body = *scene.mutable_bodies(0);
    body.mutable_full_space()->mutable_mesh()->mutable_contents()->set_file_name("mixed.msh");
    body.mutable_full_space()->mutable_mesh()->mutable_contents()->set_data(kMshOfMixedOrder);
    body.mutable_boundary_sets(0)->add_vertices(vertex);
    const auto model = CompileScene(Convert(scene), Problems());
    ASSERT_TRUE(model.ok()) << model.status();
    ASSERT_EQ((*model)->node_count, 4);
    World world(*model);
    ASSERT_TRUE(world.Step({.dt_s = 0.01}, {}).ok());
    const int node = vertex - (vertex > 2);  // the others keep their order
    EXPECT_LT((world.state().q.segment<3>(3 * node) - points[vertex] - Vec3(0.005, 0, 0)).norm(), 1e-9);
    for (int other = 0; other < 4; ++other) {
      if (other == node) continue;
      // Dragged along a little by the elasticity.
      EXPECT_LT((world.state().q.segment<3>(3 * other) - points[other + (other > 1)]).norm(), 0.003) << other;
    }
  }
  v1::Scene scene = TetScene();
  scene.mutable_bodies(0)->mutable_full_space()->mutable_mesh()->mutable_contents()->set_file_name("mixed.msh");
  scene.mutable_bodies(0)->mutable_full_space()->mutable_mesh()->mutable_contents()->set_data(kMshOfMixedOrder);
  scene.mutable_bodies(0)->add_boundary_sets()->set_name("grip");
  scene.mutable_bodies(0)->mutable_boundary_sets(0)->add_vertices(2);
  EXPECT_THAT(std::string(CompileScene(Convert(scene), Problems()).status().message()),
              StartsWith("bodies[0].boundary_sets[0].vertices: vertex 2 of the mesh belongs to no tetrahedron"));
}

TEST(SceneDigest, NamesContent) {
  const auto digest = [](const v1::Scene& scene) { return SceneDigest(scene, Convert(scene)); };
  const std::string base = digest(TetScene());
  EXPECT_EQ(base.size(), 32u);
  EXPECT_EQ(base, digest(TetScene()));
  v1::Scene stiffer = TetScene();
  stiffer.mutable_bodies(0)->mutable_material()->set_youngs_modulus_pa(1e5 + 1);
  EXPECT_NE(base, digest(stiffer));
  // A file that changed under the same name is another scene.
  SceneSpec spec = Convert(TetScene());
  spec.bodies[0].mesh.vertices[0].x() += 1e-12;
  EXPECT_NE(base, SceneDigest(TetScene(), spec));
}

// The problems of the wire and of the scene's meaning come in one list.
TEST(CompileScene, ListsProblemsOfBothKinds) {
  v1::Scene scene = TetScene();
  scene.mutable_bodies(0)->mutable_material()->set_youngs_modulus_pa(-5);
  scene.mutable_contact()->set_pair_stiffness_n_m(3);
  Problems problems;
  const auto spec = SceneFromProto(scene, NoFiles(), &problems);
  ASSERT_TRUE(spec.ok());
  const auto model = CompileScene(*spec, std::move(problems));
  EXPECT_EQ(model.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(model.status().message()), HasSubstr("bodies[0].material.youngs_modulus_pa: must be > 0, got -5"));
  EXPECT_THAT(std::string(model.status().message()),
              HasSubstr("contact.pair_stiffness_n_m: is set, but barrier_form is AREA_WEIGHTED"));
}

}  // namespace
}  // namespace eipc
