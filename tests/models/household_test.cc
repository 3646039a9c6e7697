// The generated household objects are solids fit for contact, and what their names say.
#include "models/household.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "sim/audit/audit.h"
#include "sim/mesh/read_mesh.h"
#include "sim/mesh/surface_mesh.h"

namespace eipc {
namespace {

SurfaceMesh Read(const std::string& name) {
  const char* source = std::getenv("EIPC_SOURCE_DIR");
  auto mesh = ReadMesh(std::string(source == nullptr ? "." : source) + "/models/generated/" + name + ".obj");
  EXPECT_TRUE(mesh.ok()) << mesh.status();
  if (!mesh.ok()) return {};
  auto surface = SurfaceMesh::Create(std::move(mesh->vertices), std::move(mesh->triangles));
  EXPECT_TRUE(surface.ok()) << surface.status();
  return surface.ok() ? *std::move(surface) : SurfaceMesh();
}

TEST(Household, MeshesAreClosedSolidsOfTwoThousandTriangles) {
  for (const HouseholdObject& object : HouseholdObjects()) {
    SCOPED_TRACE(object.name);
    const SurfaceMesh mesh = Read(object.name);
    EXPECT_NEAR(static_cast<double>(mesh.triangles().size()), 2000, 100);
    EXPECT_TRUE(mesh.IsClosed());
    EXPECT_GT(mesh.SignedVolume(), 0);
    Vec3 low = mesh.vertices().front(), high = low;
    for (const Vec3& p : mesh.vertices()) low = low.cwiseMin(p), high = high.cwiseMax(p);
    EXPECT_GT((high - low).maxCoeff(), 0.05);
    EXPECT_LT((high - low).maxCoeff(), 0.125);
    const std::vector<int32_t> body(mesh.triangles().size(), 0);
    const std::vector<uint8_t> enabled = {1};
    EXPECT_EQ(AuditSurfaces({&mesh.vertices(), &mesh.triangles(), &body, 1, &enabled}, false).intersection_count, 0);
  }
}

// V - E + F = 2 - 2 per handle of a surface in one piece: no wall has a hole, and only the mug has a handle.
TEST(Household, OnlyTheMugHasAHandle) {
  for (const HouseholdObject& object : HouseholdObjects()) {
    SCOPED_TRACE(object.name);
    const SurfaceMesh mesh = Read(object.name);
    const int64_t euler =
        static_cast<int64_t>(mesh.vertices().size() + mesh.triangles().size()) - static_cast<int64_t>(mesh.edges().size());
    EXPECT_EQ(euler, std::string(object.name) == "mug" ? 0 : 2);
  }
}

TEST(Household, VesselsAreHollow) {
  const auto inside = [](const char* name, const Vec3& p) {
    for (const HouseholdObject& object : HouseholdObjects()) {
      if (std::string(object.name) == name) return object.value(p) < 0;
    }
    ADD_FAILURE() << name;
    return false;
  };
  EXPECT_FALSE(inside("mug", Vec3(0, 0, 0.05)));
  EXPECT_TRUE(inside("mug", Vec3(0.03, 0, 0.05)));
  EXPECT_FALSE(inside("mug", Vec3(0.04, 0, 0.04)));  // within the handle
  EXPECT_FALSE(inside("bowl", Vec3(0, 0, -0.02)));
  EXPECT_TRUE(inside("bowl", Vec3(0.052, 0, -0.005)));
}

}  // namespace
}  // namespace eipc
