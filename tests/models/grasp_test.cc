// The generated meshes, placed as models/scenes/bubble_teddy_*.textproto place them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <numbers>

#include "sim/audit/audit.h"
#include "sim/mesh/cage_integrals.h"
#include "sim/mesh/embedding.h"
#include "sim/mesh/mass_properties.h"
#include "sim/mesh/read_mesh.h"

namespace eipc {
namespace {

MeshData Read(const std::string& name) {
  const char* source = std::getenv("EIPC_SOURCE_DIR");
  auto mesh = ReadMesh(std::string(source == nullptr ? "." : source) + "/models/generated/" + name);
  EXPECT_TRUE(mesh.ok()) << mesh.status();
  return mesh.ok() ? *std::move(mesh) : MeshData();
}

TEST(Grasp, CagesHoldTheSurfaceAndItsMass) {
  const MeshData data = Read("teddy_surface.obj");
  const auto surface = SurfaceMesh::Create(data.vertices, data.triangles);
  ASSERT_TRUE(surface.ok()) << surface.status();
  for (const char* name : {"teddy_low_cage.vtk", "teddy_medium_cage.vtk"}) {
    const MeshData tets = Read(name);
    const auto cage = TetMesh::Create(tets.vertices, tets.tets);
    ASSERT_TRUE(cage.ok()) << cage.status();
    EXPECT_TRUE(Embedding::Create(*cage, surface->vertices()).ok());
    const auto integrals = IntegrateSolidOverCage(*cage, *surface);
    ASSERT_TRUE(integrals.ok()) << integrals.status();
    double mass = 0;
    for (const auto& product : integrals->shape_product) {
      for (const double m : product) mass += m;
    }
    const MassProperties exact = SolidMassProperties(surface->vertices(), surface->triangles(), 1.0);
    EXPECT_NEAR(mass / exact.mass, 1, 1e-10);
  }
}

TEST(Grasp, DrivenVerticesAreTheFlatBack) {
  const MeshData bubble = Read("bubble.vtk");
  int driven = 0;
  for (const Vec3& p : bubble.vertices) {
    driven += std::abs(p.z()) <= 0.0005;
    EXPECT_LT(p.z(), 1e-6);
  }
  EXPECT_GE(driven, 12);
  EXPECT_LE(driven, 22);
}

TEST(Grasp, NothingTouchesAtTheStart) {
  const double half_turn = std::numbers::pi;
  std::vector<Vec3> vertices;
  std::vector<Triangle> triangles;
  std::vector<int32_t> body;
  int32_t bodies = 0;
  const auto add = [&](const MeshData& mesh, const Pose& pose, double grow) {
    const int32_t shift = static_cast<int32_t>(vertices.size());
    std::vector<Triangle> boundary = mesh.triangles;
    if (!mesh.tets.empty()) boundary = TetMesh::Create(mesh.vertices, mesh.tets)->BoundaryTriangles();
    Vec3 middle = Vec3::Zero();
    for (const Vec3& p : mesh.vertices) middle += p / static_cast<double>(mesh.vertices.size());
    for (const Vec3& p : mesh.vertices) vertices.push_back(pose.Apply(middle + grow * (p - middle)));
    for (const Triangle& t : boundary) {
      triangles.push_back({t[0] + shift, t[1] + shift, t[2] + shift});
      body.push_back(bodies);
    }
    ++bodies;
  };
  const auto turned = [&](double roll) {
    return Quat(Eigen::AngleAxisd(half_turn, Vec3::UnitY())) * Quat(Eigen::AngleAxisd(roll, Vec3::UnitX()));
  };
  // Grown by 5 %, i.e. several millimetres each: still nothing touches.
  add(Read("teddy_full.vtk"), {}, 1.05);
  add(Read("bubble.vtk"), {Vec3(0.005, -0.093, 0.06), turned(half_turn / 2)}, 1.05);
  add(Read("bubble.vtk"), {Vec3(0.005, 0.093, 0.06), turned(-half_turn / 2)}, 1.05);
  add(Read("ground.obj"), {Vec3(0, 0, -0.005), Quat::Identity()}, 1.0);
  const std::vector<uint8_t> enabled(static_cast<size_t>(bodies) * bodies, 1);
  const AuditReport report = AuditSurfaces({&vertices, &triangles, &body, bodies, &enabled}, true);
  EXPECT_TRUE(report.clean());
}

}  // namespace
}  // namespace eipc
