// What a sound scene compiles to.

#include "sim/scene/compile_scene.h"

#include <gtest/gtest.h>

#include <array>

#include "sim/mesh/mass_properties.h"
#include "sim/scene/compile_body.h"
#include "sim/scene/pair_overrides.h"
#include "tests/sim/mesh/shapes.h"
#include "tests/support/random.h"
#include "tests/support/scenes.h"

namespace eipc {
namespace {

const Vec3 kSize(0.1, 0.2, 0.06);

MaterialSpec Soft() { return testing::SoftMaterial(700, 1e5, 0.3); }

SceneSpec OneOfEachKind() {
  SceneSpec scene = testing::EmptyScene();
  scene.bodies = {testing::FullSpaceBox("full", kSize, {2, 3, 2}, Soft()),
                  testing::EmbeddedBox("embedded", kSize, {2, 2, 2}, Soft()),
                  testing::AffineBox("affine", kSize, testing::StiffMaterial(700, 1e7)), testing::KinematicBox("kinematic", kSize),
                  testing::StaticBox("static", kSize)};
  testing::Random random(7);
  for (size_t b = 0; b < scene.bodies.size(); ++b) scene.bodies[b].pose = {Vec3(0.5 * b, 0, 0.3), random.Rotation()};
  return scene;
}

// Small and thin bodies are better off with the factor, thick ones with conjugate gradients, which are given up before long.
TEST(CompileScene, ChoosesTheLinearSolverByTheStructureOfTheBodies) {
  const auto settings_of = [](const Vec3& size, const std::array<int, 3>& cells, LinearSolverKind asked) {
    SceneSpec scene = testing::EmptyScene();
    scene.bodies = {testing::FullSpaceBox("box", size, cells, Soft())};
    scene.solver.linear_solver = asked;
    return testing::Compile(scene)->solver;
  };
  const auto kind_of = [&](const Vec3& size, const std::array<int, 3>& cells) {
    return settings_of(size, cells, LinearSolverKind::kAuto).linear_solver;
  };
  const Vec3 cube(0.1, 0.1, 0.1);
  EXPECT_EQ(kind_of(cube, {5, 5, 5}), LinearSolverKind::kCholesky);
  EXPECT_EQ(kind_of(Vec3(0.4, 0.4, 0.01), {40, 40, 1}), LinearSolverKind::kCholesky);
  const SolverSettings block = settings_of(cube, {12, 12, 12}, LinearSolverKind::kAuto);
  EXPECT_EQ(block.linear_solver, LinearSolverKind::kPcgIc0);
  EXPECT_GT(block.most_krylov_iterations, 50);
  EXPECT_LT(block.most_krylov_iterations, 1000);
  const SolverSettings asked = settings_of(cube, {5, 5, 5}, LinearSolverKind::kPcgIc0);
  EXPECT_EQ(asked.linear_solver, LinearSolverKind::kPcgIc0);
  EXPECT_EQ(asked.most_krylov_iterations, 1000);
}

// Total mass, centre and inertia of the mass matrix, read off rigid motions: p^T M p.
TEST(CompileScene, TheMassMatrixIsThatOfTheSolidInsideTheSurface) {
  const SceneSpec scene = OneOfEachKind();
  const auto model = testing::Compile(scene);
  const double mass = 700 * kSize.prod();
  const Mat3 local = (mass / 12 *
                      Vec3(kSize.y() * kSize.y() + kSize.z() * kSize.z(), kSize.x() * kSize.x() + kSize.z() * kSize.z(),
                           kSize.x() * kSize.x() + kSize.y() * kSize.y()))
                         .asDiagonal();
  for (int b = 0; b < 3; ++b) {
    const Body& body = model->bodies[b];
    SCOPED_TRACE(body.name);
    const Mat3 r = scene.bodies[b].pose.rotation.toRotationMatrix();
    const Mat3 inertia = r * local * r.transpose();
    EXPECT_NEAR(body.mass.mass, mass, 1e-12 * mass);
    EXPECT_LT((body.mass.center_of_mass - scene.bodies[b].pose.position).norm(), 1e-13);
    EXPECT_LT((body.mass.inertia - inertia).norm(), 1e-10 * inertia.norm());
    State state = InitialState(*model);
    const Vec3 v(1, 2, 3), omega(0.3, -0.7, 0.5);
    for (int32_t i = body.nodes.begin; i < body.nodes.end; ++i) {
      state.v.segment<3>(3 * i) = v + omega.cross(Vec3(state.q.segment<3>(3 * i)) - body.mass.center_of_mass);
    }
    const Vec3 momentum = testing::LinearMomentum(*model, state, b);
    EXPECT_LT((momentum - mass * v).norm(), 1e-10 * momentum.norm());
    const Vec3 spin = testing::AngularMomentum(*model, state, b) - body.mass.center_of_mass.cross(momentum);
    EXPECT_LT((spin - inertia * omega).norm(), 1e-8 * spin.norm());
  }
  for (int b : {3, 4}) EXPECT_EQ(model->bodies[b].mass.mass, 0);
}

// The initial velocity is that of the centre of mass, which a body turns about, wherever its mesh has its origin.
TEST(CompileScene, InitialVelocitiesAreAboutTheCentreOfMass) {
  SceneSpec scene = testing::EmptyScene();
  for (BodySpec body :
       {testing::FullSpaceBox("full", kSize, {2, 3, 2}, Soft()), testing::EmbeddedBox("embedded", kSize, {2, 2, 2}, Soft()),
        testing::AffineBox("affine", kSize, testing::StiffMaterial(700, 1e7))}) {
    for (Vec3& p : body.mesh.vertices) p += Vec3(0.3, 0.4, 0.5);
    if (body.cage) {
      for (Vec3& p : body.cage->vertices) p += Vec3(0.3, 0.4, 0.5);
    }
    body.linear_velocity = Vec3(1, 2, 3);
    body.angular_velocity = Vec3(4, 5, 6);
    body.pose.position.x() = 0.5 * static_cast<double>(scene.bodies.size());
    scene.bodies.push_back(body);
  }
  const auto model = testing::Compile(scene);
  const State state = InitialState(*model);
  for (int b = 0; b < 3; ++b) {
    const Vec3 momentum = testing::LinearMomentum(*model, state, b);
    EXPECT_LT((momentum - model->bodies[b].mass.mass * Vec3(1, 2, 3)).norm(), 1e-10 * momentum.norm()) << b;
    EXPECT_LT((model->bodies[b].mass.center_of_mass - Vec3(0.3 + 0.5 * b, 0.4, 0.5)).norm(), 1e-13) << b;
  }
}

TEST(CompileScene, EveryKindHasItsNodesAndItsSurface) {
  const SceneSpec scene = OneOfEachKind();
  const auto model = testing::Compile(scene);
  const int nodes[] = {36, 27, 4, 4, 0}, tets[] = {72, 48, 1, 0, 0};
  int32_t node = 0, vertex = 0, triangle = 0;
  for (int b = 0; b < 5; ++b) {
    const Body& body = model->bodies[b];
    SCOPED_TRACE(body.name);
    EXPECT_EQ(body.kind, RowOf(scene.bodies[b].kind).name);
    EXPECT_EQ(body.nodes.size(), nodes[b]);
    EXPECT_EQ(body.tets.size(), tets[b]);
    EXPECT_EQ(body.nodes.begin, node);
    EXPECT_EQ(body.vertices.begin, vertex);
    EXPECT_EQ(body.triangles.begin, triangle);
    node = body.nodes.end;
    vertex = body.vertices.end;
    triangle = body.triangles.end;
    for (int32_t v = body.vertices.begin; v < body.vertices.end; ++v) {
      const EmbeddingRow& row = model->embedding[v];
      EXPECT_EQ(row.count == 0, !body.traits.moves);
      for (int k = 0; k < row.count; ++k) {
        EXPECT_GE(row.nodes[k], body.nodes.begin);
        EXPECT_LT(row.nodes[k], body.nodes.end);
      }
      EXPECT_EQ(model->surface.vertex_body[v], b);
    }
  }
  EXPECT_EQ(node, model->node_count);
  EXPECT_EQ(vertex, model->surface.vertex_count);
  EXPECT_EQ(model->elastic.size(), 3u);
  EXPECT_EQ(model->FindBody("affine"), 2);
  EXPECT_EQ(model->FindBody("nobody"), -1);
  EXPECT_GE(model->FindBoundarySet("kinematic", ""), 0);
  EXPECT_EQ(model->FindBoundarySet("kinematic", "grip"), -1);
}

// x = J q reproduces the authored surface where it was placed, whatever moves it.
TEST(CompileScene, TheSurfaceIsWhereItWasPlaced) {
  const SceneSpec scene = OneOfEachKind();
  World world(testing::Compile(scene));
  std::vector<Vec3> x;
  world.SurfacePositions(&x);
  for (size_t v = 0; v < x.size(); ++v) EXPECT_LT((x[v] - world.model().surface.rest_positions[v]).norm(), 1e-14);
  for (int b : {1, 2, 3, 4}) {
    const Body& body = world.model().bodies[b];
    ASSERT_EQ(body.vertices.size(), static_cast<int>(scene.bodies[b].mesh.vertices.size()));
    for (int32_t v = 0; v < body.vertices.size(); ++v) {
      EXPECT_LT((x[body.vertices.begin + v] - scene.bodies[b].pose.Apply(scene.bodies[b].mesh.vertices[v])).norm(), 1e-13);
    }
  }
}

// The elastic volume of a cage is the solid's; nodes that hold hardly any of it keep a little, so that they have stiffness.
TEST(CompileScene, ElasticVolumeIsTheSolids) {
  const auto model = testing::Compile(OneOfEachKind());
  for (int b = 0; b < 3; ++b) {
    double volume = 0;
    for (double v : model->elastic[b].volume) {
      EXPECT_GT(v, 0);
      volume += v;
    }
    EXPECT_NEAR(volume / kSize.prod(), 1, b == 1 ? 2e-3 : 1e-10) << b;
  }
}

TEST(CompileScene, PairsFollowKindsAndOverrides) {
  SceneSpec scene = OneOfEachKind();
  BodySpec second = testing::AffineBox("affine2", kSize, testing::StiffMaterial(700, 1e7));
  second.pose.position = Vec3(0, 0, 2);
  scene.bodies.push_back(second);
  scene.friction.dynamic_coefficient = 0.3;
  const auto enabled = [&](int a, int b) {
    const auto model = testing::Compile(scene);
    EXPECT_EQ(model->surface.Enabled(a, b), model->surface.Enabled(b, a));
    EXPECT_EQ(model->friction.DynamicCoefficient(a, b), model->friction.DynamicCoefficient(b, a));
    return model->surface.Enabled(a, b);
  };
  EXPECT_TRUE(enabled(0, 0)) << "self-contact of deformable bodies";
  EXPECT_TRUE(enabled(1, 1));
  EXPECT_FALSE(enabled(2, 2)) << "an affine body does not meet itself";
  EXPECT_TRUE(enabled(2, 5));
  EXPECT_TRUE(enabled(2, 4));
  EXPECT_TRUE(enabled(3, 4)) << "a kinematic body stops at a static one";
  EXPECT_FALSE(enabled(4, 4));
  EXPECT_FALSE(enabled(3, 3));
  scene.self_contact = false;
  scene.rigid_contact = false;
  EXPECT_FALSE(enabled(0, 0));
  EXPECT_FALSE(enabled(2, 5)) << "rigid with rigid";
  EXPECT_FALSE(enabled(2, 4));
  EXPECT_FALSE(enabled(3, 4));
  EXPECT_TRUE(enabled(0, 2));
  scene.contact_pairs = {{"full", "affine", false, std::nullopt},
                         {"affine", "affine2", true, 0.9},
                         {"kinematic", "static", true, std::nullopt},
                         {"full", "full", true, std::nullopt},
                         {"affine2", "affine", std::nullopt, 0.7}};
  EXPECT_FALSE(enabled(0, 2));
  EXPECT_TRUE(enabled(2, 5)) << "an override in either order of names";
  EXPECT_TRUE(enabled(3, 4));
  EXPECT_TRUE(enabled(0, 0));
  const auto model = testing::Compile(scene);
  EXPECT_EQ(model->friction.DynamicCoefficient(2, 5), 0.7) << "the last override wins";
  EXPECT_EQ(model->friction.DynamicCoefficient(0, 1), 0.3);
}

TEST(CompileScene, BoundarySetsSelectInTheMeshFrameAndRememberTheirs) {
  SceneSpec scene = OneOfEachKind();
  BoundarySetSpec set;
  set.name = "grip";
  set.box = SelectionBox{Vec3(-1, -1, 0.029), Vec3(1, 1, 1)};  // the face at z = 0.03 before placement
  set.vertices = {0, 0};
  set.frame = Pose{Vec3(0.1, 0.2, 0.3), Quat(Eigen::AngleAxisd(1, Vec3::UnitX()))};
  scene.bodies[0].boundary_sets = {set};
  const auto model = testing::Compile(scene);
  const BoundarySet& compiled = model->boundary_sets[model->FindBoundarySet("full", "grip")];
  EXPECT_EQ(compiled.nodes.size(), 12u + 1u);
  EXPECT_TRUE(std::is_sorted(compiled.nodes.begin(), compiled.nodes.end()));
  for (size_t i = 0; i < compiled.nodes.size(); ++i) {
    EXPECT_LT((set.frame->Apply(compiled.local_positions[i]) - model->initial_positions[compiled.nodes[i]]).norm(), 1e-14);
    const Vec3 authored = scene.bodies[0].pose.Inverse().Apply(model->initial_positions[compiled.nodes[i]]);
    if (compiled.nodes[i] != 0) {
      EXPECT_NEAR(authored.z(), 0.03, 1e-12);
    }
  }
}

TEST(CompileScene, SettingsArrive) {
  SceneSpec scene = OneOfEachKind();
  scene.name = "all of it";
  scene.gravity = Vec3(1, 2, 3);
  scene.contact.dhat_m = 2e-3;
  scene.solver.max_newton_iterations = 17;
  scene.schedule_duration_s = 4;
  scene.schedule_dt_s = 0.02;
  scene.holding = HoldingSpec{"affine", 1, 2};
  scene.goals = {{"still", "affine", "", SpeedMeasure{}, 0.5, 3.0}, {"up", "affine", "static", DirectionMeasure{}, 0.1, {}}};
  const auto model = testing::Compile(scene);
  EXPECT_EQ(model->name, "all of it");
  EXPECT_EQ(model->gravity, Vec3(1, 2, 3));
  EXPECT_EQ(model->contact.dhat_m, 2e-3);
  EXPECT_EQ(model->solver.max_newton_iterations, 17);
  EXPECT_EQ(model->schedule_duration_s, 4);
  EXPECT_EQ(model->schedule_dt_s, 0.02);
  EXPECT_EQ(model->holding.body, 2);
  EXPECT_EQ(model->holding.start_s, 1);
  EXPECT_EQ(model->holding.end_s, 2);
  ASSERT_EQ(model->goals.size(), 2u);
  EXPECT_EQ(model->goals[0].name, "still");
  EXPECT_EQ(model->goals[0].body, 2);
  EXPECT_EQ(model->goals[0].relative_to, -1);
  EXPECT_EQ(model->goals[0].tolerance, 0.5);
  EXPECT_EQ(model->goals[0].from_s, 3.0);
  EXPECT_EQ(model->goals[1].relative_to, model->FindBody("static"));
}

// A ball with two cavities: whole, all cavities, and the one that a box names.
TEST(CompileScene, RegionsOfASurfaceCanBeFilled) {
  SceneSpec scene = testing::EmptyScene();
  BodySpec ball;
  ball.name = "ball";
  ball.kind = BodyKind::kAffine;
  ball.mesh = testing::Sphere(Vec3(0, 0, 0), 0.05, 2);
  double inner[2];
  for (const int side : {0, 1}) {
    const MeshData bubble = testing::Sphere(Vec3(side ? 0.02 : -0.02, 0, 0), side ? 0.01 : 0.015, 2);
    inner[side] = SolidMassProperties(bubble.vertices, bubble.triangles, 1).mass;
    const int32_t shift = static_cast<int32_t>(ball.mesh.vertices.size());
    ball.mesh.vertices.insert(ball.mesh.vertices.end(), bubble.vertices.begin(), bubble.vertices.end());
    for (const Triangle& t : bubble.triangles) ball.mesh.triangles.push_back({t[0] + shift, t[2] + shift, t[1] + shift});
  }
  ball.material = testing::StiffMaterial(700, 1e7);
  ball.pose = {Vec3(1, 2, 3), Quat(Eigen::AngleAxisd(1, Vec3::UnitZ()))};
  ball.enclosed_volumes.resize(3);
  ball.enclosed_volumes[1].cavities = ball.enclosed_volumes[2].cavities = true;
  ball.enclosed_volumes[2].box = SelectionBox{Vec3(0.005, -0.02, -0.02), Vec3(0.04, 0.02, 0.02)};
  scene.bodies = {BodySpec(testing::AffineBox("other", Vec3(0.1, 0.1, 0.1), testing::StiffMaterial(700, 1e7))), ball};
  const auto model = testing::Compile(scene);
  ASSERT_EQ(model->filled_regions.size(), 3u);
  const double expected[] = {model->bodies[1].mass.mass / 700, inner[0] + inner[1], inner[1]};
  for (int k = 0; k < 3; ++k) {
    const FilledRegion& region = model->filled_regions[k];
    EXPECT_EQ(region.body, 1);
    EXPECT_NEAR(region.filling.rest_volume_m3 / expected[k], 1, 1e-10) << k;
    EXPECT_NEAR(RegionVolume(region, model->surface.rest_positions) / expected[k], 1, 1e-10) << k;
  }
}

// What counts as still shrinks with the smallest body that moves and with the speed at which friction creeps; what is asked for
// is kept.
TEST(CompileScene, ToleranceFitsTheScene) {
  SceneSpec scene = testing::EmptyScene();
  scene.bodies = {testing::AffineBox("box", Vec3(0.03, 0.04, 0.12), testing::StiffMaterial(1000, 1e7)),
                  testing::StaticSheet("tiny", 1e-6)};
  scene.bodies[1].pose.position.x() = 1;
  scene.contact.friction_velocity_m_s = 1e-3;
  scene.solver.newton_tolerance_m_s = 0;
  EXPECT_EQ(testing::Compile(scene)->solver.newton_tolerance_m_s, 3e-5);
  scene.contact.friction_velocity_m_s = 1e-4;
  EXPECT_EQ(testing::Compile(scene)->solver.newton_tolerance_m_s, 0.1 * 1e-4);
  scene.bodies[0] = testing::AffineBox("box", Vec3(0.0003, 0.0004, 0.0012), testing::StiffMaterial(1000, 1e7));
  EXPECT_NEAR(testing::Compile(scene)->solver.newton_tolerance_m_s, 1.3e-6, 1e-12);
  scene.solver.newton_tolerance_m_s = 1e-3;
  EXPECT_EQ(testing::Compile(scene)->solver.newton_tolerance_m_s, 1e-3);
}

// What friction lets creep is slow enough to fall asleep.
TEST(CompileScene, TheSpeedOfSleepFollowsThatOfFriction) {
  SceneSpec scene = testing::EmptyScene();
  scene.bodies = {testing::AffineBox("box", Vec3(0.03, 0.04, 0.12), testing::StiffMaterial(1000, 1e7))};
  scene.contact.friction_velocity_m_s = 1e-3;
  EXPECT_EQ(testing::Compile(scene)->dynamics.sleep.speed_m_s, 5e-3);
  EXPECT_EQ(testing::Compile(scene)->dynamics.sleep.after_s, 0) << "not unless asked";
  scene.dynamics.sleep.speed_m_s = 5e-4;
  EXPECT_EQ(testing::Compile(scene)->dynamics.sleep.speed_m_s, 5e-4);
}

// A budget of vertices makes a cage here; a ball in it falls and lands without leaving it.
TEST(CompileScene, ACageCanBeMade) {
  SceneSpec scene = testing::EmptyScene();
  BodySpec ball;
  ball.name = "ball";
  ball.kind = BodyKind::kEmbedded;
  ball.mesh = testing::Sphere(Vec3(0, 0, 0), 0.05, 2);
  ball.cage_vertices = 30;
  ball.material = Soft();
  scene.bodies = {ball};
  const auto model = testing::Compile(scene);
  ASSERT_EQ(model->bodies.size(), 1u);
  EXPECT_LE(model->node_count, 30);
  EXPECT_GE(model->node_count, 4);
  const MassProperties exact = SolidMassProperties(ball.mesh.vertices, ball.mesh.triangles, 700);
  State state = InitialState(*model);
  for (Eigen::Index i = 0; i < state.v.size(); i += 3) state.v.segment<3>(i) = Vec3(1, 0, 0);
  EXPECT_NEAR(testing::LinearMomentum(*model, state, 0).x(), exact.mass, 1e-10 * exact.mass);
}

// A fine bar of tets in a coarse cage.
BodySpec CagedBar() {
  BodySpec bar;
  bar.name = "bar";
  bar.kind = BodyKind::kEmbedded;
  bar.mesh = testing::BoxTets(Vec3(0, 0, 0), Vec3(0.1, 0.12, 0.3), 4);
  bar.cage = testing::BoxTets(Vec3(-0.01, -0.01, -0.01), Vec3(0.11, 0.13, 0.31), 1);
  bar.material = Soft();
  return bar;
}

CompiledBody CompileAlone(const BodySpec& spec) {
  Problems problems;
  CompiledBody body = CompileBody(spec, "bodies[0]", &problems);
  EXPECT_TRUE(problems.empty());
  return body;
}

double EnergyOf(const CompiledBody& body, const Mat3& f) {
  return std::visit([&](const auto& material) { return material.Psi(f, Mat3::Identity()); }, body.elastic.material);
}

TEST(CompileScene, ACagesMaterialCanBeCalibrated) {
  Mat3 stretch = Mat3::Identity(), shear = Mat3::Identity();
  stretch(0, 0) = 1.1;
  shear(0, 1) = 0.1;
  BodySpec as_is = CagedBar(), calibrated = CagedBar(), equivalent = CagedBar();
  calibrated.calibration = CageCalibration{0.4, 0.2};
  equivalent.material.youngs_modulus_pa *= 0.4;
  equivalent.material.poissons_ratio = 0.2;
  const CompiledBody a = CompileAlone(as_is), b = CompileAlone(calibrated), c = CompileAlone(equivalent);
  for (const Mat3& f : {stretch, shear}) {
    EXPECT_EQ(EnergyOf(b, f), EnergyOf(c, f));
    EXPECT_LT(EnergyOf(b, f), 0.5 * EnergyOf(a, f));
  }
  EXPECT_EQ(a.mass.mass, b.mass.mass);
  EXPECT_FALSE(a.calibration.has_value());
}

TEST(CompileScene, ACalibrationIsMeasuredAgainstTheBodysOwnTets) {
  BodySpec bar = CagedBar();
  bar.calibration = CageCalibration();
  const CompiledBody measured = CompileAlone(bar);
  ASSERT_TRUE(measured.calibration.has_value());
  // One layer of tets across is far too stiff in bending.
  EXPECT_LT(*measured.calibration->youngs_scale, 0.9);
  EXPECT_GT(*measured.calibration->youngs_scale, 0.01);
  EXPECT_LE(*measured.calibration->poissons_ratio, bar.material.poissons_ratio);
  // The body's own mesh locks no more than itself.
  bar.cage = bar.mesh;
  const CompiledBody own = CompileAlone(bar);
  EXPECT_NEAR(*own.calibration->youngs_scale, 1, 1e-6);
}

// `mesh` with a far vertex that no cell uses before vertex 3, and one at the end.
MeshData WithUnusedVertices(MeshData mesh) {
  const auto shift = [](auto* cells) {
    for (auto& cell : *cells) {
      for (int32_t& v : cell) v += v >= 3;
    }
  };
  shift(&mesh.tets);
  shift(&mesh.triangles);
  mesh.vertices.insert(mesh.vertices.begin() + 3, Vec3(5, 5, 5));
  mesh.vertices.emplace_back(-5, 5, 5);
  return mesh;
}

// Vertices that no cell uses belong to the file and to nothing else: bodies of every kind are the same without them, to the last
// bit.
TEST(CompileScene, UnusedVerticesChangeNothing) {
  const SceneSpec clean = OneOfEachKind();
  SceneSpec scene = clean;
  for (BodySpec& body : scene.bodies) {
    body.mesh = WithUnusedVertices(body.mesh);
    if (body.cage) body.cage = WithUnusedVertices(*body.cage);
  }
  const auto expected = testing::Compile(clean), model = testing::Compile(scene);
  EXPECT_EQ(model->initial_positions, expected->initial_positions);
  EXPECT_EQ(model->surface.rest_positions, expected->surface.rest_positions);
  EXPECT_EQ(model->surface.triangles, expected->surface.triangles);
  EXPECT_EQ(model->mass.values, expected->mass.values);
  EXPECT_EQ(model->solver.newton_tolerance_m_s, expected->solver.newton_tolerance_m_s);
}

// The indices of a boundary set count every vertex of the mesh file, used or not.
TEST(CompileScene, BoundarySetsCountTheVerticesOfTheFile) {
  for (const bool embedded : {false, true}) {
    SceneSpec scene = testing::EmptyScene();
    scene.bodies = {embedded ? testing::EmbeddedBox("box", kSize, {2, 2, 2}, Soft())
                             : testing::FullSpaceBox("box", kSize, {2, 2, 2}, Soft())};
    MeshData& mesh = embedded ? *scene.bodies[0].cage : scene.bodies[0].mesh;
    const std::vector<Vec3> before = mesh.vertices;
    mesh = WithUnusedVertices(mesh);
    for (const int32_t vertex : {2, 4, 7}) {
      SCOPED_TRACE(vertex);
      scene.bodies[0].boundary_sets = {{"grip", {vertex}, {}, {}, {}}};
      const auto model = testing::Compile(scene);
      ASSERT_EQ(model->boundary_sets.size(), 1u);
      ASSERT_EQ(model->boundary_sets[0].nodes.size(), 1u);
      EXPECT_EQ(model->initial_positions[model->boundary_sets[0].nodes[0]], mesh.vertices[vertex]);
      EXPECT_EQ(mesh.vertices[vertex], before[vertex - (vertex > 3)]);
    }
    const auto error = [&](std::vector<BoundarySetSpec> sets) {
      scene.bodies[0].boundary_sets = std::move(sets);
      return std::string(CompileScene(scene, Problems()).status().message());
    };
    EXPECT_EQ(error({{"grip", {2, 3}, {}, {}, {}}}),
              "bodies[0].boundary_sets[0].vertices: vertex 3 of the mesh belongs to no tetrahedron, so nothing would move with it; "
              "remove "
              "it from the list");
    EXPECT_EQ(error({{"grip", {29}, {}, {}, {}}}),
              "bodies[0].boundary_sets[0].vertices: index 29 is not one of the mesh's 29 vertices");
    EXPECT_EQ(error({{"a", {4, 5}, {}, {}, {}}, {"b", {5}, {}, {}, {}}}),
              "bodies[0].boundary_sets[1]: vertex 5 is already driven by \"a\"");
  }
}

// A scene whose bodies are all at one place, by mistake or to do harm, is not checked to the end when nobody waits for it any more.
TEST(CompileScene, IsCancelledAmidTheCheckOfPlaces) {
  SceneSpec scene = testing::EmptyScene();
  constexpr int kBodies = 40;
  for (int i = 0; i < kBodies; ++i) {
    scene.bodies.push_back(testing::AffineBox("box " + std::to_string(i), kSize, testing::StiffMaterial(700, 1e7)));
  }
  int polls = 0;
  StepBudget budget;
  budget.cancelled = [&polls] { return ++polls > 4 * kBodies; };
  EXPECT_EQ(CompileScene(scene, {}, budget).status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(CompileScene(scene).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(PairOverrides, AreFoundByBodiesInTheOrderOfTheScene) {
  SceneSpec scene = OneOfEachKind();
  const auto add = [&scene](const std::string& a, const std::string& b) { scene.contact_pairs.push_back({a, b, {}, {}}); };
  add("full", "affine");
  add("static", "full");
  add("affine", "full");
  add("affine", "ghost");
  add("affine", "affine");
  const PairOverrides overrides(scene);
  const auto of = [&](int32_t a, int32_t b) {
    std::vector<int64_t> found;
    for (const ContactPairSpec* pair : overrides.Of(a, b)) found.push_back(pair - scene.contact_pairs.data());
    return found;
  };
  EXPECT_EQ(of(0, 2), (std::vector<int64_t>{0, 2}));
  EXPECT_EQ(of(2, 0), (std::vector<int64_t>{0, 2}));
  EXPECT_EQ(of(0, 4), (std::vector<int64_t>{1}));
  EXPECT_EQ(of(2, 2), (std::vector<int64_t>{4}));
  EXPECT_TRUE(of(1, 2).empty());
}

}  // namespace
}  // namespace eipc
