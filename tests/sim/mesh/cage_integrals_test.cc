#include "sim/mesh/cage_integrals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "sim/mesh/embedding.h"
#include "sim/mesh/mass_properties.h"
#include "tests/sim/mesh/shapes.h"
#include "tests/support/interrupted.h"

namespace eipc {
namespace {

using ::testing::HasSubstr;

TetMesh Tets(const MeshData& data) {
  auto mesh = TetMesh::Create(data.vertices, data.tets);
  EXPECT_TRUE(mesh.ok()) << mesh.status();
  return std::move(mesh).value();
}

SurfaceMesh Surface(const MeshData& data) {
  auto mesh = SurfaceMesh::Create(data.vertices, data.triangles);
  EXPECT_TRUE(mesh.ok()) << mesh.status();
  return std::move(mesh).value();
}

// The mass matrix knows volume, first and second moments: sum M, sum M x, sum M x x^T. All must be those of the solid.
void ExpectSolidMoments(const TetMesh& cage, const SurfaceMesh& surface, double tolerance) {
  const auto integrals = IntegrateSolidOverCage(cage, surface);
  ASSERT_TRUE(integrals.ok()) << integrals.status();
  double volume = 0, mass = 0;
  Vec3 first = Vec3::Zero();
  Mat3 second = Mat3::Zero();
  const Vec3 origin = surface.vertices()[0];
  for (size_t t = 0; t < cage.tets().size(); ++t) {
    EXPECT_GE(integrals->elastic_volume[t], 0);
    EXPECT_LE(integrals->elastic_volume[t], cage.Volume(t) * (1 + 1e-12));
    volume += integrals->elastic_volume[t];
    for (int a = 0; a < 4; ++a) {
      for (int b = 0; b < 4; ++b) {
        const double m = integrals->shape_product[t][4 * a + b];
        EXPECT_EQ(m, integrals->shape_product[t][4 * b + a]);
        const Vec3 xa = cage.vertices()[cage.tets()[t][a]] - origin, xb = cage.vertices()[cage.tets()[t][b]] - origin;
        mass += m;
        first += m * xa;
        second += m * xa * xb.transpose();
      }
    }
  }
  const MassProperties exact = SolidMassProperties(surface.vertices(), surface.triangles(), 1.0);
  EXPECT_NEAR(volume / exact.mass, 1, tolerance);
  EXPECT_NEAR(mass / exact.mass, 1, tolerance);
  const Vec3 center = first / mass;
  EXPECT_LT((origin + center - exact.center_of_mass).norm(), tolerance * std::sqrt(exact.inertia.trace() / exact.mass));
  const Mat3 about = second - mass * center * center.transpose();
  EXPECT_LT((about.trace() * Mat3::Identity() - about - exact.inertia).norm(), tolerance * exact.inertia.norm());
}

TEST(CageIntegrals, BoxInsideOneTet) {
  const MeshData tet = {{{-1, -1, -1}, {9, 0, 0}, {0, 9, 0}, {0, 0, 9}}, {{0, 1, 2, 3}}, {}};
  const auto integrals = IntegrateSolidOverCage(Tets(tet), Surface(testing::BoxSurface(Vec3(0.5, 0.5, 0.5), Vec3(1, 2, 1.5))));
  ASSERT_TRUE(integrals.ok()) << integrals.status();
  EXPECT_NEAR(integrals->elastic_volume[0], 0.75, 1e-14);
  ExpectSolidMoments(Tets(tet), Surface(testing::BoxSurface(Vec3(0.5, 0.5, 0.5), Vec3(1, 2, 1.5))), 1e-12);
}

TEST(CageIntegrals, BoxAlignedWithTheCellsOfItsCage) {
  const MeshData cage = testing::BoxTets(Vec3(0, 0, 0), Vec3(4, 4, 4), 4);
  const SurfaceMesh box = Surface(testing::BoxSurface(Vec3(1, 1, 1), Vec3(3, 2, 4)));
  const auto integrals = IntegrateSolidOverCage(Tets(cage), box);
  ASSERT_TRUE(integrals.ok()) << integrals.status();
  for (size_t t = 0; t < cage.tets.size(); ++t) {  // every tet is wholly in or wholly out
    const double share = integrals->elastic_volume[t] * 6;
    EXPECT_LT(std::min(share, std::abs(share - 1)), 1e-13);
  }
  ExpectSolidMoments(Tets(cage), box, 1e-12);
}

TEST(CageIntegrals, CageThatIsTheSolidEqualsTheClosedForms) {
  const MeshData data = testing::BoxTets(Vec3(0, 0, 0), Vec3(1, 2, 3), 2);
  const TetMesh cage = Tets(data);
  const SurfaceMesh boundary = Surface({data.vertices, {}, cage.BoundaryTriangles()});
  const auto clipped = IntegrateSolidOverCage(cage, boundary);
  ASSERT_TRUE(clipped.ok()) << clipped.status();
  const CageIntegrals full = IntegrateFullTets(cage);
  for (size_t t = 0; t < cage.tets().size(); ++t) {
    EXPECT_NEAR(clipped->elastic_volume[t], full.elastic_volume[t], 1e-14);
    for (int k = 0; k < 16; ++k) EXPECT_NEAR(clipped->shape_product[t][k], full.shape_product[t][k], 1e-14);
  }
}

TEST(CageIntegrals, SphereInATurnedCage) {
  MeshData cage = testing::BoxTets(Vec3(-1, -1, -1), Vec3(1, 1, 1), 3);
  const Quat turn = Quat(0.3, -0.5, 0.7, 0.2).normalized();
  for (Vec3& p : cage.vertices) p = turn * p;
  ExpectSolidMoments(Tets(cage), Surface(testing::Sphere(Vec3(0.05, -0.02, 0.01), 0.9, 4)), 1e-11);
}

TEST(CageIntegrals, RandomCages) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> jitter(-0.08, 0.08);
  for (int trial = 0; trial < 20; ++trial) {
    MeshData cage = testing::BoxTets(Vec3(-1, -1, -1), Vec3(1, 1, 1), 3);
    for (Vec3& p : cage.vertices) p += Vec3(jitter(random), jitter(random), jitter(random));
    MeshData solid = testing::Sphere(Vec3::Zero(), 0.8, 2);
    for (Vec3& p : solid.vertices) p *= 1 + jitter(random);
    ExpectSolidMoments(Tets(cage), Surface(solid), 1e-11);
  }
}

TEST(CageIntegrals, HollowSolidLeavesItsCavityOut) {
  MeshData shell = testing::Sphere(Vec3::Zero(), 0.8, 2);
  const MeshData cavity = testing::Sphere(Vec3::Zero(), 0.5, 2);
  const int32_t shift = static_cast<int32_t>(shell.vertices.size());
  shell.vertices.insert(shell.vertices.end(), cavity.vertices.begin(), cavity.vertices.end());
  for (const Triangle& t : cavity.triangles) shell.triangles.push_back({t[0] + shift, t[2] + shift, t[1] + shift});
  ExpectSolidMoments(Tets(testing::BoxTets(Vec3(-1, -1, -1), Vec3(1, 1, 1), 2)), Surface(shell), 1e-12);
}

TEST(CageIntegrals, RefusesWhatIsNotASolidInsideTheCage) {
  const TetMesh cage = Tets(testing::BoxTets(Vec3(-1, -1, -1), Vec3(1, 1, 1), 2));
  MeshData box = testing::BoxSurface(Vec3(-0.5, -0.5, -0.5), Vec3(0.5, 0.5, 1.5));
  EXPECT_THAT(std::string(IntegrateSolidOverCage(cage, Surface(box)).status().message()), HasSubstr("does not enclose"));
  for (Triangle& t : box.triangles) std::swap(t[0], t[1]);
  EXPECT_THAT(std::string(IntegrateSolidOverCage(cage, Surface(box)).status().message()), HasSubstr("counter-clockwise"));
  box.triangles.pop_back();
  EXPECT_THAT(std::string(IntegrateSolidOverCage(cage, Surface(box)).status().message()), HasSubstr("not closed"));
}

// Amid the tets of a fine cage, and amid the triangles of a fine surface.
TEST(CageIntegrals, EndWhenInterrupted) {
  const SurfaceMesh sphere = Surface(testing::Sphere(Vec3::Zero(), 0.9, 4));
  for (const int cells : {1, 4}) {
    const TetMesh cage = Tets(testing::BoxTets(Vec3::Constant(-1), Vec3::Constant(1), cells));
    testing::ExpectEndsWhenInterrupted(6 * 5 * cells * cells * cells, [&](Interrupt* interrupt) {
      return IntegrateSolidOverCage(cage, sphere, interrupt).status();
    });
  }
}

}  // namespace
}  // namespace eipc
