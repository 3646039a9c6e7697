// Shells as bodies of a scene: what is refused, and what the places that once assumed closed solids make of open sheets.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sim/collision/pair_dhat.h"
#include "sim/sensor/body_motion.h"
#include "sim/sensor/shell_reading.h"
#include "tests/support/scene_problems.h"
#include "tests/support/scenes.h"

namespace eipc {
namespace {

using ::testing::AllOf;
using testing::ExpectOnly;
using ::testing::HasSubstr;

constexpr double kHalf = 0.05;  // m
constexpr int kCells = 10;
constexpr double kThickness = 1e-3;

BodySpec Towel() {
  BodySpec body;
  body.name = "towel";
  body.kind = BodyKind::kShell;
  body.mesh = testing::Sheet(kHalf, 0, kCells);
  body.material = {.density_kg_m3 = 400, .youngs_modulus_pa = 1e5, .poissons_ratio = 0.3};
  body.shell.thickness_m = kThickness;
  return body;
}

SceneSpec WithTowel(const BodySpec& body) {
  SceneSpec scene = testing::EmptyScene();
  scene.bodies = {body};
  return scene;
}

TEST(ShellScene, MassIsThatOfTheSheet) {
  BodySpec body = Towel();
  body.pose = {Vec3(0.1, 0.2, 0.3), Quat(Eigen::AngleAxisd(0.5, Vec3::UnitX()))};
  const auto model = testing::Compile(WithTowel(body));
  const double side = 2 * kHalf, mass = 400 * kThickness * side * side;
  EXPECT_NEAR(model->bodies[0].mass.mass, mass, 1e-12);
  EXPECT_LT((model->bodies[0].mass.center_of_mass - body.pose.position).norm(), 1e-14);
  const Mat3 r = body.pose.rotation.toRotationMatrix(), inertia = r.transpose() * model->bodies[0].mass.inertia * r;
  const double about = mass * side * side / 12;
  EXPECT_LT((inertia - Mat3(Vec3(about, about, 2 * about).asDiagonal())).norm(), 1e-12 * about + 1e-18);
  double total = 0;
  for (const double value : model->mass.values) total += value;
  EXPECT_NEAR(total, mass, 1e-12);
  EXPECT_EQ(model->bodies[0].nodes.size(), (kCells + 1) * (kCells + 1));
}

// A closed shell has the mass of its walls, not that of a solid; and things may be inside it.
TEST(ShellScene, ClosedShellsAreHollow) {
  BodySpec bag = Towel();
  bag.mesh = testing::BoxSurfaceGrid(Vec3::Constant(-kHalf), Vec3::Constant(kHalf), {5, 5, 5});
  SceneSpec scene = WithTowel(bag);
  scene.bodies.push_back(testing::AffineBox("inside", Vec3::Constant(0.02), testing::StiffMaterial(1000, 1e7)));
  const auto model = testing::Compile(scene);
  EXPECT_NEAR(model->bodies[0].mass.mass, 400 * kThickness * 6 * 4 * kHalf * kHalf, 1e-9);
}

TEST(ShellScene, SheetsTouchThemselvesAndDoNotStayFlat) {
  const auto model = testing::Compile(WithTowel(Towel()));
  const CollisionSurface& s = model->surface;
  EXPECT_TRUE(s.Enabled(0, 0));
  EXPECT_FALSE(s.StaysFlat(0));
  // Every edge counts, and every vertex of the inside with its whole surroundings.
  const double edge = 2 * kHalf / kCells;
  for (size_t e = 0; e < s.edges.size(); ++e) {
    const Vec3 &a = s.rest_positions[s.edges[e][0]], &b = s.rest_positions[s.edges[e][1]];
    const auto on_border = [&](int axis) { return std::abs(a[axis]) > 0.999 * kHalf && std::abs(a[axis] - b[axis]) < 1e-9; };
    const int triangles = on_border(0) || on_border(1) ? 1 : 2;
    const double width = triangles * edge * edge / 6 / std::sqrt(s.edge_rest_length2[e]);
    EXPECT_NEAR(model->contact_weights.EdgePair(s, static_cast<int32_t>(e), static_cast<int32_t>(e), 1e-3), 0.06 * width * width,
                1e-15)
        << e;
  }
  double largest = 0;
  for (int32_t p = 0; p < s.vertex_count; ++p) largest = std::max(largest, model->contact_weights.Point(s, p, 0));
  EXPECT_NEAR(largest, 0.5 * edge * edge, 1e-12);
}

// A vertex at a fold of the placed shape counts with both wings.
TEST(ShellScene, FoldedPlacementKeepsTheAreasOfVertices) {
  BodySpec body = Towel();
  body.shell.rest_mesh = body.mesh;
  for (Vec3& p : body.mesh.vertices) {
    if (p.x() > 1e-9) p = Vec3(0, p.y(), p.x());
  }
  const auto model = testing::Compile(WithTowel(body));
  double total = 0;
  for (int32_t p = 0; p < model->surface.vertex_count; ++p) total += 2 * model->contact_weights.Point(model->surface, p, 0);
  EXPECT_NEAR(total, 4 * kHalf * kHalf, 1e-9);
}

// Neighbours along the sheet are let be; layers that are only placed near each other keep their whole thickness.
TEST(ShellScene, FoldedStartsKeepTheirLayersApart) {
  BodySpec body = Towel();
  body.shell.rest_mesh = body.mesh;
  // Folded over at x = 0 with 3 mm between the layers.
  for (Vec3& p : body.mesh.vertices) {
    if (p.x() > 1e-9) p = Vec3(-p.x() + 0.004, p.y(), 3e-3);
  }
  SceneSpec scene = WithTowel(body);
  scene.contact.dhat_m = 1e-3;
  const auto model = testing::Compile(scene);
  const CollisionSurface& s = model->surface;
  int layers = 0, neighbours = 0;
  for (int32_t p = 0; p < s.vertex_count; ++p) {
    for (const Triangle& t : s.triangles) {
      if (std::find(t.begin(), t.end(), p) != t.end()) continue;
      const std::array<int32_t, 4> v = {p, t[0], t[1], t[2]};
      const double placed = std::sqrt(PairClosest(ContactKind::kPointTriangle, v, s.rest_positions).distance2);
      const double flat = std::sqrt(PairClosest(ContactKind::kPointTriangle, v, s.sheets.stress_free).distance2);
      const PairRange range = OwnRange(s, ContactKind::kPointTriangle, v, 1e-3);
      if (placed < 3.5e-3 && flat > 0.04) {
        EXPECT_EQ(range.dhat, 1e-3);
        EXPECT_NEAR(range.offset, kThickness, 1e-18);
        ++layers;
      }
      EXPECT_LE(range.reach(), std::max(0.5 * flat, 0.0) + 1e-15) << "at rest nothing touches";
      neighbours += range.reach() < 2e-3 - 1e-12;
    }
  }
  EXPECT_GE(layers, 100);
}

// By the formula 1/2 sum C_ij da_i da_j an edge beside a driven triangle counts for the free one alone.
TEST(ShellScene, EdgesBesideDrivenTrianglesBendWholly) {
  BodySpec body = Towel();
  body.material.poissons_ratio = 0;
  BoundarySetSpec clamp;
  clamp.name = "clamp";
  clamp.box = SelectionBox{Vec3(-1, -1, -1), Vec3(-kHalf + 2.1 * kHalf / kCells, 1, 1)};
  body.boundary_sets = {clamp};
  const auto model = testing::Compile(WithTowel(body));
  ASSERT_EQ(model->boundary_sets[0].nodes.size(), 2u * (kCells + 1));
  double stiffest = 0, least = 1e9;
  for (const Hinge& h : model->shells[0].hinges) {
    const Vec3 e = model->initial_positions[h.nodes[1]] - model->initial_positions[h.nodes[0]];
    if (std::abs(e.x()) > 1e-9) continue;  // across the strip
    stiffest = std::max(stiffest, h.stiffness);
    least = std::min(least, h.stiffness);
  }
  EXPECT_NEAR(stiffest, 2 * least, 1e-9 * least);
}

TEST(ShellScene, SaysWhatIsWrongWithNumbers) {
  const auto with = [](const auto& change) {
    BodySpec body = Towel();
    change(&body);
    return WithTowel(body);
  };
  ExpectOnly(with([](BodySpec* b) { b->shell.thickness_m = 0; }), "bodies[0].shell.thickness_m", "must be > 0, got 0");
  ExpectOnly(with([](BodySpec* b) { b->shell.thickness_m = 0.02; }), "bodies[0].shell.thickness_m",
             "more than the edges of the mesh");
  ExpectOnly(with([](BodySpec* b) { b->shell.contact_thickness_m = 0.02; }), "bodies[0].shell.contact_thickness_m",
             "more than the edges");
  ExpectOnly(with([](BodySpec* b) { b->material.density_kg_m3 = 0; }), "bodies[0].material.density_kg_m3", "mass_per_area_kg_m2");
  ExpectOnly(with([](BodySpec* b) { b->material.youngs_modulus_pa = 0; }), "bodies[0].material.youngs_modulus_pa",
             "membrane_youngs_n_m");
  ExpectOnly(with([](BodySpec* b) { b->material.poissons_ratio = 0.6; }), "bodies[0].material.poissons_ratio", "0.5");
  ExpectOnly(with([](BodySpec* b) { b->shell.membrane_mu_n_m = 10; }), "bodies[0].shell", "or neither");
  ExpectOnly(with([](BodySpec* b) { b->shell.bending_stiffness_nm = -1; }), "bodies[0].shell.bending_stiffness_nm", ">= 0");
  ExpectOnly(with([](BodySpec* b) { b->shell.strain_limit = 0.9; }), "bodies[0].shell.strain_limit", "> 1");
  ExpectOnly(with([](BodySpec* b) { b->shell.fabric = "velvet"; }), "bodies[0].shell.fabric", "cotton");
  ExpectOnly(with([](BodySpec* b) {
               b->shell.keypoints = {{"corner", {4000}, {}}};
             }),
             "bodies[0].shell.keypoints[0].vertices", "4000");
  ExpectOnly(with([](BodySpec* b) { b->shell.openings = {{"rim", {0, 1}}}; }), "bodies[0].shell.openings[0].vertices", "three");
}

// Names are those of observations.
TEST(ShellScene, KeypointsAndOpeningsHaveNamesOfTheirOwn) {
  BodySpec body = Towel();
  body.shell.keypoints = {{"corner", {0}, {}}, {"rim", {1}, {}}};
  body.shell.openings = {{"rim", {0, 1, 2}}};
  testing::Compile(WithTowel(body));
  BodySpec twice = body;
  twice.shell.keypoints[1].name = "corner";
  ExpectOnly(WithTowel(twice), "bodies[0].shell.keypoints[1].name", "\"corner\" is used by another keypoint");
  body.shell.openings.push_back(body.shell.openings[0]);
  ExpectOnly(WithTowel(body), "bodies[0].shell.openings[1].name", "\"rim\" is used by another opening");
}

// Forces would not be finite, or so large that no step is solved.
TEST(ShellScene, NumbersOutOfRangeAreRefused) {
  struct Case {
    const char* path;
    void (*change)(ShellSpec*);
    const char* bound;
  };
  const Case cases[] = {
      {"contact_thickness_m", [](ShellSpec* s) { s->contact_thickness_m = 1e200; }, "at most 1e+12, got 1e+200"},
      {"membrane_mu_n_m",
       [](ShellSpec* s) {
         s->membrane_mu_n_m = 1e200;
         s->membrane_lambda_n_m = 1;
       },
       "at most 1e+30"},
      {"membrane_lambda_n_m",
       [](ShellSpec* s) {
         s->membrane_mu_n_m = 1;
         s->membrane_lambda_n_m = 1e200;
       },
       "at most 1e+30"},
      {"bending_stiffness_nm", [](ShellSpec* s) { s->bending_stiffness_nm = 1e200; }, "at most 1e+30"},
      {"strain_limit", [](ShellSpec* s) { s->strain_limit = 1e200; }, "at most 1e+30"},
      {"strain_limit_stiffness_n_m", [](ShellSpec* s) { s->strain_limit_stiffness_n_m = 1e200; }, "at most 1e+30"},
      {"keypoints[0].weights",
       [](ShellSpec* s) {
         s->keypoints = {{"far", {0, 1, 2}, {1e31, 0, 1}}};
       },
       "at most 1e+30"},
      {"rest_mesh",
       [](ShellSpec* s) {
         s->rest_mesh = testing::Sheet(kHalf, 0, kCells);
         for (Vec3& p : s->rest_mesh->vertices) p *= 1e100;
       },
       "at most 1e+12 in each coordinate"},
  };
  for (const Case& c : cases) {
    BodySpec body = Towel();
    c.change(&body.shell);
    ExpectOnly(WithTowel(body), absl::StrCat("bodies[0].shell.", c.path), c.bound);
  }
  BodySpec ball = Towel();
  ball.mesh = testing::BoxSurfaceGrid(Vec3::Constant(-kHalf), Vec3::Constant(kHalf), {5, 5, 5});
  ball.enclosed_volumes = {{}};
  const auto refused = [&ball](double Filling::*number, VolumeLaw law, double value, const char* name, const char* bound) {
    BodySpec body = ball;
    body.enclosed_volumes[0].filling.law = law;
    body.enclosed_volumes[0].filling.*number = value;
    ExpectOnly(WithTowel(body), absl::StrCat("bodies[0].enclosed_volumes[0].", name), bound);
  };
  refused(&Filling::overpressure_pa, VolumeLaw::kIdealGas, 1e200, "overpressure_pa", "at most 1e+30");
  refused(&Filling::ambient_pressure_pa, VolumeLaw::kIdealGas, 1e200, "ambient_pressure_pa", "at most 1e+30");
  refused(&Filling::compressibility_per_pa, VolumeLaw::kSecondOrder, 1e200, "compressibility_per_pa", "at most 1e+30");
  refused(&Filling::compressibility_per_pa, VolumeLaw::kSecondOrder, 1e-200, "compressibility_per_pa", "at least 1e-30");
}

TEST(ShellScene, SaysWhatIsWrongWithMeshes) {
  const auto with = [](const auto& change) {
    BodySpec body = Towel();
    change(&body.mesh);
    return WithTowel(body);
  };
  ExpectOnly(with([](MeshData* m) { m->tets = {{0, 1, 2, 3}}; }), "bodies[0].shell.mesh", "tetrahedra");
  ExpectOnly(with([](MeshData* m) {
               m->vertices[1] = 0.5 * (m->vertices[0] + m->vertices[2]) + Vec3(0, 0, 0);
               m->triangles.push_back({0, 1, 2});
             }),
             "bodies[0].shell.mesh", "no area");
  ExpectOnly(with([](MeshData* m) { std::swap(m->triangles[7][0], m->triangles[7][1]); }), "bodies[0].shell.mesh",
             "opposite directions");
  ExpectOnly(with([](MeshData* m) {
               m->vertices.push_back(Vec3(0, 0, 0.01));
               const Triangle t = m->triangles[50];
               m->triangles.push_back({t[1], t[0], static_cast<int32_t>(m->vertices.size()) - 1});
             }),
             "bodies[0].shell.mesh", "at most two at an edge");
  // A seam of two vertices at one place.
  ExpectOnly(with([](MeshData* m) {
               m->vertices.push_back(m->vertices[0]);
               m->triangles[0][0] = static_cast<int32_t>(m->vertices.size()) - 1;
             }),
             "bodies[0].shell.mesh", "weld");
  BodySpec other = Towel();
  other.shell.rest_mesh = testing::Sheet(kHalf, 0, kCells - 1);
  ExpectOnly(WithTowel(other), "bodies[0].shell.rest_mesh", "must have the triangles of the mesh");
  BodySpec stretched = Towel();
  stretched.shell.rest_mesh = stretched.mesh;
  stretched.shell.strain_limit = 1.05;
  for (Vec3& p : stretched.mesh.vertices) p.x() *= 1.1;
  ExpectOnly(WithTowel(stretched), "bodies[0].shell.mesh", "beyond the strain limit");
  const auto stretched_to = [&](double stretch) {
    BodySpec body = stretched;
    body.mesh = *stretched.shell.rest_mesh;
    for (Vec3& p : body.mesh.vertices) p.x() *= stretch;
    return WithTowel(body);
  };
  ExpectOnly(stretched_to(1.05 - 4e-6), "bodies[0].shell.mesh", "too close to the strain limit");
  EXPECT_TRUE(CompileScene(stretched_to(1.05 - 6e-6)).ok());
}

// By their indices in the mesh, which may have vertices that no triangle uses.
TEST(ShellScene, ProblemsNameVerticesAsTheMeshNumbersThem) {
  constexpr int32_t kUnused = 3;
  BodySpec body = Towel();
  body.mesh.vertices.insert(body.mesh.vertices.begin(), kUnused, Vec3(1, 1, 1));
  for (Triangle& t : body.mesh.triangles) {
    for (int32_t& v : t) v += kUnused;
  }
  SceneSpec close = WithTowel(body);
  close.bodies.push_back(testing::StaticBox("pin", Vec3(0.001, 0.001, 0.002)));
  close.bodies[1].pose.position = body.mesh.vertices[kUnused] + Vec3(0, 0, 0.0014);
  EXPECT_THAT(std::string(CompileScene(close).status().message()), HasSubstr("\"towel\" at vertex 3 and bodies[1] \"pin\""));
  BodySpec torn = body, thrice = body;
  torn.mesh.vertices.push_back(torn.mesh.vertices[kUnused]);
  torn.mesh.triangles[0][0] = static_cast<int32_t>(torn.mesh.vertices.size()) - 1;
  ExpectOnly(WithTowel(torn), "bodies[0].shell.mesh", "vertices 3 and 124 are at the same place");
  const Triangle t = body.mesh.triangles[50];
  thrice.mesh.vertices.push_back(Vec3(0, 0, 0.01));
  thrice.mesh.triangles.push_back({t[1], t[0], static_cast<int32_t>(thrice.mesh.vertices.size()) - 1});
  ExpectOnly(WithTowel(thrice), "bodies[0].shell.mesh", absl::StrCat("edge (", t[0], ", ", t[1], ") belongs to 3 triangles"));
}

TEST(ShellScene, SaysWhatStartsTooClose) {
  SceneSpec scene = WithTowel(Towel());
  scene.bodies.push_back(testing::StaticSheet("floor", 0.5));
  scene.bodies[0].pose.position.z() = 0.4e-3;  // half the thickness is 0.5 mm
  const auto model = CompileScene(scene);
  ASSERT_FALSE(model.ok());
  EXPECT_THAT(std::string(model.status().message()),
              AllOf(HasSubstr("bodies[0] \"towel\""), HasSubstr("\"floor\""), HasSubstr("needs more than 0.0005")));
  scene.bodies[0].pose.position.z() = 0.6e-3;
  EXPECT_TRUE(CompileScene(scene).ok());
  // A start that touches, or is folded onto itself.
  scene.bodies[0].pose.position.z() = 0;
  EXPECT_THAT(std::string(CompileScene(scene).status().message()), HasSubstr("initial intersection"));
}

TEST(ShellScene, TakesFabrics) {
  BodySpec body = Towel();
  body.material = {};
  body.shell = {};
  body.shell.fabric = "cotton";
  const auto model = testing::Compile(WithTowel(body));
  EXPECT_NEAR(model->bodies[0].mass.mass / (4 * kHalf * kHalf), 472.641509 * 0.318e-3, 1e-9);
  const Membrane& m = model->shells[0].membrane;
  EXPECT_NEAR(4 * m.mu * (m.lambda + m.mu) / (m.lambda + 2 * m.mu), 0.1 * 0.821e6 * 0.318e-3, 1e-9);
  EXPECT_NEAR(model->shells[0].bending_stiffness, 0.821e6 * std::pow(0.318e-3, 3) / (12 * (1 - 0.243 * 0.243)), 1e-15);
  EXPECT_EQ(m.strain_limit, 1.0608);
}

TEST(ShellReading, SeesKeypointsOpeningsLayersAndFolds) {
  BodySpec body = Towel();
  body.shell.rest_mesh = body.mesh;
  for (Vec3& p : body.mesh.vertices) {
    if (p.x() > 1e-9) p = Vec3(-p.x() + 0.004, p.y(), 3e-3);
  }
  const int32_t corner = kCells;
  body.shell.keypoints = {{"corner", {corner}, {}}, {"middle", {0, kCells, kCells * (kCells + 1)}, {0.5, 0.25, 0.25}}};
  body.shell.openings = {{"border", {0, kCells, (kCells + 1) * (kCells + 1) - 1, kCells * (kCells + 1)}}};
  body.shell.fold_pairs = {{corner, 0}};
  const auto model = testing::Compile(WithTowel(body));
  const State state = InitialState(*model);
  const auto reading = ReadShell(*model, state, 0);
  ASSERT_TRUE(reading.has_value());
  EXPECT_LT((reading->keypoints[0].position - body.mesh.vertices[corner]).norm(), 1e-15);
  EXPECT_LT((reading->keypoints[1].position -
             (0.5 * body.mesh.vertices[0] + 0.25 * body.mesh.vertices[corner] + 0.25 * body.mesh.vertices[kCells * (kCells + 1)]))
                .norm(),
            1e-15);
  EXPECT_NEAR(*reading->fold_error_m, (body.mesh.vertices[corner] - body.mesh.vertices[0]).norm(), 1e-15);
  EXPECT_NEAR(reading->rest_area_m2, 4 * kHalf * kHalf, 1e-12);
  EXPECT_NEAR(reading->coverage.area_m2, 2 * kHalf * kHalf, 0.15 * 2 * kHalf * kHalf);
  EXPECT_GE(reading->coverage.most_layers, 2);
  EXPECT_NEAR(reading->stretches[0][0], 1, 1e-9);
}

// Half-folded sheets have a pose and a twist, and a sheet pulled to a line turns without an axis of its own.
TEST(ShellScene, MotionOfFlatAndOfStraightSheetsIsFinite) {
  BodySpec body = Towel();
  body.angular_velocity = Vec3(0, 0, 2);
  body.linear_velocity = Vec3(1, 0, 0);
  const auto model = testing::Compile(WithTowel(body));
  State state = InitialState(*model);
  EXPECT_LT((BodyTwist(*model, state, 0).angular - Vec3(0, 0, 2)).norm(), 1e-9);
  for (int32_t i = 0; i < model->node_count; ++i) state.q.segment<2>(3 * i + 1).setZero();  // all on the x axis
  state.v.setZero();
  for (int32_t i = 0; i < model->node_count; ++i) state.v[3 * i + 1] = 2 * state.q[3 * i];
  const Twist twist = BodyTwist(*model, state, 0);
  EXPECT_TRUE(twist.angular.allFinite());
  EXPECT_LT((twist.angular - Vec3(0, 0, 2)).norm(), 1e-9);
  EXPECT_TRUE(BodyPose(*model, state, 0).rotation.coeffs().allFinite());
}

// Which vertices are neighbours along the sheet is a list as long as the square of its vertices where an edge, or the reach of
// contact, is as long as the sheet.
TEST(ShellScene, TooManyNeighboursAlongASheetAreRefused) {
  BodySpec body = Towel();
  constexpr int kFine = 64;
  body.mesh = testing::Sheet(kHalf, 0, kFine);
  SceneSpec wide = WithTowel(body);
  wide.contact.dhat_m = 1;
  ExpectOnly(wide, "bodies", "a shell has too many pairs of vertices");
  for (Vec3& p : body.mesh.vertices) {
    if (p.x() <= -kHalf && p.y() <= -kHalf) p = Vec3(-1, -1, 0);
  }
  ExpectOnly(WithTowel(body), "bodies", "a shell has too many pairs of vertices");
}

}  // namespace
}  // namespace eipc
