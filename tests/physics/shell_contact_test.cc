// Contact of sheets: their thickness, layers, both sides, and that nothing passes through. ./dev validate shells has the long runs.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "sim/contact/barrier_function.h"
#include "sim/dynamics/state_audit.h"
#include "sim/sensor/contact_wrenches.h"
#include "tests/support/scenes.h"

namespace eipc {
namespace {

constexpr double kGravity = 9.81;
constexpr double kThickness = 1e-3;

BodySpec Cloth(const std::string& name, double half, int cells) {
  BodySpec body;
  body.name = name;
  body.kind = BodyKind::kShell;
  body.mesh = testing::Sheet(half, 0, cells);
  body.material.poissons_ratio = 0.3;
  body.material.rayleigh_beta_s = 1e-3;
  body.shell.thickness_m = kThickness;
  body.shell.mass_per_area_kg_m2 = 0.2;
  body.shell.membrane_youngs_n_m = 300;
  body.shell.bending_stiffness_nm = 3e-6;
  return body;
}

SceneSpec Scene() {
  SceneSpec scene = testing::EmptyScene();
  scene.gravity = Vec3(0, 0, -kGravity);
  scene.solver.newton_tolerance_m_s = 1e-4;
  return scene;
}

struct Watched {
  int not_converged = 0;
  int64_t intersections = 0;
  double least_relative_distance = 1e9;
};

// Every step audited exactly.
Watched Watch(World* world, int steps, double dt) {
  Watched out;
  std::vector<Vec3> x;
  for (int i = 0; i < steps; ++i) {
    const absl::Status status = world->Step({dt, {}}, {});
    EXPECT_TRUE(status.ok()) << status;
    if (!status.ok()) break;
    out.not_converged += world->report().outcome != StepOutcome::kConverged;
    world->SurfacePositions(&x);
    const StateAudit audit = AuditState(world->model(), world->state(), x);
    out.intersections += audit.intersections;
    out.least_relative_distance = std::min(out.least_relative_distance, audit.least_relative_distance);
  }
  return out;
}

void ExpectNeverThrough(const Watched& seen, int steps) {
  std::printf("%d of %d steps not converged, least distance %.4f of the separation\n", seen.not_converged, steps,
              seen.least_relative_distance);
  EXPECT_EQ(seen.intersections, 0);
  EXPECT_GE(seen.least_relative_distance, 1);
  EXPECT_LE(seen.not_converged, steps / 100);
}

// The gap at which k |b'(gap)| is p.
double GapOf(double p, double k, double dhat) {
  double low = 1e-9 * dhat, high = dhat;
  for (int i = 0; i < 200; ++i) {
    const double middle = 0.5 * (low + high);
    (-k * BarrierFirst(middle, dhat) > p ? low : high) = middle;
  }
  return low;
}

// Sheets on each other on a floor: gap i from the top carries the weight of i sheets; the distance is that and the thickness.
TEST(ShellContact, StackedSheetsRestAtTheirThicknessAndTheGapOfTheirWeight) {
  constexpr int kSheets = 3;
  constexpr double kDhat = 1e-3, kStiffness = 2e4, kWeight = 0.2 * kGravity;  // m, N/m^3, Pa
  SceneSpec scene = Scene();
  scene.contact.dhat_m = kDhat;
  scene.contact.stiffness = kStiffness;
  scene.friction.dynamic_coefficient = 0.5;  // or they slide off each other
  double height = 0;
  for (int i = 0; i < kSheets; ++i) {
    BodySpec sheet = Cloth("sheet" + std::to_string(i), 0.03, 6);
    // Not aligned, or vertices would meet vertices.
    for (Vec3& p : sheet.mesh.vertices) p += Vec3(1.3e-3 * i, 0.7e-3 * i, 0);
    // Where it is to rest, or the barrier would throw it.
    height += (i == 0 ? 0.5 : 1) * kThickness + 1.02 * GapOf(kWeight * (kSheets - i), kStiffness, kDhat);
    sheet.pose.position.z() = height;
    scene.bodies.push_back(sheet);
  }
  scene.bodies.push_back(testing::StaticSheet("floor", 0.2));
  World world(testing::Compile(scene));
  ExpectNeverThrough(Watch(&world, 25, 0.05), 25);
  const auto height_of = [&](int i) {
    const Body& body = world.model().bodies[i];
    // In the middle, where no border is near.
    return world.state().q[3 * (body.nodes.begin + body.nodes.size() / 2) + 2];
  };
  for (int i = 0; i < kSheets; ++i) {
    const double below = i == 0 ? 0 : height_of(i - 1), offset = i == 0 ? 0.5 * kThickness : kThickness;
    const double expected = GapOf(kWeight * (kSheets - i), kStiffness, kDhat), gap = height_of(i) - below - offset;
    std::printf("gap %d: %.4f of dhat (%.4f)\n", i, gap / kDhat, expected / kDhat);
    EXPECT_NEAR(gap / expected, 1, 0.05) << i;
  }
}

// A cloth that falls onto a ball turns over it and touches itself; from above and from below alike.
TEST(ShellContact, DrapesOverABallWithoutPassingThrough) {
  for (const double dt : {0.02, 0.005}) {
    SceneSpec scene = Scene();
    scene.contact.dhat_m = 1e-3;
    scene.friction.dynamic_coefficient = 0.3;
    BodySpec cloth = Cloth("cloth", 0.1, 14);
    cloth.pose.position.z() = 0.052;
    scene.bodies = {cloth, testing::StaticBox("post", Vec3(0.03, 0.03, 0.1)), testing::StaticSheet("floor", 0.3)};
    scene.bodies[1].pose.position.z() = 0;
    scene.bodies[2].pose.position.z() = -0.051;
    World world(testing::Compile(scene));
    const int steps = static_cast<int>(0.3 / dt);
    ExpectNeverThrough(Watch(&world, steps, dt), steps);
    const Body& body = world.model().bodies[0];
    EXPECT_LT(world.state().q[3 * body.nodes.begin + 2], 0.03) << "its corners hang";
  }
}

// A point that flies at a sheet is stopped on either side of it, and at its own border.
TEST(ShellContact, BothSidesAndBordersStopWhatFlies) {
  for (const double from : {1.0, -1.0}) {
    SceneSpec scene = Scene();
    scene.gravity.setZero();
    scene.contact.dhat_m = 1e-3;
    BodySpec cloth = Cloth("cloth", 0.05, 8);
    BoundarySetSpec rim;
    rim.name = "rim";
    for (size_t v = 0; v < cloth.mesh.vertices.size(); ++v) {
      if (cloth.mesh.vertices[v].head<2>().cwiseAbs().maxCoeff() > 0.05 - 1e-9) rim.vertices.push_back(static_cast<int32_t>(v));
    }
    cloth.boundary_sets = {rim};
    BodySpec dart = testing::AffineBox("dart", Vec3(0.004, 0.004, 0.02), testing::StiffMaterial(2000, 1e8));
    dart.pose = {Vec3(0.003, 0.002, 0.03 * from), Quat(Eigen::AngleAxisd(0.3, Vec3(1, 2, 0).normalized()))};
    dart.linear_velocity = Vec3(0, 0, -20 * from);  // 0.2 m a step
    scene.bodies = {cloth, dart};
    World world(testing::Compile(scene));
    const Watched seen = Watch(&world, 12, 0.01);
    EXPECT_EQ(seen.intersections, 0);
    EXPECT_GE(seen.least_relative_distance, 1);
    EXPECT_GT(world.state().q[3 * world.model().bodies[1].nodes.begin + 2] * from, -0.1) << "it never was on the other side";
  }
}

// Adding a thickness moves contact outwards and changes nothing else: the same forces at the same gaps.
TEST(ShellContact, ThicknessOnlyShiftsTheGap) {
  double force[2];
  for (int k = 0; k < 2; ++k) {
    SceneSpec scene = Scene();
    scene.contact.dhat_m = 1e-3;
    scene.contact.stiffness = 1e6;
    BodySpec sheet = Cloth("sheet", 0.03, 6);
    sheet.shell.contact_thickness_m = k * kThickness;
    sheet.pose.position.z() = 0.4e-3 + 0.5 * k * kThickness;
    scene.bodies = {sheet, testing::StaticSheet("floor", 0.2)};
    World world(testing::Compile(scene));
    ASSERT_TRUE(world.Step({1e-6, {}}, {}).ok());
    std::vector<Vec3> x;
    world.SurfacePositions(&x);
    Vec3 sum = Vec3::Zero();
    for (const ContactWrench& w : ContactWrenches(world.model(), world.state(), x, world.contact_forces())) {
      if (w.body == 0) sum += w.normal_force;
    }
    force[k] = sum.z();
    // The pressure of the barrier over the sheet's area, and the edges' few per cent.
    const double expected = -1e6 * BarrierFirst(0.4e-3, 1e-3) * 0.06 * 0.06;
    EXPECT_NEAR(force[k] / expected, 1, 0.08) << k;
  }
  EXPECT_NEAR(force[1] / force[0], 1, 1e-4);
}

}  // namespace
}  // namespace eipc
